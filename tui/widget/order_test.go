package widget

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// Known rows keep their order. A new row is inserted before the first row that ranks after it.
func TestFreshRowsAreMerged(t *testing.T) {
	rank := func(a, b int) int { return a - b }
	for _, c := range []struct{ known, fresh, want []int }{
		{nil, []int{3, 1, 2}, []int{1, 2, 3}},
		{[]int{2, 4}, nil, []int{2, 4}},
		{[]int{2, 4}, []int{5, 1, 3}, []int{1, 2, 3, 4, 5}},
		{[]int{9, 1, 5}, []int{6, 4, 10}, []int{4, 6, 9, 1, 5, 10}},
		{[]int{3, 8, 1, 9, 2}, []int{8, 3, 5}, []int{3, 3, 5, 8, 1, 8, 9, 2}},
	} {
		if got := merge(slices.Clone(c.known), slices.Clone(c.fresh), rank); !slices.Equal(got,
			c.want) {
			t.Errorf("%v into %v: %v, want %v", c.fresh, c.known, got, c.want)
		}
	}
	for seed := range uint64(200) { // inserting one row at a time must have the same result
		r := rand.New(rand.NewPCG(seed, 0))
		known, fresh := make([]int, r.IntN(12)), make([]int, r.IntN(12))
		for _, all := range [][]int{known, fresh} {
			for i := range all {
				all[i] = r.IntN(10)
			}
		}
		want := slices.Clone(known)
		for _, n := range fresh {
			at := slices.IndexFunc(want, func(o int) bool { return n < o })
			if at < 0 {
				at = len(want)
			}
			want = slices.Insert(want, at, n)
		}
		if got := merge(known, slices.Clone(fresh), rank); !slices.Equal(got, want) {
			t.Fatalf("seed %d: %v into %v: %v, want %v", seed, fresh, known, got, want)
		}
	}
}

type orderedRow struct {
	name string
	rank int
}

func (r *orderedRow) Key() string { return r.name }

// Recall restores the previous order once. Sort applies the order again.
func TestRecallAndSort(t *testing.T) {
	byRank := func(a, b *orderedRow) int { return a.rank - b.rank }
	now := time.Unix(0, 0)
	var all Records[*orderedRow]
	all.Arrange([]*orderedRow{{"a", 1}, {"b", 2}}, byRank, now, false)
	now = now.Add(time.Minute)
	all.Arrange([]*orderedRow{{"a", 2}, {"b", 1}}, byRank, now, false)
	if all.ID(0) != "b" || !all.Recall(now) || all.ID(0) != "a" || all.Recall(now) {
		t.Fatalf("the first row is %s", all.ID(0))
	}
	if all.Sort(byRank); all.ID(0) != "b" {
		t.Errorf("sorted: the first row is %s", all.ID(0))
	}
}
