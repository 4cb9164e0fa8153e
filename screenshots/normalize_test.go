package main

import "testing"

// Lines have the same canonical form if and only if they look the same.
func TestCanonical(t *testing.T) {
	for _, c := range []struct{ a, b string }{
		{"\x1b[39;2m pid \x1b[m", " \x1b[2mpid\x1b[m  "},
		{"\x1b[1;31mno\x1b[m  \x1b[32mok", "\x1b[31m\x1b[1mno  \x1b[22;32mok\x1b[39m"},
		{"\x1b[38;5;12;48;2;1;2;3mx \x1b[m", "\x1b[48;2;1;2;3m\x1b[38;5;12mx "},
		{"   ", ""},
	} {
		if a, b := canonical(c.a), canonical(c.b); a != b {
			t.Errorf("%q and %q became %q and %q", c.a, c.b, a, b)
		}
		if once := canonical(c.a); canonical(once) != once {
			t.Errorf("%q is not at rest", once)
		}
	}
	for _, c := range []struct{ a, b string }{
		{"\x1b[7m \x1b[m", " "}, {"x", " x"}, {"\x1b[1mx", "x"}, {"\x1b[4m \x1b[mx", " x"}, {"\x1b[31mx", "\x1b[91mx"},
	} {
		if canonical(c.a) == canonical(c.b) {
			t.Errorf("%q and %q became one", c.a, c.b)
		}
	}
}
