package tui

import (
	"fmt"

	"gcity/city"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// rigActions returns the actions for the rig of the selected agent, pool or automation.
func rigActions() []action {
	global := []keymap.Zone{keymap.Everywhere}
	return []action{
		{ID: "rig.suspend", Key: keymap.Bind("suspend the agent's rig: everything in it stops"),
			In: global, Risk: keymap.Confirmed,
			Why: needRunningRig,
			Run: func(m *model) []feed.Effect { return askSuspendRigOf(m, *rig(m)) }},
		{ID: "rig.resume", Key: keymap.Bind("resume the agent's rig"), In: global,
			Why: needSuspendedRig,
			Run: func(m *model) []feed.Effect { return resumeRigOf(m, rig(m).Name) }},
	}
}

func needRig(m *model) string {
	switch {
	case m.mode == ReadOnly:
		return needWritable(m)
	case rig(m) != nil:
		return ""
	}
	if why := needSubject(m); why != "" {
		return why
	}
	if p := m.worked().About(); p.Kind == panel.KindPool || p.Kind == panel.KindAutomation {
		return widget.Plain(m.subject().Name) + " belongs to no rig"
	}
	return singleAgent(m).Shown + " belongs to no rig"
}

func needRunningRig(m *model) string {
	why := needRig(m)
	if why == "" && rig(m).Suspended {
		return "rig " + widget.Plain(rig(m).Name) + " is already suspended"
	}
	return why
}

func needSuspendedRig(m *model) string {
	why := needRig(m)
	if why == "" && !rig(m).Suspended {
		return "rig " + widget.Plain(rig(m).Name) + " is not suspended"
	}
	return why
}

func askSuspendRigOf(m *model, r city.Rig) []feed.Effect {
	shown := "rig " + widget.Plain(r.Name)
	body := []string{
		fmt.Sprintf("%s to it, %d running. The sessions stop, and none starts", belong(r.Agents),
			r.Running),
		"until the rig is resumed. This is stored in the configuration.",
	}
	ask(m, question{title: "Suspend " + shown + "?", body: body, verb: "suspend", count: r.Running,
		do: func(m *model) []feed.Effect {
			return carry(m, "suspending", shown, []city.Command{city.SuspendRig{Rig: r.Name}})
		}})
	return nil
}

func belong(agents int) string {
	if agents == 1 {
		return "1 agent belongs"
	}
	return fmt.Sprintf("%d agents belong", agents)
}

func resumeRigOf(m *model, name string) []feed.Effect {
	return perhaps(m, question{title: "Resume rig " + widget.Plain(name) + "?", verb: "resume",
		do: func(m *model) []feed.Effect {
			return carry(m, "resuming", "rig "+widget.Plain(name),
				[]city.Command{city.ResumeRig{Rig: name}})
		}})
}
