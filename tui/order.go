package tui

import (
	"slices"

	"gcity/city"
)

// order is how a list is sorted: which of its ways, and whether from its end. The zero value is the usual one.
type order struct {
	way      int
	reversed bool
}

// way is one order that a list may have. Rows that are equal in it are in the order of names.
type way[R any] struct {
	name string
	rank func(a, b *R) int
}

// ranking is an order as a comparison. Names decide where the way does not.
func ranking[R any](ways []way[R], o order, name func(*R) string) func(a, b *R) int {
	by := ways[o.way%len(ways)].rank
	return func(a, b *R) int {
		n := by(a, b)
		if n == 0 {
			n = city.CompareNames(name(a), name(b))
		}
		if o.reversed {
			return -n
		}
		return n
	}
}

// arrange sorts rows. While they are to be still, those known before keep their order, and new ones come in where they
// belong.
func arrange[R any](rows, before []R, name func(*R) string, rank func(a, b *R) int, still bool) []R {
	if !still {
		sorted(rows, rank)
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

// merged puts each fresh row before the first known one that ranks behind it; the known ones may be in any order. Many may
// come at once: each is compared once on the way, with the one that ranks last so far.
func merged[R any](known, fresh []R, rank func(a, b *R) int) []R {
	if len(fresh) == 0 {
		return known
	}
	sorted(fresh, rank)
	all := make([]R, 0, len(known)+len(fresh))
	next, last := 0, 0 // of the known: the first that is not in its place yet, the one that ranks last up to it
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

func sorted[R any](rows []R, rank func(a, b *R) int) {
	slices.SortStableFunc(rows, func(a, b R) int { return rank(&a, &b) })
}

// inOrderOf reports whether rows are sorted.
func inOrderOf[R any](rows []R, rank func(a, b *R) int) bool {
	for i := 1; i < len(rows); i++ {
		if rank(&rows[i-1], &rows[i]) > 0 {
			return false
		}
	}
	return true
}

func wayNames[R any](ways []way[R]) []string {
	names := make([]string, len(ways))
	for i := range ways {
		names[i] = ways[i].name
	}
	return names
}

// orderText is an order by its name: "cpu", "cpu reversed".
func orderText(o order, ways []string) string {
	text := ways[o.way%len(ways)]
	if o.reversed {
		text += " reversed"
	}
	return text
}
