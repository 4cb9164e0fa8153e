package machine

import (
	"fmt"
	"slices"
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/tier"
	"gcity/restart"
	"gcity/session"
)

// triage is the beat of a watchdog that an agent judges. It is empty for other agents.
type triage struct {
	// the beat to judge; nil: it has nothing to do
	summons *tier.Summons
	served  string // the beat that it was last started for
	unfit   string // why its last start failed
}

// called reports whether an agent only starts for the beats of a watchdog.
func (a *record) called() bool { return a.triageOf() != "" }

func (a *record) triageOf() string {
	if a.want == nil {
		return ""
	}
	return a.want.TriageOf
}

// summoned reports whether a triage agent has to start: a beat waits, and it was not started for it yet.
func (a *record) summoned() bool {
	s := a.triage.summons
	return s != nil && !s.Judged && a.triage.served != s.Beat
}

// rededicate handles an agent that becomes a triage agent, or stops being one. Its history is cleared, and a
// session that was started for a beat ends.
func (a *record) rededicate(w *agent.Want) {
	if was := a.triageOf(); a.want == nil || (was == "") == (w.TriageOf == "") {
		return
	} else if was != "" && a.triage.served != "" && (a.sess.alive || a.act.op == opStart) {
		a.act.intent = cause{kind: causeBeat, why: "it was started for a beat and is no longer a " +
			"triage agent"}
	}
	a.forgive("")
	a.triage.summons, a.triage.unfit = nil, ""
}

// outfit returns the start of an agent, with the beat of a triage agent.
func (a *record) outfit() effect.Start {
	if a.triage.summons == nil || !a.called() {
		return effect.Start{Want: a.want}
	}
	w := *a.want
	w.Spec.Env = slices.Concat(w.Spec.Env, a.triage.summons.Env)
	return effect.Start{Want: &w, Brief: &a.triage.summons.Brief}
}

// offBeat returns the cause to stop a triage agent's session.
func (a *record) offBeat(now time.Time) cause {
	s := a.triage.summons
	switch {
	case s == nil || a.triage.served != s.Beat:
		return cause{kind: causeBeat, why: "it belongs to a beat that is over"}
	case s.Judged && !now.Before(s.Until):
		return cause{kind: causeBeat, why: "it has decided and did not exit by itself"}
	}
	return cause{}
}

// waitsForBeat shows a triage agent without a beat.
func (m *Machine) waitsForBeat(now time.Time, a *record) {
	a.act.intent = cause{}
	m.commands.resolve(a, "agent "+a.name+" was ended", "kill")
	m.commands.refuseAll(m.commands.takeWaiters(a, "restart"), city.Conflict,
		fmt.Sprintf("agent %s is now the triage of watchdog %s and only starts for its beats",
			a.name, a.want.TriageOf))
	if a.triage.unfit != "" {
		m.set(now, a, city.Failed, a.triage.unfit, time.Time{})
		return
	}
	m.set(now, a, city.Exited, "the triage of watchdog "+a.want.TriageOf+
		", starts for its beats",
		time.Time{})
}

// triageOver takes the end of a triage agent's session, or of its start. It never counts as a crash and is reported
// by its watchdog.
func (m *Machine) triageOver(now time.Time, a *record, why string) {
	s := a.triage.summons
	a.rest.staysDown, a.rest.hold, a.rest.notBefore, a.rest.diedOnItsOwn = false, "", time.Time{},
		false
	if s == nil || a.triage.served != s.Beat {
		return
	}
	a.triage.summons = nil
	m.watchdogs.TriageEnded(now, s, fmt.Sprintf("triage %s %s", a.name, why))
}

// triageUnfit takes a failed start of a triage agent.
func (m *Machine) triageUnfit(now time.Time, a *record, err error) {
	a.sess.alive, a.triage.unfit = false, err.Error()
	m.decided(now, a, "start failed", a.triage.unfit)
	m.triageOver(now, a, "could not start: "+a.triage.unfit)
}

// triageDied takes an exit of a triage agent that was not requested. If it prevented a decision, it is recorded
// with its last output, once until the reason changes.
func (m *Machine) triageDied(now time.Time, a *record, e session.Exit, d restart.Death) {
	why := "ended without a decision: " + d.String()
	m.decided(now, a, "died", d.String())
	s := a.triage.summons
	if degraded, ok := m.watchdogs.Degraded(a.want.TriageOf); ok && s != nil && !s.Judged &&
		(e.Code != 0 || e.Signal != "") && degraded != fmt.Sprintf("triage %s %s", a.name, why) {
		m.recordDeath(now, a, e, restart.Verdict{Crash: true})
	}
	m.triageOver(now, a, why)
}

// ending reports whether a session is being stopped or waits for its turn. A stop that failed does not count.
func (a *record) ending() bool {
	return a.sess.alive && a.act.stopFrom.IsZero() &&
		(a.act.op == opStop || a.act.intent.kind != causeNone)
}

// standing describes the state of an agent in a sentence about it.
func standing(a *record) string { return tier.Standing(a.state, a.reason) }
