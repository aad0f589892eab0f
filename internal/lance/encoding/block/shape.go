package block

import "fmt"

// empty makes a block of the same shape without values.
func (v *Values) empty(limit int64) *Values {
	e := &Values{Kind: v.Kind, Limit: limit, Bits: v.Bits, Dim: v.Dim}
	if v.Kind == Variable {
		e.Offsets = make([]int64, 1)
	}
	if v.Items != nil {
		e.Items = v.Items.empty(limit)
		if v.Valid != nil {
			e.Valid = []byte{}
		}
	}
	if v.Fields != nil {
		e.Fields = make([]*Values, len(v.Fields))
		for i, f := range v.Fields {
			e.Fields[i] = f.empty(limit)
		}
	}
	return e
}

// take makes v ready for values of a shape: a block without values, or of nulls of no known
// shape, becomes one of it. Nulls go into any block.
func (v *Values) take(shape *Values) error {
	if v.Kind != shape.Kind || v.Bits != shape.Bits || v.Dim != shape.Dim || len(v.Fields) != len(shape.Fields) {
		switch {
		case shape.null() && v.Kind != 0:
			return nil
		case v.N == 0 || v.null():
			n := v.N
			*v = *shape.empty(v.Limit)
			return v.AppendNulls(n)
		}
		return corrupt("values of %s behind values of %s", shape.shape(), v.shape())
	}
	if v.Items != nil {
		if err := v.Items.take(shape.Items); err != nil {
			return err
		}
	}
	for i, f := range v.Fields {
		if err := f.take(shape.Fields[i]); err != nil {
			return err
		}
	}
	return nil
}

// bools tells whether v is a bitmap, and shape has the byte for each boolean that full-zip pages have.
func (v *Values) bools(shape *Values) bool {
	return v.Kind == Fixed && shape.Kind == Fixed && v.Bits == 1 && shape.Bits == 8
}

// shape renders what the values are.
func (v *Values) shape() string {
	switch v.Kind {
	case Fixed:
		if v.Bits == 0 {
			return "no known width"
		}
		return fmt.Sprintf("%d bits", v.Bits)
	case Variable:
		return "varying length"
	case List:
		return fmt.Sprintf("%d items of %s", v.Dim, v.Items.shape())
	case Struct:
		return fmt.Sprintf("%d fields", len(v.Fields))
	}
	return "no kind"
}
