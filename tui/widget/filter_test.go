package widget

import "testing"

func TestAbbreviates(t *testing.T) {
	for _, c := range []struct {
		word, name string
		want       bool
	}{
		{"l3", "loader-3", true}, {"L3", "loader-3", true}, {"lo-3", "Loader-3", true}, {"load", "loader-3", true},
		{"rt", "shop/rig_tester", true}, {"srt2", "shop/rig-tester-2", true}, {"r2", "shop/rig-tester-2", true},
		{"l3", "loader-31", false}, {"l31", "loader-3", false}, {"3", "loader-3", false}, {"ld", "loader-3", false},
		{"t2", "shop/rig-tester-2", false}, {"", "loader-3", false}, {"-", "loader-3", false}, {"l", "", false},
	} {
		if got := Abbreviates(c.word, c.name); got != c.want {
			t.Errorf("Abbreviates(%q, %q) = %v", c.word, c.name, got)
		}
	}
}
