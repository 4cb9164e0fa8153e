package tui

import (
	"gcity/city"
)

// automationActions are about the automation under the cursor of Automations.
func automationActions() []action {
	here := []zone{inAutomations}
	return []action{
		{id: "automation.details", key: bind("show the automation in detail: gate, action, last run and its output, the runs before", "enter"),
			short: "details", in: here, why: needAutomation, run: (*model).showAutomation},
		{id: "automation.fire", key: bind("fire the automation now: shows what its gate says", "t"), short: "fire", in: here,
			risk: confirmed, why: needFire, run: (*model).askFire},
	}
}

// automation is what the verbs of automations are about, nil if there is none.
func (m *model) automation() *automationRow {
	if m.focus == panelAutomations {
		return m.automations.under()
	}
	return nil
}

func needAutomation(m *model) string {
	if m.automation() == nil {
		return "no automation is selected; 4 goes to them"
	}
	return ""
}

func needFire(m *model) string {
	if why := needWritable(m); why != "" {
		return why
	}
	if why := needAutomation(m); why != "" {
		return why
	}
	if r := m.automation(); r.state == automationBroken {
		return r.shown + " is broken: " + r.reason
	}
	return ""
}

// firing is an automation that was fired from here, until its run has ended.
type firing struct {
	id     int // of the action
	name   string
	before string // the run that was its newest then
}

// askFire fires an automation that only waits for it; where something stands against it, it asks.
func (m *model) askFire() []effect {
	r := *m.automation()
	do := func(m *model) []effect {
		m.fired = firing{name: r.name}
		if r.last != nil {
			m.fired.before = r.last.ID
		}
		todo := m.carry("firing", r.shown+" ("+r.reason+")", []city.Command{city.Fire{Automation: r.name, By: "operator"}})
		m.fired.id = m.status.id
		return todo
	}
	against := m.against(&r)
	switch {
	case len(against) == 0:
		return do(m)
	case r.state != automationRunning:
		against = append(against, "It runs once, now.")
	}
	m.ask(question{title: "Fire " + r.shown + " now?", body: against, verb: "fire", do: do})
	return nil
}

// against is what speaks against a run now, nothing if nothing does.
func (m *model) against(r *automationRow) []string {
	var lines []string
	if m.snap.Suspended {
		lines = append(lines, m.cityName()+" is suspended: nothing fires there by itself.")
	} else if rig := m.rigCalled(r.rig); rig != nil && rig.Suspended {
		lines = append(lines, "rig "+plain(rig.Name)+" is suspended: nothing fires there by itself.")
	}
	dot := " " + m.look.glyph.Dot + " "
	gate := r.opens()
	if says := r.says(); says != "" {
		gate += dot + says
	}
	if soon := r.soon(m.now).full; soon != "" {
		gate += dot + soon
	}
	switch r.state {
	case automationDue, automationManual:
		return lines
	case automationRunning:
		return append(lines, "A run goes "+r.soon(m.now).full+`. Another follows it where overlap = "queue" is written; else the city refuses.`)
	case automationOff:
		if len(lines) == 0 {
			lines = append(lines, "It is off: "+r.reason+".")
		}
		return lines
	}
	return append(lines, "Its gate is closed: "+gate+".")
}

// firedEnded tells how the run ended that was fired from here.
func (m *model) firedEnded() {
	r := m.automations.find(m.fired.name)
	asked := m.status.pending && m.status.id == m.fired.id // the city has not answered yet
	if asked || r == nil || r.last == nil || r.last.ID == m.fired.before || r.last.Ended == nil {
		return
	}
	took := lasted(r.last.Ended.Sub(r.last.Opened))
	m.fired = firing{}
	how := ran
	if r.last.Made != "" {
		how = "made " + plain(r.last.Made)
	}
	switch {
	case r.last.Outcome != ran:
		m.complain(r.shown + " failed after " + took + ": " + runFailure(r.last))
	case !m.status.failed && !m.status.pending:
		m.say(r.shown + ": " + how + " in " + took)
	}
}
