package palette

import (
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// CannotAttach returns why a user cannot attach to an agent, or "".
func CannotAttach(r *panel.AgentRow) string {
	if r.Running {
		return ""
	}
	return "the agent has no terminal to attach to"
}

// CannotDrain returns why an agent cannot be drained, or "".
func CannotDrain(r *panel.AgentRow) string {
	if r.Drainable() {
		return ""
	}
	return "there is nothing to drain"
}

// CannotUndrain returns why a drain cannot be canceled, or "".
func CannotUndrain(r *panel.AgentRow) string {
	switch {
	case r.Undrainable():
		return ""
	case r.Surplus():
		return "the pool is scaling down; scale " + widget.Plain(r.Pool) + " up to keep the agent"
	}
	return "the agent is not draining"
}

// CannotRelease returns why an agent cannot be released, or "".
func CannotRelease(r *panel.AgentRow) string {
	switch {
	case r.Held():
		return ""
	case r.Surplus():
		return CannotUndrain(r)
	}
	return "there is nothing to release"
}

// FlaggedAlready returns a message if an object is already suspended, or not suspended, as wanted. Otherwise it returns
// "".
func FlaggedAlready(shown string, is, wanted bool) string {
	switch {
	case is && wanted:
		return shown + " is already suspended"
	case !is && !wanted:
		return shown + " is not suspended"
	}
	return ""
}
