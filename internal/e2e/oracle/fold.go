package oracle

import (
	"fmt"
	"math/big"
)

// Fold stands for a sequence of rows: all values of all columns, null apart from
// empty, floats by their bits. Sequences with equal folds are equal.
type Fold struct {
	Rows int `json:"rows"`
	// Order depends on the order of the rows, Set does not.
	Order string `json:"order"`
	Set   string `json:"set"`
}

// The numbers of the Python side, which folds rows one by one.
var (
	foldModulus = new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 127), big.NewInt(1))
	foldBase, _ = new(big.Int).SetString("1F3D5B79A8C6E4021B3F5D7", 16)
)

// empty is the fold of no rows.
var empty = Fold{}.Then(Fold{})

// Then is the fold of f's rows followed by g's.
func (f Fold) Then(g Fold) Fold {
	n := big.NewInt(int64(g.Rows))
	order := new(big.Int).Exp(foldBase, n, foldModulus)
	order.Mul(order, number(f.Order))
	order.Add(order, number(g.Order))
	set := new(big.Int).Add(number(f.Set), number(g.Set))
	return Fold{
		Rows:  f.Rows + g.Rows,
		Order: fmt.Sprintf("%032x", order.Mod(order, foldModulus)),
		Set:   fmt.Sprintf("%032x", set.Mod(set, foldModulus)),
	}
}

// String shows enough of a fold to tell it from another.
func (f Fold) String() string {
	return fmt.Sprintf("%d rows (order %.8s, set %.8s)", f.Rows, f.Order, f.Set)
}

// number of a hexadecimal text; the empty text of a zero Fold is 0.
func number(s string) *big.Int {
	n, ok := new(big.Int).SetString(s, 16)
	if !ok {
		return new(big.Int)
	}
	return n
}
