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
	// the beat that it is to judge; nil: it is no triage, or has nothing to do
	summons *tier.Summons
	served  string // the beat that it was started for last
	unfit   string // why it could not be
}

// called reports that an agent is started by the beats of a watchdog alone.
func (a *record) called() bool { return a.triageOf() != "" }

func (a *record) triageOf() string {
	if a.want == nil {
		return ""
	}
	return a.want.TriageOf
}

// summoned reports that it is to be started: the beat waits, and it has not had its one life for it.
func (a *record) summoned() bool {
	s := a.triage.summons
	return s != nil && !s.Judged && a.triage.served != s.Beat
}

// rededicate takes that an agent becomes a triage, or is none any more. What it was says nothing of what it is
// now, and a session that was started for a beat outlives nobody's beats.
func (a *record) rededicate(w *agent.Want) {
	if was := a.triageOf(); a.want == nil || (was == "") == (w.TriageOf == "") {
		return
	} else if was != "" && a.triage.served != "" && (a.sess.alive || a.act.op == opStart) {
		a.act.intent = cause{kind: causeBeat, why: "it was started for a beat, and is no " +
			"triage any more"}
	}
	a.forgive("")
	a.triage.summons, a.triage.unfit = nil, ""
}

// outfit is what an agent is started with, just now.
func (a *record) outfit() effect.Start {
	if a.triage.summons == nil || !a.called() {
		return effect.Start{Want: a.want}
	}
	w := *a.want
	w.Spec.Env = slices.Concat(w.Spec.Env, a.triage.summons.Env)
	return effect.Start{Want: &w, Brief: &a.triage.summons.Brief}
}

// offBeat is why a triage's session is ended.
func (a *record) offBeat(now time.Time) cause {
	s := a.triage.summons
	switch {
	case s == nil || a.triage.served != s.Beat:
		return cause{kind: causeBeat, why: "it is of a beat that is over"}
	case s.Judged && !now.Before(s.Until):
		return cause{kind: causeBeat, why: "it has decided, and did not end by itself"}
	}
	return cause{}
}

// waitsForBeat shows a triage that has nothing to do.
func (m *Machine) waitsForBeat(now time.Time, a *record) {
	a.act.intent = cause{}
	m.commands.resolve(a, "agent "+a.name+" was ended", "kill")
	m.commands.refuseAll(m.commands.takeWaiters(a, "restart"), city.Conflict,
		fmt.Sprintf("agent %s is the triage of watchdog %s now, and is started by its beats alone",
			a.name, a.want.TriageOf))
	if a.triage.unfit != "" {
		m.set(now, a, city.Failed, a.triage.unfit, time.Time{})
		return
	}
	m.set(now, a, city.Exited, "the triage of watchdog "+a.want.TriageOf+
		", started by its beats",
		time.Time{})
}

// triageOver takes the end of a triage's session, or of its start. No end of it counts as a crash: it is told at
// its tier.
func (m *Machine) triageOver(now time.Time, a *record, why string) {
	s := a.triage.summons
	a.rest.left, a.rest.hold, a.rest.notBefore, a.rest.fell = false, "", time.Time{}, false
	if s == nil || a.triage.served != s.Beat {
		return
	}
	a.triage.summons = nil
	m.watchdogs.TriageEnded(now, s, fmt.Sprintf("triage %s %s", a.name, why))
}

// triageUnfit takes a start of a triage that failed.
func (m *Machine) triageUnfit(now time.Time, a *record, err error) {
	a.sess.alive, a.triage.unfit = false, err.Error()
	m.decided(now, a, "start failed", a.triage.unfit)
	m.triageOver(now, a, "could not be started: "+a.triage.unfit)
}

// triageDied takes an end of a triage that nobody asked for. One that kept it from deciding is told with its last
// words, once as long as it goes on like that.
func (m *Machine) triageDied(now time.Time, a *record, e session.Exit, d restart.Death) {
	why := "ended without a decision: " + d.String()
	m.decided(now, a, "died", d.String())
	s := a.triage.summons
	if degraded, ok := m.watchdogs.Degraded(a.want.TriageOf); ok && s != nil && !s.Judged &&
		(e.Code != 0 || e.Signal != "") && degraded != fmt.Sprintf("triage %s %s", a.name, why) {
		m.tellDeath(now, a, e, restart.Verdict{Crash: true})
	}
	m.triageOver(now, a, why)
}

// ending reports whether a session is being stopped, or waits for its turn to be. A stop that failed before is not
// under way.
func (a *record) ending() bool {
	return a.sess.alive && a.act.stopFrom.IsZero() &&
		(a.act.op == opStop || a.act.intent.kind != causeNone)
}

// standing describes the state of an agent in a sentence about it.
func standing(a *record) string { return tier.Standing(a.state, a.reason) }
