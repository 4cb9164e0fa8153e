package doctor

import "testing"

// The titles of checks are distinct. A check without a title returns findings that have their own titles.
func TestTitlesAreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range checks() {
		if c.title != "" && seen[c.title] {
			t.Errorf("the title %q is used twice", c.title)
		}
		seen[c.title] = true
	}
}
