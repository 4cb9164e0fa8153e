package tui

import (
	"strings"
	"time"

	"github.com/sahilm/fuzzy"
)

// filter is a person's search: words that all must match. "x" plain, in what a row shows besides numbers; "!x" not; "~x"
// fuzzy, in the name; "state:x", "pool:x", "rig:x", "provider:x" and "name:x" by the start of that field; of events "type:x", "subject:x", "by:x" and
// "since:10m". The zero value matches everything.
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
		for _, field := range []string{"state", "pool", "rig", "provider", "name", "type", "subject", "by", "since"} {
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

// clears says which key takes a filter away.
func (m *model) clears() string { return m.keys.keyOf("view.back") + " clears the filter." }

// agent reports whether an agent's row passes.
func (f *filter) agent(r *agentRow) bool {
	for i := range f.terms {
		t := &f.terms[i]
		var hit bool
		switch t.field {
		case "state":
			hit = strings.HasPrefix(string(r.state), t.word) || r.stuck != nil && strings.HasPrefix("stuck", t.word)
		case "pool":
			hit = r.pool != "" && begins(r.pool, t.word)
		case "rig":
			hit = strings.HasPrefix(strings.ToLower(r.rig), t.word)
		case "provider":
			hit = strings.HasPrefix(strings.ToLower(r.provider), t.word)
		case "name":
			hit = strings.HasPrefix(strings.ToLower(r.name), t.word)
		default:
			hit = t.in(r.shown) || !t.fuzzy && (t.in(string(r.state)) || t.in(r.why) || r.stuck != nil && t.in("stuck") || r.attached() && t.in("attached"))
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

// watchdog reports whether a watchdog's row passes.
func (f *filter) watchdog(r *watchdogRow) bool {
	for i := range f.terms {
		t := &f.terms[i]
		var hit bool
		switch t.field {
		case "state":
			hit = strings.HasPrefix(r.word, t.word)
		case "name":
			hit = begins(r.name, t.word) || begins(r.watches, t.word)
		case "":
			hit = t.in(r.shown) || !t.fuzzy && (t.in(r.word) || t.in(r.watches) || t.in(r.whoJudges()) || t.in(r.told))
		}
		if hit == t.not {
			return false
		}
	}
	return true
}

// event reports whether an event's row passes: "type:" and "subject:" by their beginning or that of a part behind a dot or
// a slash, "by:" who caused it, "since:10m" how long ago at most; what is no duration yet leaves nothing out.
func (f *filter) event(r *eventRow, now time.Time) bool {
	for i := range f.terms {
		t := &f.terms[i]
		var hit bool
		switch t.field {
		case "type":
			_, verb, _ := strings.Cut(strings.ToLower(r.kind), ".")
			hit = strings.HasPrefix(strings.ToLower(r.kind), t.word) || strings.HasPrefix(verb, t.word)
		case "subject", "name":
			hit = begins(r.subject, t.word)
		case "by":
			hit = begins(r.event.Actor, t.word)
		case "since":
			ago, err := time.ParseDuration(t.word)
			if err != nil {
				continue
			}
			hit = now.Sub(r.event.TS) <= ago
		default:
			hit = t.in(r.kind + " " + r.subject + " " + r.message)
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

func (t *clause) in(text string) bool {
	text = strings.ToLower(text)
	if t.fuzzy {
		return len(fuzzy.Find(t.word, []string{text})) > 0
	}
	return strings.Contains(text, t.word)
}
