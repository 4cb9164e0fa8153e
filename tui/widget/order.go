package widget

import (
	"cmp"
	"slices"
	"strings"

	"gcity/city"
)

// Order is a sort order: the index of a SortKey, and whether it is reversed. The zero value is the default.
type Order struct {
	Key      int
	Reversed bool
}

// SortKey is one of the available sort orders.
type SortKey[R any] struct {
	Name string
	Cmp  func(a, b R) int // nil = only by name
	Desc bool             // the greatest value comes first
}

// GreatestFirst returns the comparison function that puts the row with the greatest value first.
func GreatestFirst[R any, V cmp.Ordered](value func(r R) V) func(a, b R) int {
	return func(a, b R) int { return cmp.Compare(value(b), value(a)) }
}

// Comparison returns the comparison function of an order. Rows that compare equal are ordered by name.
func Comparison[R Keyed](ways []SortKey[R], o Order) func(a, b R) int {
	by := ways[o.Key%len(ways)].Cmp
	return func(a, b R) int {
		n := 0
		if by != nil {
			n = by(a, b)
		}
		if n == 0 {
			n = city.CompareNames(a.Key(), b.Key())
		}
		if o.Reversed {
			return -n
		}
		return n
	}
}

// SortRows sorts rows. If keepOrder is set, rows that existed before keep their order, and new rows are inserted where
// they rank.
func SortRows[R Keyed](rows, before []R, rank func(a, b R) int, keepOrder bool) []R {
	if !keepOrder {
		slices.SortStableFunc(rows, rank)
		return rows
	}
	index := make(map[string]int, len(before))
	for i, r := range before {
		index[r.Key()] = i
	}
	known := make([]R, 0, len(rows))
	var fresh []R
	for _, r := range rows {
		if _, ok := index[r.Key()]; ok {
			known = append(known, r)
		} else {
			fresh = append(fresh, r)
		}
	}
	slices.SortFunc(known, func(a, b R) int { return index[a.Key()] - index[b.Key()] })
	return merge(known, fresh, rank)
}

// merge inserts each fresh row before the first known row that ranks after it. The known rows might be unsorted.
func merge[R any](known, fresh []R, rank func(a, b R) int) []R {
	if len(fresh) == 0 {
		return known
	}
	slices.SortStableFunc(fresh, rank)
	all := make([]R, 0, len(known)+len(fresh))
	// the index of the next known row to place, and of the known row that ranks last so far
	next, last := 0, 0
	for _, r := range fresh {
		for ; next < len(known); next++ {
			if rank(known[last], known[next]) < 0 {
				last = next
			}
			if rank(r, known[last]) < 0 {
				break
			}
			all = append(all, known[next])
		}
		all = append(all, r)
	}
	return append(all, known[next:]...)
}

func SortKeyNames[R any](ways []SortKey[R]) []string {
	names := make([]string, len(ways))
	for i := range ways {
		names[i] = ways[i].Name
	}
	return names
}

// OrderText returns the name of an order: "cpu", "cpu reversed".
func OrderText(o Order, ways []string) string {
	text := ways[o.Key%len(ways)]
	if o.Reversed {
		text += " reversed"
	}
	return text
}

// CompareText compares strings, ignoring case. Empty strings come last.
func CompareText(a, b string) int {
	if (a == "") != (b == "") {
		return cmp.Compare(b, a)
	}
	return cmp.Compare(strings.ToLower(a), strings.ToLower(b))
}
