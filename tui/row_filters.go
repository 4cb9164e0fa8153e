package tui

import (
	"strings"
	"time"

	"gcity/tui/widget"
)

// clears says which key takes a filter away.
func (m *model) clears() string { return m.keys.KeyOf("view.back") + " clears the filter." }

// passes reports whether an agent's row passes.
func (r *agentRow) passes(f *widget.Filter) bool {
	return f.Matches(func(t *widget.Clause) (hit bool) {
		switch t.Field {
		case "state":
			hit = strings.HasPrefix(string(r.state), t.Word) || r.stuck != nil && strings.HasPrefix("stuck", t.Word)
		case "pool":
			hit = r.pool != "" && widget.HasNamePrefix(r.pool, t.Word)
		case "rig":
			hit = strings.HasPrefix(strings.ToLower(r.rig), t.Word)
		case "provider":
			hit = strings.HasPrefix(strings.ToLower(r.provider), t.Word)
		case "name":
			hit = strings.HasPrefix(strings.ToLower(r.name), t.Word)
		default:
			hit = t.In(r.shown) || !t.Fuzzy && (t.In(string(r.state)) || t.In(r.why) || r.stuck != nil && t.In("stuck") || r.attached() && t.In("attached"))
		}
		return hit
	})
}

// passes reports whether a pool's row passes.
func (r *poolRow) passes(f *widget.Filter, now time.Time) bool {
	return f.Matches(func(t *widget.Clause) (hit bool) {
		switch t.Field {
		case "state":
			hit = strings.HasPrefix(string(r.state(now)), t.Word)
		case "rig":
			hit = strings.HasPrefix(strings.ToLower(r.rig), t.Word)
		case "pool", "name":
			hit = widget.HasNamePrefix(r.name, t.Word)
		case "":
			hit = t.In(r.shown)
			if !hit && !t.Fuzzy {
				why, _ := r.why(now)
				hit = t.In(string(r.state(now))) || t.In(why) || t.In(r.leaving().Full)
			}
		}
		return hit
	})
}

// passes reports whether an automation's row passes.
func (r *automationRow) passes(f *widget.Filter) bool {
	return f.Matches(func(t *widget.Clause) (hit bool) {
		switch t.Field {
		case "state":
			hit = strings.HasPrefix(string(r.state), t.Word)
		case "rig":
			hit = strings.HasPrefix(strings.ToLower(r.rig), t.Word)
		case "pool":
			hit = r.pool != "" && widget.HasNamePrefix(r.pool, t.Word)
		case "name":
			hit = strings.HasPrefix(strings.ToLower(r.name), t.Word)
		case "":
			hit = t.In(r.shown) || !t.Fuzzy && (t.In(string(r.state)) || t.In(r.why("")))
		}
		return hit
	})
}

// passes reports whether a watchdog's row passes.
func (r *watchdogRow) passes(f *widget.Filter) bool {
	return f.Matches(func(t *widget.Clause) (hit bool) {
		switch t.Field {
		case "state":
			hit = strings.HasPrefix(r.word, t.Word)
		case "name":
			hit = widget.HasNamePrefix(r.name, t.Word) || widget.HasNamePrefix(r.watches, t.Word)
		case "":
			hit = t.In(r.shown) || !t.Fuzzy && (t.In(r.word) || t.In(r.watches) || t.In(r.whoJudges()) || t.In(r.told))
		}
		return hit
	})
}

// passes reports whether an event's row passes: "type:" and "subject:" by their beginning or that of a part behind a dot or
// a slash, "by:" who caused it, "since:10m" how long ago at most; what is no duration yet leaves nothing out.
func (r *eventRow) passes(f *widget.Filter, now time.Time) bool {
	return f.Matches(func(t *widget.Clause) (hit bool) {
		switch t.Field {
		case "type":
			_, verb, _ := strings.Cut(strings.ToLower(r.kind), ".")
			hit = strings.HasPrefix(strings.ToLower(r.kind), t.Word) || strings.HasPrefix(verb, t.Word)
		case "subject", "name":
			hit = widget.HasNamePrefix(r.subject, t.Word)
		case "by":
			hit = widget.HasNamePrefix(r.event.Actor, t.Word)
		case "since":
			ago, err := time.ParseDuration(t.Word)
			if err != nil {
				return !t.Not
			}
			hit = now.Sub(r.event.TS) <= ago
		default:
			hit = t.In(r.kind + " " + r.subject + " " + r.message)
		}
		return hit
	})
}
