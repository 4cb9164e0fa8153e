package palette

import (
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// CannotAttach returns the reason why a user cannot attach to an agent, or "". The reason continues a sentence about
// the agent's state.
func CannotAttach(r *panel.AgentRow) string {
	if r.Running {
		return ""
	}
	return " and has no session"
}

// CannotDrain returns the reason why an agent cannot be drained, or "".
func CannotDrain(r *panel.AgentRow) string {
	if r.Drainable() {
		return ""
	}
	return ", so there is nothing to drain"
}

// CannotUndrain returns the reason why a drain cannot be canceled, or "".
func CannotUndrain(r *panel.AgentRow) string {
	switch {
	case r.Undrainable():
		return ""
	case r.Surplus():
		return " because its pool is scaling down; scale " + widget.Plain(r.Pool) +
			" up to keep the agent"
	}
	return " and is not draining"
}

// CannotRelease returns the reason why an agent cannot be released, or "".
func CannotRelease(r *panel.AgentRow) string {
	switch {
	case r.Held():
		return ""
	case r.Surplus():
		return CannotUndrain(r)
	case r.Problem != "":
		return ": " + r.Problem
	}
	return "; " + OnlyHeld
}

// OnlyHeld is the message for an agent that cannot be released.
const OnlyHeld = "only agents in quarantine, in backoff or draining can be released"

// FlaggedAlready returns a message if an object is already in the wanted state, or "".
func FlaggedAlready(shown string, is, wanted bool) string {
	switch {
	case is && wanted:
		return shown + " is already suspended"
	case !is && !wanted:
		return shown + " is not suspended"
	}
	return ""
}

// CannotFire returns why automations cannot be fired, or "". If one of several is running, the others can be fired.
func CannotFire(rows []*panel.AutomationRow) string {
	for _, r := range rows {
		if why := r.Rejects(); why != "" && (len(rows) == 1 || r.State == panel.AutomationBroken) {
			return why
		}
	}
	return ""
}

// CannotStop returns the reason why the runs of automations cannot be stopped, or "".
func CannotStop(rows []*panel.AutomationRow) string {
	for _, r := range rows {
		if !r.InRun() {
			return "no run of " + r.Shown + " is in progress"
		}
	}
	return ""
}

// CannotCheck returns the reason why a pool's check cannot run, or "".
func CannotCheck(p *panel.PoolRow) string {
	if p.Check.Command == "" {
		return p.Shown + " has no check; its size depends on the open beads for it"
	}
	return ""
}

// CannotUnsend returns the reason why no text can be withdrawn from an agent's queue, or "".
func CannotUnsend(r *panel.AgentRow) string {
	if len(r.Waiting) > 0 {
		return ""
	}
	return ", and no nudge is queued for it"
}
