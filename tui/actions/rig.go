package actions

import (
	"fmt"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/state"
	"gcity/tui/widget"
)

func rigActions() []state.Action {
	return []state.Action{
		{ID: "rig.suspend", Key: keymap.Bind("suspend the agent's rig: everything in it stops"),
			Risk: keymap.Confirmed,
			Why:  needRunningRig,
			Run:  func(m *state.Room) []feed.Effect { return askSuspendRigOf(m, *state.Rig(m)) }},
		{ID: "rig.resume", Key: keymap.Bind("resume the agent's rig"),
			Why: needSuspendedRig,
			Run: func(m *state.Room) []feed.Effect { return resumeRigOf(m, state.Rig(m).Name) }},
	}
}

func needRig(m *state.Room) string {
	switch {
	case state.NeedWritable(m) != "":
		return state.NeedWritable(m)
	case state.Rig(m) != nil:
		return ""
	}
	if why := needSubject(m); why != "" {
		return why
	}
	r, kind := state.SingleAgent(m), m.ActionPanel().About().Kind
	if r == nil || kind == panel.KindPool || kind == panel.KindAutomation {
		return widget.Plain(m.Subject().Name) + " belongs to no rig"
	}
	return r.Shown + " belongs to no rig"
}

func needRunningRig(m *state.Room) string {
	why := needRig(m)
	if why == "" && state.Rig(m).Suspended {
		return "rig " + widget.Plain(state.Rig(m).Name) + " is already suspended"
	}
	return why
}

func needSuspendedRig(m *state.Room) string {
	why := needRig(m)
	if why == "" && !state.Rig(m).Suspended {
		return "rig " + widget.Plain(state.Rig(m).Name) + " is not suspended"
	}
	return why
}

func askSuspendRigOf(m *state.Room, r city.Rig) []feed.Effect {
	shown := "rig " + widget.Plain(r.Name)
	return askLive(m, func(m *state.Room) question {
		now := state.FindRig(m, r.Name)
		if now == nil {
			return nothingDone(shown + " no longer exists")
		} else if now.Suspended {
			return nothingDone(shown + " is already suspended")
		}
		body := []string{
			fmt.Sprintf("%s to it (%d running).", belong(now.Agents), now.Running),
			"All sessions will stop, and none will start until the rig is resumed.",
			suspensionStored,
		}
		return question{title: "Suspend " + shown + "?", body: body, verb: "suspend",
			count: now.Running, of: "running agents",
			do: sending("suspending", shown, city.SuspendRig{Rig: r.Name})}
	})
}

func belong(agents int) string {
	if agents == 1 {
		return "1 agent belongs"
	}
	return fmt.Sprintf("%d agents belong", agents)
}

func resumeRigOf(m *state.Room, name string) []feed.Effect {
	return askLiveIfWanted(m, func(m *state.Room) question { return resumeRigQuestion(m, name) })
}

func resumeRigQuestion(m *state.Room, name string) question {
	shown := "rig " + widget.Plain(name)
	switch r := state.FindRig(m, name); {
	case r == nil:
		return nothingDone(shown + " no longer exists")
	case !r.Suspended:
		return nothingDone(shown + " is not suspended")
	}
	return question{title: "Resume " + shown + "?", verb: "resume",
		do: sending("resuming", shown, city.ResumeRig{Rig: name})}
}
