package tui

import (
	"fmt"

	"gcity/city"
	"gcity/tui/keymap"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// rigActions are about the rig of the selected agent, or of the pool or the automation where these have the focus.
func rigActions() []action {
	global := []keymap.Zone{keymap.Everywhere}
	return []action{
		{ID: "rig.suspend", Key: keymap.Bind("suspend the agent's rig: all that belongs to it"),
			In: global, Risk: keymap.Confirmed,
			Why: needRunningRig, Run: (*model).askSuspendRig},
		{ID: "rig.resume", Key: keymap.Bind("resume the agent's rig"), In: global,
			Why: needSuspendedRig, Run: (*model).resumeRig},
	}
}

// rig is what the verbs of rigs are about, nil if there is none.
func (m *model) rig() *city.Rig {
	p := m.worked()
	if p.About().Kind != panel.KindAgent {
		return m.rigCalled(p.Rig())
	}
	if r := m.single(); r != nil {
		return m.rigCalled(r.Rig)
	}
	return nil
}

// rigCalled finds a rig by its name, nil if there is none.
func (m *model) rigCalled(name string) *city.Rig {
	if name == "" || m.snap == nil {
		return nil
	}
	for i := range m.snap.Rigs {
		if m.snap.Rigs[i].Name == name {
			return &m.snap.Rigs[i]
		}
	}
	return nil
}

func needRig(m *model) string {
	switch {
	case m.mode == ReadOnly:
		return needWritable(m)
	case m.rig() != nil:
		return ""
	}
	if why := needSubject(m); why != "" {
		return why
	}
	if p := m.worked().About(); p.Kind == panel.KindPool || p.Kind == panel.KindAutomation {
		return widget.Plain(m.subject().Name) + " belongs to no rig"
	}
	return m.single().Shown + " belongs to no rig"
}

func needRunningRig(m *model) string {
	why := needRig(m)
	if why == "" && m.rig().Suspended {
		return "rig " + widget.Plain(m.rig().Name) + " is suspended already"
	}
	return why
}

func needSuspendedRig(m *model) string {
	why := needRig(m)
	if why == "" && !m.rig().Suspended {
		return "rig " + widget.Plain(m.rig().Name) + " is not suspended"
	}
	return why
}

func (m *model) askSuspendRig() []effect {
	r := *m.rig()
	shown := "rig " + widget.Plain(r.Name)
	body := []string{
		fmt.Sprintf("%s to it, %d running. The sessions end, and none begins", belong(r.Agents),
			r.Running),
		"until the rig is resumed. This is written into the configuration.",
	}
	m.ask(question{title: "Suspend " + shown + "?", body: body, verb: "suspend", count: r.Running,
		do: func(m *model) []effect {
			return m.carry("suspending", shown, []city.Command{city.SuspendRig{Rig: r.Name}})
		}})
	return nil
}

func belong(agents int) string {
	if agents == 1 {
		return "1 agent belongs"
	}
	return fmt.Sprintf("%d agents belong", agents)
}

func (m *model) resumeRig() []effect {
	name := m.rig().Name
	return m.perhaps(question{title: "Resume rig " + widget.Plain(name) + "?", verb: "resume",
		do: func(m *model) []effect {
			return m.carry("resuming", "rig "+widget.Plain(name),
				[]city.Command{city.ResumeRig{Rig: name}})
		}})
}
