package city_test

import (
	"strings"
	"testing"

	"gcity/city"
	"gcity/city/verb"
)

// Errors about a body contain no Go names.
func TestDecodeBody(t *testing.T) {
	for _, c := range []struct{ verb, target, body, want string }{
		{"create-bead", "", `{"bead":{"title":5}}`, "title must be a string but is a number"},
		{"create-bead", "", `{"bead":{"title":"x","labels":"a"}}`,
			"labels must be a list with values that are each a string but is a string"},
		{"create-bead", "", `{"bead":{"title":"x","metadata":{"a":{"b":1}}}}`,
			"must be a string but is an object"},
		{"create-bead", "", `{"bead":{"title":"x","priority":"high"}}`,
			`invalid priority: use a number from 0 (most urgent) to 4, not "high"`},
		{"create-bead", "", `{"bead":{"title":"x","created_at":"yesterday"}}`,
			`invalid time "yesterday"; use the form "2026-03-01T12:00:00Z"`},
		{"create-bead", "", `{"bead":{"titel":"x"}}`, `unknown field "titel"`},
		{"create-bead", "", `{"bead":[1]}`, "it must be an object but is a list"},
		{"create-bead", "", `{"bead":{"title":"x"}} {}`, "unexpected text after the JSON value"},
		{"update-bead", "x-1", `{"patch":{"status":5}}`, "status must be a string but is a number"},
		{"scale", "w", `{"size":"x"}`, "size must be a whole number but is a string"},
		{"scale", "w", `{"size":1.5}`, "size must be a whole number but is 1.5"},
		{"reload", "", `{"confirm":"yes"}`, "confirm must be true or false but is a string"},
		{"send-keys", "a", `{"keys":"x"}`, "keys must be a list with values that are each a string but is a string"},
		{"emit", "", `{"event":{"type":5}}`, "type must be a string but is a number"},
		{"nudge", "a", `{"text":true}`, "text must be a string but is true or false"},
	} {
		_, err := verb.Decode(c.verb, c.target, []byte(c.body))
		if codeOf(err) != city.Invalid || !strings.HasPrefix(err.Error(),
			"invalid request body: ") || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s %s: got %v, want %s", c.verb, c.body, err, c.want)
			continue
		}
		for _, leak := range []string{"json:", "Go ", "struct", "city.", "beads.", "Bead", "Patch",
			"int64"} {
			if strings.Contains(err.Error(), leak) {
				t.Errorf("%s %s: %v", c.verb, c.body, err)
			}
		}
	}
}
