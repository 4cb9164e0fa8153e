package tui

import (
	"gcity/city"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// watchdogActions are about the watchdog under the cursor of Watchdogs. Verbs of agents are about the agent that it watches.
func watchdogActions() []action {
	here := []keymap.Zone{keymap.InWatchdogs}
	return []action{
		{ID: "watchdog.details",
			Key: keymap.Bind(
				"show the watchdog in detail: heartbeat, who judges, the last decisions and why", "enter"),
			Short: "details", In: here, Why: needWatchdog, Run: (*model).showWatchdog},
		{ID: "watchdog.beat", Key: keymap.Bind("have the watchdog look now", "t"), Short: "beat",
			In: here, Why: needBeat, Run: (*model).askBeat},
		{ID: "watchdog.agent", Key: keymap.Bind("go to the agent that it watches", "."),
			Short: "agent", In: here, Why: needGuarded,
			Run: func(m *model) []effect {
				name := m.guarded().name
				m.focusOn(panelAgents)
				return m.chooseNamed(name)
			}},
	}
}

func needWatchdog(m *model) string {
	if m.focus != panelWatchdogs || m.watchdogs.Current() == nil {
		return "no watchdog is selected; " + m.keys.KeyOf("focus.watchdogs") + " goes to them"
	}
	return ""
}

func needGuarded(m *model) string {
	if why := needWatchdog(m); why != "" {
		return why
	}
	if m.guarded() == nil {
		return widget.Plain(m.watchdogs.Current().watches) + " is not there"
	}
	return ""
}

func needBeat(m *model) string {
	if why := needWritable(m); why != "" {
		return why
	}
	if why := needWatchdog(m); why != "" {
		return why
	}
	return judgedNow(m, m.watchdogs.Current())
}

// judgedNow says that a beat is being judged, "" if none is.
func judgedNow(m *model, r *watchdogRow) string {
	if r.dog.Triaged != nil {
		return r.beats(m.now).Full + " already"
	}
	return ""
}

func (m *model) askBeat() []effect { return m.beat(m.watchdogs.Current()) }

func (m *model) beat(r *watchdogRow) []effect {
	name, shown := r.name, r.shown
	return m.perhaps(question{title: "Have " + shown + " look now?", verb: "beat", do: func(m *model) []effect {
		return m.carry("beating", shown, []city.Command{city.Beat{Watchdog: name}})
	}})
}

// answerable is the watchdog under the cursor if it calls and may be answered, else nil.
func (m *model) answerable() *watchdogRow {
	if r := m.watchdogs.Current(); m.focus == panelWatchdogs && m.mode != ReadOnly && r != nil && r.dog.Calls() {
		return r
	}
	return nil
}

// answer says that a person has seen a call.
func (m *model) answer(r *watchdogRow) []effect {
	return m.carry("answering", r.shown, []city.Command{city.Acknowledge{Watchdog: r.name, By: "operator"}})
}

func (m *model) beatLine(args []string) ([]effect, string) {
	r := m.watchdogs.Find(args[0])
	if r == nil {
		return nil, unknown("watchdog", args[0], m.watchdogNames(nil))
	}
	if why := judgedNow(m, r); why != "" {
		return nil, why
	}
	return m.beat(r), ""
}

func (m *model) heardLine(args []string) ([]effect, string) {
	r := m.watchdogs.Find(args[0])
	switch {
	case r == nil:
		return nil, unknown("watchdog", args[0], m.watchdogNames(nil))
	case !r.dog.Calls():
		return nil, r.shown + " calls for nobody"
	}
	return m.answer(r), ""
}

func (m *model) watchdogNames([]string) []word {
	var all []word
	for i := range m.watchdogs.Rows {
		all = append(all, word{m.watchdogs.Rows[i].name, "watchdog, " + m.watchdogs.Rows[i].word})
	}
	return all
}
