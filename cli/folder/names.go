package folder

import "strings"

// ValidName reports whether name is valid for a city.
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

// DefaultCityName converts a folder's name to a valid city name.
func DefaultCityName(base string) string {
	name := strings.Map(func(r rune) rune {
		if ValidName("x" + string(r)) {
			return r
		}
		return '-'
	}, base)
	if name = strings.TrimLeft(name, "-._"); name == "" {
		return "city"
	}
	return name[:min(len(name), longestName)] // each letter is one byte
}

const longestName = 64
