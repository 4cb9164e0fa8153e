package wire

import (
	"net/url"
	"strings"

	"gcity/beads"
	"gcity/city"
	"gcity/internal/suggest"
)

// Name unescapes and checks a name of this kind of object.
func Name(noun Kind, escaped string) (string, error) {
	switch noun {
	case KindAutomation:
		return scopedName(escaped)
	case KindBead, KindMessage:
		id, err := url.PathUnescape(escaped)
		if err != nil || beads.CheckID(id) != nil {
			return "", city.Errorf(city.Invalid, "invalid bead ID%s", nameRule)
		}
		return id, nil
	}
	s, err := ParsedName(escaped, string(noun))
	if err == nil && noun == KindRig && strings.Contains(s, "/") {
		return "", badName(string(noun))
	}
	return s, err
}

func scopedName(escaped string) (string, error) {
	s, err := url.PathUnescape(escaped)
	parts := strings.Split(s, ":")
	ok := err == nil && ValidPart(parts[0]) &&
		(len(parts) == 1 || len(parts) == 3 && parts[1] == "rig" && ValidPart(parts[2]))
	if !ok {
		return "", city.Errorf(city.Invalid,
			"invalid automation name: use NAME or NAME:rig:RIG, with letters, "+
				`digits, ".", "_" and "-"`)
	}
	return s, nil
}

// ParsedName unescapes and checks a name that has one or more parts.
func ParsedName(escaped, what string) (string, error) {
	s, err := url.PathUnescape(escaped)
	if err != nil || len(s) > 512 {
		return "", badName(what)
	}
	for part := range strings.SplitSeq(s, "/") {
		if !ValidPart(part) {
			return "", badName(what)
		}
	}
	return s, nil
}

// ValidPart reports whether a string is a valid part of a name.
func ValidPart(s string) bool {
	if s == "" || len(s) > 64 || strings.ContainsAny(s[:1], "._-") {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_',
			c == '-':
		default:
			return false
		}
	}
	return true
}

const nameRule = `: use letters, digits, ".", "_" and "-", and begin with a letter or digit`

func badName(what string) error {
	return city.Errorf(city.Invalid, "invalid %s name%s", what, nameRule)
}

// UnknownPath returns the error for a path that the API does not define.
func UnknownPath() error {
	return city.Errorf(city.NotFound, "unknown path; try /v0/status, /v0/agents, "+
		"/v0/pools, /v0/rigs, /v0/automations, /v0/beads, /v0/mail or /v0/events")
}

// Path returns the request path for an object. The parameter what selects a part or an action; "" selects the object
// itself. An invalid name is an error.
func Path(noun Kind, target string, what Kind) (string, error) {
	if _, err := Name(noun, url.PathEscape(target)); err != nil {
		return "", city.Missing(suggest.NoSuch(suggest.Kind(noun), target))
	}
	path := "/v0/" + string(noun) + "/" + url.PathEscape(target)
	if what != "" {
		path += "/" + string(what)
	}
	return path, nil
}
