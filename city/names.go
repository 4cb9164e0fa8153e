package city

import (
	"cmp"
	"strings"
)

// CompareNames compares names in natural order: worker-2 before worker-10. Only equal strings compare as 0.
func CompareNames(a, b string) int {
	zeros := 0
	for a != "" && b != "" {
		m, n := digits(a), digits(b)
		if m == 0 || n == 0 {
			if c := cmp.Compare(a[0], b[0]); c != 0 {
				return c
			}
			a, b = a[1:], b[1:]
			continue
		}
		if c := compareDigits(a[:m], b[:n]); c != 0 {
			return c
		}
		zeros = cmp.Or(zeros, cmp.Compare(m, n))
		a, b = a[m:], b[n:]
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), zeros)
}

func digits(s string) int {
	n := 0
	for n < len(s) && '0' <= s[n] && s[n] <= '9' {
		n++
	}
	return n
}

func compareDigits(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}
