package holder

import (
	"testing"
	"time"
)

func TestPace(t *testing.T) {
	at := time.Unix(1000, 0)
	for _, c := range []struct {
		name  string
		sizes []int
		gap   time.Duration
		rests []bool
	}{
		{"lines of a log", []int{80, 80, 80}, 5 * time.Millisecond, []bool{false, true, true}},
		{"an occasional line", []int{80, 80, 80}, time.Second, []bool{false, false, false}},
		{"a flood", []int{80, 4095, 80, 4095}, time.Millisecond, []bool{false, false, false, false}},
		{"lines after a flood", []int{4095, 80, 80, 80, 80, 80, 80, 80}, 30 * time.Millisecond,
			[]bool{false, false, false, false, false, false, false, true}},
	} {
		var p pace
		for i, n := range c.sizes {
			if got := p.steady(n, at.Add(time.Duration(i)*c.gap)); got != c.rests[i] {
				t.Errorf("%s: piece %d: rest %v, want %v", c.name, i, got, c.rests[i])
			}
		}
	}
}
