package folder

import "strings"

// ValidName says whether a city may be called so.
func ValidName(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case i > 0 && strings.IndexByte("._-", c) >= 0:
		default:
			return false
		}
	}
	return name != ""
}

// InventName makes a folder's name fit for a city.
func InventName(base string) string {
	name := strings.Map(func(r rune) rune {
		if ValidName("x" + string(r)) {
			return r
		}
		return '-'
	}, base)
	if name = strings.TrimLeft(name, "-._"); name == "" {
		return "city"
	}
	return name[:min(len(name), longestName)] // one byte a letter by now
}

// longestName is as many letters as a city's name may have; --name gives a better one than a cut one.
const longestName = 64
