package widget

import (
	"slices"

	"gcity/city"
)

// Order is a sort order: the index of a Way, and whether it is reversed. The zero value is the default.
type Order struct {
	Way      int
	Reversed bool
}

// Way is one available sort order. Equal rows are sorted by name.
type Way[R any] struct {
	Name string
	Rank func(a, b *R) int
	Down bool // the greatest value, or the most urgent row, comes first
}

// Ranking returns the comparison function of an order. Rows that compare equal are ordered by name.
func Ranking[R any](ways []Way[R], o Order, name func(*R) string) func(a, b *R) int {
	by := ways[o.Way%len(ways)].Rank
	return func(a, b *R) int {
		n := by(a, b)
		if n == 0 {
			n = city.CompareNames(name(a), name(b))
		}
		if o.Reversed {
			return -n
		}
		return n
	}
}

// Arrange sorts rows. If still is set, known rows keep their order, and new rows are inserted where they belong.
func Arrange[R any](rows, before []R, name func(*R) string, rank func(a, b *R) int,
	still bool) []R {
	if !still {
		Sort(rows, rank)
		return rows
	}
	place := make(map[string]int, len(before))
	for i := range before {
		place[name(&before[i])] = i
	}
	known := make([]R, 0, len(rows))
	var fresh []R
	for _, r := range rows {
		if _, ok := place[name(&r)]; ok {
			known = append(known, r)
		} else {
			fresh = append(fresh, r)
		}
	}
	slices.SortFunc(known, func(a, b R) int { return place[name(&a)] - place[name(&b)] })
	return merged(known, fresh, rank)
}

// merged inserts each fresh row before the first known row that ranks after it. The known rows may be unsorted. Each
// fresh row is compared once with the row that ranks last so far, because many may arrive together.
func merged[R any](known, fresh []R, rank func(a, b *R) int) []R {
	if len(fresh) == 0 {
		return known
	}
	Sort(fresh, rank)
	all := make([]R, 0, len(known)+len(fresh))
	// next is the first known row not yet placed; last is the row that ranks last among the placed rows
	next, last := 0, 0
	for i := range fresh {
		for ; next < len(known); next++ {
			if rank(&known[last], &known[next]) < 0 {
				last = next
			}
			if rank(&fresh[i], &known[last]) < 0 {
				break
			}
			all = append(all, known[next])
		}
		all = append(all, fresh[i])
	}
	return append(all, known[next:]...)
}

func Sort[R any](rows []R, rank func(a, b *R) int) {
	slices.SortStableFunc(rows, func(a, b R) int { return rank(&a, &b) })
}

// InOrder reports whether rows are sorted.
func InOrder[R any](rows []R, rank func(a, b *R) int) bool {
	for i := 1; i < len(rows); i++ {
		if rank(&rows[i-1], &rows[i]) > 0 {
			return false
		}
	}
	return true
}

func WayNames[R any](ways []Way[R]) []string {
	names := make([]string, len(ways))
	for i := range ways {
		names[i] = ways[i].Name
	}
	return names
}

// OrderText returns the name of an order: "cpu", "cpu reversed".
func OrderText(o Order, ways []string) string {
	text := ways[o.Way%len(ways)]
	if o.Reversed {
		text += " reversed"
	}
	return text
}
