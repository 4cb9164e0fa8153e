package tui

import "strings"

// natural orders names as a person counts: worker-2 before worker-10. Names that differ in leading zeros alone follow
// their bytes, so that the order is total.
func natural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		m, n := digits(x), digits(y)
		if m == 0 || n == 0 {
			if x[0] != y[0] {
				return int(x[0]) - int(y[0])
			}
			x, y = x[1:], y[1:]
			continue
		}
		if d := byValue(x[:m], y[:n]); d != 0 {
			return d
		}
		x, y = x[m:], y[n:]
	}
	if d := len(x) - len(y); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}

// byValue compares two rows of digits as numbers of any size.
func byValue(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	if d := len(a) - len(b); d != 0 {
		return d
	}
	return strings.Compare(a, b)
}

// digits is how many digits a text begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
