package city_test

import (
	"strings"
	"testing"

	"gcity/city"
)

func TestCompareNames(t *testing.T) {
	ordered := []string{
		"", "-1", "0", "00", "1", "01", "1-", "2", "9", "10", "010", "10a", "99999999999999999999", "100000000000000000000",
		"B", "a", "a/b", "a1b02", "a01b2", "a1b03", "a2b1", "rig/worker", "rig/worker-1", "rig/worker-2", "rig/worker-10",
		"rig1/x", "rig2/x", "rig10/x", "w", "worker", "worker-1", "worker-01", "worker-2", "worker-9", "worker-10", "worker-10b",
		"worker-100", "worker-a", "worker1", "worker2", "workers",
	}
	for i, a := range ordered {
		for j, b := range ordered {
			got := city.CompareNames(a, b)
			if want := sign(i - j); got != want {
				t.Errorf("%q and %q: got %d, want %d", a, b, got, want)
			}
		}
	}
}

func sign(n int) int { return min(1, max(-1, n)) }

// CompareNames defines a total order for all names.
func FuzzCompareNames(f *testing.F) {
	f.Add("worker-2", "worker-10", "worker-010")
	f.Add("a01b1", "a1b01", "a1b1")
	f.Add("", "0", "/")
	f.Add(strings.Repeat("9", 400), "1"+strings.Repeat("0", 400), "x\xff")
	f.Add("٣", "3", "rig/3")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		ab, ba, bc, ac := city.CompareNames(a, b), city.CompareNames(b, a), city.CompareNames(b, c), city.CompareNames(a, c)
		switch {
		case ab != -ba:
			t.Errorf("compare %q and %q: got %d, in reverse %d", a, b, ab, ba)
		case (ab == 0) != (a == b):
			t.Errorf("compare %q and %q: got %d", a, b, ab)
		case ab <= 0 && bc <= 0 && ac > 0, ab >= 0 && bc >= 0 && ac < 0:
			t.Errorf("compare %q, %q, %q: got %d, %d, but %d", a, b, c, ab, bc, ac)
		}
		if !strings.ContainsAny(a+b, "0123456789") && ab != strings.Compare(a, b) {
			t.Errorf("%q and %q have no digits, but are not in byte order", a, b)
		}
	})
}
