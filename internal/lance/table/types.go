package table

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// descriptorV1 is what a blob column of the first kind reads as: where in the data file
// its bytes are.
var descriptorV1 = arrow.StructOf(
	arrow.Field{Name: "position", Type: arrow.PrimitiveTypes.Uint64, Nullable: true},
	arrow.Field{Name: "size", Type: arrow.PrimitiveTypes.Uint64, Nullable: true},
)

// descriptorV2 is what a blob column of the second kind reads as.
var descriptorV2 = arrow.StructOf(
	arrow.Field{Name: "kind", Type: arrow.PrimitiveTypes.Uint8},
	arrow.Field{Name: "position", Type: arrow.PrimitiveTypes.Uint64},
	arrow.Field{Name: "size", Type: arrow.PrimitiveTypes.Uint64},
	arrow.Field{Name: "blob_id", Type: arrow.PrimitiveTypes.Uint32},
	arrow.Field{Name: "blob_uri", Type: arrow.BinaryTypes.String},
)

// bfloat16 is an extension of Lance: two bytes of which Arrow has no type.
const bfloat16Extension = "lance.bfloat16"

// maxDimension bounds the length of a fixed-size list or binary.
const maxDimension = 1 << 26

// simpleTypes are the logical types without parameters or children.
var simpleTypes = map[string]arrow.DataType{
	"null": arrow.Null, "bool": arrow.FixedWidthTypes.Boolean,
	"int8": arrow.PrimitiveTypes.Int8, "uint8": arrow.PrimitiveTypes.Uint8,
	"int16": arrow.PrimitiveTypes.Int16, "uint16": arrow.PrimitiveTypes.Uint16,
	"int32": arrow.PrimitiveTypes.Int32, "uint32": arrow.PrimitiveTypes.Uint32,
	"int64": arrow.PrimitiveTypes.Int64, "uint64": arrow.PrimitiveTypes.Uint64,
	"halffloat": arrow.FixedWidthTypes.Float16, "float": arrow.PrimitiveTypes.Float32, "double": arrow.PrimitiveTypes.Float64,
	"string": arrow.BinaryTypes.String, "binary": arrow.BinaryTypes.Binary,
	"large_string": arrow.BinaryTypes.LargeString, "large_binary": arrow.BinaryTypes.LargeBinary,
	// JSON is stored in a binary form of it.
	"json":       arrow.BinaryTypes.LargeBinary,
	"date32:day": arrow.FixedWidthTypes.Date32, "date64:ms": arrow.FixedWidthTypes.Date64,
	"time32:s": arrow.FixedWidthTypes.Time32s, "time32:ms": arrow.FixedWidthTypes.Time32ms,
	"time64:us": arrow.FixedWidthTypes.Time64us, "time64:ns": arrow.FixedWidthTypes.Time64ns,
	"duration:s": arrow.FixedWidthTypes.Duration_s, "duration:ms": arrow.FixedWidthTypes.Duration_ms,
	"duration:us": arrow.FixedWidthTypes.Duration_us, "duration:ns": arrow.FixedWidthTypes.Duration_ns,
}

// arrowType is the type of a field whose children are known.
func (f *Field) arrowType() (arrow.DataType, error) {
	child := func() (arrow.Field, error) {
		if len(f.Children) != 1 {
			return arrow.Field{}, fmt.Errorf("%w: a %s with %d children", ErrCorrupt, f.Logical, len(f.Children))
		}
		return f.Children[0].Arrow(), nil
	}
	switch f.Logical {
	case "struct":
		fields := make([]arrow.Field, len(f.Children))
		for i, c := range f.Children {
			fields[i] = c.Arrow()
		}
		return arrow.StructOf(fields...), nil
	case "list", "list.struct":
		c, err := child()
		if err != nil {
			return nil, err
		}
		return arrow.ListOfField(c), nil
	case "large_list", "large_list.struct":
		c, err := child()
		if err != nil {
			return nil, err
		}
		return arrow.LargeListOfField(c), nil
	case "map":
		c, err := child()
		if err != nil {
			return nil, err
		}
		entries, ok := c.Type.(*arrow.StructType)
		if !ok || entries.NumFields() != 2 {
			return nil, fmt.Errorf("%w: entries of a map are a %s", ErrCorrupt, c.Type)
		}
		// Arrow knows no map with null keys; where a schema allows them there are none.
		key := entries.Field(0)
		key.Nullable = false
		return arrow.MapOfFields(key, entries.Field(1)), nil
	}
	if dim, ok := strings.CutPrefix(f.Logical, "fixed_size_list:struct:"); ok {
		c, err := child()
		if err != nil {
			return nil, err
		}
		return fixedSizeList(dim, c)
	}
	if len(f.Children) > 0 {
		return nil, fmt.Errorf("%w: a %s with %d children", ErrCorrupt, f.Logical, len(f.Children))
	}
	return logicalType(f.Logical, 0)
}

// logicalType reads the name of a type without children of its own.
func logicalType(name string, depth int) (arrow.DataType, error) {
	if t := simpleTypes[name]; t != nil {
		return t, nil
	}
	if depth > maxSchemaDepth {
		return nil, fmt.Errorf("%w: type %.40s…", ErrCorrupt, name)
	}
	kind, rest, _ := strings.Cut(name, ":")
	parts := strings.Split(rest, ":")
	switch {
	case kind == "fixed_size_list" && len(parts) >= 2:
		inner := strings.Join(parts[:len(parts)-1], ":")
		item := arrow.Field{Name: "item", Nullable: true}
		var err error
		if inner == bfloat16Extension {
			item.Type = &arrow.FixedSizeBinaryType{ByteWidth: 2}
			item.Metadata = arrow.NewMetadata([]string{metaExtensionName, "ARROW:extension:metadata"}, []string{bfloat16Extension, ""})
		} else if item.Type, err = logicalType(inner, depth+1); err != nil {
			return nil, err
		}
		return fixedSizeList(parts[len(parts)-1], item)
	case kind == "fixed_size_binary" && len(parts) == 1:
		n, err := dimension(parts[0])
		return &arrow.FixedSizeBinaryType{ByteWidth: int(n)}, err
	case kind == "decimal" && len(parts) == 3:
		return decimalType(name, parts)
	case kind == "timestamp" && len(parts) >= 2: // a zone may be an offset: "+01:00"
		unit, ok := units[parts[0]]
		zone := strings.Join(parts[1:], ":")
		if zone == "-" {
			zone = ""
		}
		if ok {
			return &arrow.TimestampType{Unit: unit, TimeZone: zone}, nil
		}
	case kind == "dict" && len(parts) >= 3:
		value, err := logicalType(strings.Join(parts[:len(parts)-2], ":"), depth+1)
		if err != nil {
			return nil, err
		}
		key := simpleTypes[parts[len(parts)-2]]
		if key != nil && arrow.IsInteger(key.ID()) {
			return &arrow.DictionaryType{IndexType: key, ValueType: value, Ordered: parts[len(parts)-1] == "true"}, nil
		}
	}
	return nil, fmt.Errorf("%w: type %q is not known to this build", ErrRefused, name)
}

var units = map[string]arrow.TimeUnit{"s": arrow.Second, "ms": arrow.Millisecond, "us": arrow.Microsecond, "ns": arrow.Nanosecond}

func decimalType(name string, parts []string) (arrow.DataType, error) {
	precision, err1 := strconv.ParseInt(parts[1], 10, 32)
	scale, err2 := strconv.ParseInt(parts[2], 10, 32)
	if err1 != nil || err2 != nil {
		return nil, fmt.Errorf("%w: type %q", ErrCorrupt, name)
	}
	switch {
	case parts[0] == "128" && precision >= 1 && precision <= 38:
		return &arrow.Decimal128Type{Precision: int32(precision), Scale: int32(scale)}, nil
	case parts[0] == "256" && precision >= 1 && precision <= 76:
		return &arrow.Decimal256Type{Precision: int32(precision), Scale: int32(scale)}, nil
	}
	return nil, fmt.Errorf("%w: type %q is not known to this build", ErrRefused, name)
}

func fixedSizeList(dim string, item arrow.Field) (arrow.DataType, error) {
	n, err := dimension(dim)
	if err != nil {
		return nil, err
	}
	if n == 0 {
		return nil, fmt.Errorf("%w: a fixed-size list without items", ErrRefused)
	}
	return arrow.FixedSizeListOfField(n, item), nil
}

func dimension(s string) (int32, error) {
	n, err := strconv.ParseInt(s, 10, 32)
	if err != nil || n < 0 || n > maxDimension {
		return 0, fmt.Errorf("%w: length %q of a fixed-size type", ErrCorrupt, s)
	}
	return int32(n), nil
}
