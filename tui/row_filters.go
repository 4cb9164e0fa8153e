package tui

import (
	"strings"
	"time"
)

// clears says which key takes a filter away.
func (m *model) clears() string { return m.keys.keyOf("view.back") + " clears the filter." }

// passes reports whether an agent's row passes.
func (r *agentRow) passes(f *filter) bool {
	return f.matches(func(t *clause) (hit bool) {
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
		return hit
	})
}

// passes reports whether a pool's row passes.
func (r *poolRow) passes(f *filter, now time.Time) bool {
	return f.matches(func(t *clause) (hit bool) {
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
		return hit
	})
}

// passes reports whether an automation's row passes.
func (r *automationRow) passes(f *filter) bool {
	return f.matches(func(t *clause) (hit bool) {
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
		return hit
	})
}

// passes reports whether a watchdog's row passes.
func (r *watchdogRow) passes(f *filter) bool {
	return f.matches(func(t *clause) (hit bool) {
		switch t.field {
		case "state":
			hit = strings.HasPrefix(r.word, t.word)
		case "name":
			hit = begins(r.name, t.word) || begins(r.watches, t.word)
		case "":
			hit = t.in(r.shown) || !t.fuzzy && (t.in(r.word) || t.in(r.watches) || t.in(r.whoJudges()) || t.in(r.told))
		}
		return hit
	})
}

// passes reports whether an event's row passes: "type:" and "subject:" by their beginning or that of a part behind a dot or
// a slash, "by:" who caused it, "since:10m" how long ago at most; what is no duration yet leaves nothing out.
func (r *eventRow) passes(f *filter, now time.Time) bool {
	return f.matches(func(t *clause) (hit bool) {
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
				return !t.not
			}
			hit = now.Sub(r.event.TS) <= ago
		default:
			hit = t.in(r.kind + " " + r.subject + " " + r.message)
		}
		return hit
	})
}
