package doctor

import "testing"

// Each row of the table has a title of its own, or findings that have theirs.
func TestTitlesAreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range checks() {
		if c.title != "" && seen[c.title] {
			t.Errorf("%q is there twice", c.title)
		}
		seen[c.title] = true
	}
}
