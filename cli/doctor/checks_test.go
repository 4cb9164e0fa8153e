package doctor

import "testing"

// Titles of checks are distinct. If a check has no title, its findings have titles.
func TestTitlesAreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range checks() {
		if c.title != "" && seen[c.title] {
			t.Errorf("the title %q is used twice", c.title)
		}
		seen[c.title] = true
	}
}
