package color

import "testing"

func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		"black": "0", "white": "7", "bright-black": "8", "bright-white": "15", "0": "0", "007": "7", "255": "255", "#0A0b0c": "#0a0b0c",
	} {
		if got, err := Parse(in); err != nil || got != want {
			t.Errorf("%q is %q, %v; want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"", "reddish", "bright-", "bright-#ffffff", "-1", "256", "#12", "#12345g", "#1234567", "#+12345", "# 12345"} {
		if got, err := Parse(in); err == nil {
			t.Errorf("%q is %q; want an error", in, got)
		}
	}
}
