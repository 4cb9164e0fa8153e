package tui

import (
	"strings"
	"time"

	"github.com/sahilm/fuzzy"
)

// filter is a person's search: words that all must match. "x" plain, in what a row shows besides numbers; "!x" not; "~x"
// fuzzy, in the name; "state:x", "pool:x", "rig:x", "provider:x" and "name:x" by the start of that field. The zero value
// matches everything.
type filter struct {
	text  string
	terms []clause
}

type clause struct {
	not, fuzzy bool
	field      string // "" = anywhere
	word       string // lower case
}

// parseFilter never fails: what is no operator is searched for.
func parseFilter(text string) filter {
	f := filter{text: text}
	for _, word := range strings.Fields(strings.ToLower(text)) {
		var t clause
		word, t.not = strings.CutPrefix(word, "!")
		word, t.fuzzy = strings.CutPrefix(word, "~")
		for _, field := range []string{"state", "pool", "rig", "provider", "name"} {
			if rest, ok := strings.CutPrefix(word, field+":"); ok {
				t.field, word = field, rest
			}
		}
		if t.word = word; word != "" {
			f.terms = append(f.terms, t)
		}
	}
	return f
}

func (f *filter) active() bool { return len(f.terms) > 0 }

// agent reports whether an agent's row passes.
func (f *filter) agent(r *agentRow) bool {
	for i := range f.terms {
		t := &f.terms[i]
		var hit bool
		switch t.field {
		case "state":
			hit = strings.HasPrefix(string(r.state), t.word)
		case "pool":
			hit = r.pool != "" && begins(r.pool, t.word)
		case "rig":
			hit = strings.HasPrefix(strings.ToLower(r.rig), t.word)
		case "provider":
			hit = strings.HasPrefix(strings.ToLower(r.provider), t.word)
		case "name":
			hit = strings.HasPrefix(strings.ToLower(r.name), t.word)
		default:
			hit = t.in(r.shown) || !t.fuzzy && (t.in(string(r.state)) || t.in(r.why) || r.attached() && t.in("attached"))
		}
		if hit == t.not {
			return false
		}
	}
	return true
}

// pool reports whether a pool's row passes.
func (f *filter) pool(r *poolRow, now time.Time) bool {
	for i := range f.terms {
		t := &f.terms[i]
		var hit bool
		switch t.field {
		case "state":
			hit = strings.HasPrefix(string(r.state(now)), t.word)
		case "rig":
			hit = strings.HasPrefix(strings.ToLower(r.rig), t.word)
		case "pool", "name":
			hit = begins(r.name, t.word)
		case "":
			hit = t.in(r.shown)
			if !hit && !t.fuzzy {
				why, _ := r.why(now)
				hit = t.in(string(r.state(now))) || t.in(why) || t.in(r.leaving().full)
			}
		}
		if hit == t.not {
			return false
		}
	}
	return true
}

// automation reports whether an automation's row passes.
func (f *filter) automation(r *automationRow) bool {
	for i := range f.terms {
		t := &f.terms[i]
		var hit bool
		switch t.field {
		case "state":
			hit = strings.HasPrefix(string(r.state), t.word)
		case "rig":
			hit = strings.HasPrefix(strings.ToLower(r.rig), t.word)
		case "pool":
			hit = r.pool != "" && begins(r.pool, t.word)
		case "name":
			hit = strings.HasPrefix(strings.ToLower(r.name), t.word)
		case "":
			hit = t.in(r.shown) || !t.fuzzy && (t.in(string(r.state)) || t.in(r.why("")))
		}
		if hit == t.not {
			return false
		}
	}
	return true
}

// begins reports whether a qualified name begins with a word, with or without its rig.
func begins(name, word string) bool {
	name = strings.ToLower(name)
	_, bare, _ := strings.Cut(name, "/")
	return strings.HasPrefix(name, word) || bare != "" && strings.HasPrefix(bare, word)
}

// line reports whether a text passes; fields are looked for in it like any word.
func (f *filter) line(text string) bool {
	for i := range f.terms {
		if f.terms[i].in(text) == f.terms[i].not {
			return false
		}
	}
	return true
}

func (t *clause) in(text string) bool {
	text = strings.ToLower(text)
	if t.fuzzy {
		return len(fuzzy.Find(t.word, []string{text})) > 0
	}
	return strings.Contains(text, t.word)
}
