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

// triage is the state that only triage agents have, such as the beat that the agent must judge. It is empty for other
// agents.
type triage struct {
	request      *tier.TriageRequest
	lastBeat     string
	startProblem string
}

func (a *record) triageOf() string {
	if a.want == nil {
		return ""
	}
	return a.want.TriageOf
}

func (a *record) isTriage() bool { return a.triageOf() != "" }

// isOver reports whether the beat that the latest session was started for has ended.
func (t *triage) isOver() bool { return t.request == nil || t.lastBeat != t.request.Beat }

// awaitsStart reports whether the agent must be started to judge a beat.
func (t *triage) awaitsStart() bool {
	return t.request != nil && !t.request.Judged && t.lastBeat != t.request.Beat
}

func (a *record) changeTriageOf(w *agent.Want) {
	if was := a.triageOf(); a.want == nil || (was == "") == (w.TriageOf == "") {
		return
	} else if was != "" && a.triage.lastBeat != "" && (a.phase.Alive() || a.phase.Starting()) {
		a.act.intent = cause{kind: causeBeat, why: "the agent is no longer a triage agent"}
	}
	a.forgive("")
	a.triage.request, a.triage.startProblem = nil, ""
}

func (a *record) startEffect() effect.Start {
	if !a.isTriage() || a.triage.request == nil {
		return effect.Start{Want: a.want}
	}
	w := *a.want
	w.Spec.Env = slices.Concat(w.Spec.Env, a.triage.request.Env)
	return effect.Start{Want: &w, Brief: &a.triage.request.Brief}
}

func (onCall) ends(now time.Time, a *record) cause {
	s := a.triage.request
	switch {
	case a.triage.isOver():
		return cause{kind: causeBeat, why: "the check that this session was started for is over"}
	case s.Judged && !now.Before(s.Until):
		return cause{kind: causeBeat, why: "the agent has decided but has not exited"}
	}
	return a.drained(now)
}

func (p onCall) rest(now time.Time, a *record) {
	m := p.m
	a.act.intent = cause{}
	m.commands.resolve(a, "agent "+a.name+" was stopped", "kill")
	m.commands.rejectAll(a.take("restart"), city.Conflict,
		"agent %s is now the triage agent of watchdog %s and starts only "+
			"for its checks", a.name, a.want.TriageOf)
	if a.triage.startProblem != "" {
		m.set(now, a, city.Failed, a.triage.startProblem)
		return
	}
	m.set(now, a, city.Exited, "triage agent of watchdog "+a.want.TriageOf+
		"; starts only for its checks")
}

func (m *Machine) triageOver(now time.Time, a *record, why string) {
	s := a.triage.request
	a.restart.end()
	a.restart.diedOnItsOwn = false
	if a.triage.isOver() {
		return
	}
	a.triage.request = nil
	m.watchdogs.TriageEnded(now, s, fmt.Sprintf("triage %s %s", a.name, why))
}

func (p onCall) failed(now time.Time, a *record, err error) {
	m := p.m
	a.triage.startProblem = err.Error()
	m.decided(now, a, "start failed", a.triage.startProblem)
	m.triageOver(now, a, "could not start: "+a.triage.startProblem)
}

func (p onCall) died(now time.Time, a *record, e session.Exit, _ *drain) {
	m, d := p.m, effect.Death(&e)
	why := "ended without a decision: " + d.String()
	m.decided(now, a, "died", d.String())
	s := a.triage.request
	if degraded, ok := m.watchdogs.Degraded(a.want.TriageOf); ok && s != nil && !s.Judged &&
		(e.Code != 0 || e.Signal != "") && degraded != fmt.Sprintf("triage %s %s", a.name, why) {
		m.recordDeath(now, a, e, restart.Verdict{Crash: true})
	}
	m.triageOver(now, a, why)
}

func (a *record) ending() bool {
	return a.phase.Alive() && a.act.retryStopAt.IsZero() &&
		(a.phase.Stopping() || a.act.intent.kind != causeNone)
}

func triageStatus(a *record) string { return tier.StateText(a.state, a.reason) }
