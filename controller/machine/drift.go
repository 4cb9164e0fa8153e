package machine

import (
	"fmt"
	"strings"
	"time"

	"gcity/city"
	"gcity/controller/effect"
)

// vetFresh is how old a provider's yes may be when an agent is ended for a restart by it. Between the two comes a
// look at who holds the agent, which a slow program may take its time for.
const vetFresh = 2 * time.Minute

// vetting is what a provider has said about whether it could run sessions.
type vetting struct {
	busy bool      // it is being asked
	at   time.Time // of its newest word; zero = there is none
	turn uint64    // in which it was asked
	why  string    // it could not
}

// whyReplace says that a session is not what the configuration wants any more.
func (m *Machine) whyReplace(now time.Time, a *record) cause {
	swapped := a.life.Swapped(&a.want.Spec)
	before := a.barred
	a.barred = ""
	if !swapped && a.life.Fingerprint.Sum == a.want.Spec.Fingerprint.Sum {
		m.drifted(a, nil)
		return cause{}
	}
	diff := a.life.Drift(&a.want.Spec)
	m.drifted(a, diff)
	if len(diff) == 0 || a.busy(now) || a.obscure() {
		return cause{}
	}
	var known bool
	if a.barred, known = m.bars(now, a, swapped); a.barred != "" || !known {
		if a.barred != before && a.barred != "" {
			m.decided(now, a, "hold back", "it could not be started again: "+a.barred)
		}
		return cause{}
	}
	if now.Sub(a.fresh) > viewersFresh || a.looked < m.confTurn { // somebody may have come since
		m.look()
		return cause{}
	}
	why := strings.Join(diff, ", ")
	if swapped {
		why += fmt.Sprintf(", from %s to %s", a.life.Provider, a.want.Spec.Provider)
	}
	return cause{kind: causeDrift, why: "configuration changed: " + why}
}

// busy reports whether a person is at the agent's terminal.
func (a *record) busy(now time.Time) bool {
	return a.life.Attached > 0 || (!a.life.TypedAt.IsZero() &&
		now.Sub(a.life.TypedAt) < typedRecently)
}

func (m *Machine) drifted(a *record, diff []string) {
	if len(diff) != len(a.drift) {
		m.changed = true
	}
	a.drift = diff
}

// bars says why an agent that is to be restarted as it is configured now must not be ended for that: it could not be
// started again. "" = nothing is known against it, and if not known, that is being found out.
func (m *Machine) bars(now time.Time, a *record, swapped bool) (why string, known bool) {
	if a.want.Problem != "" || !swapped {
		return a.want.Problem, true
	}
	name := a.want.Spec.Provider
	v := m.vets[name]
	if v == nil {
		v = &vetting{}
		m.vets[name] = v
	}
	fresh := vetFresh
	if v.why != "" {
		fresh = m.conf.Patrol
	}
	stale := v.at.IsZero() || v.turn < m.confTurn || now.Sub(v.at) >= fresh
	if stale && !v.busy {
		v.busy, v.turn = true, m.turn
		m.do(effect.Vet{Provider: name})
	}
	return v.why, !v.busy
}

// vetting reports whether a provider is being asked.
func (m *Machine) vetting() bool {
	for _, v := range m.vets {
		if v.busy {
			return true
		}
	}
	return false
}

// unbarred is when what bars an agent is looked at again; zero = when the configuration changes.
func (m *Machine) unbarred(a *record) time.Time {
	v := m.vets[a.want.Spec.Provider]
	if v == nil || v.busy || v.why == "" || a.want.Problem != "" {
		return time.Time{}
	}
	return v.at.Add(m.conf.Patrol)
}

// vetted takes a provider's word.
func (m *Machine) vetted(now time.Time, in effect.Vetted) {
	v := m.vets[in.Provider]
	if v == nil {
		return
	}
	v.busy, v.at, v.why = false, now, ""
	if in.Err != nil {
		v.why = in.Err.Error()
	}
	for _, a := range m.order {
		if a.want != nil && a.want.Spec.Provider == in.Provider {
			m.decide(now, a)
		}
	}
}

// silentWhy is the reason of an agent whose holder does not answer. It restarts by itself only if the holder ends.
const silentWhy = "its holder does not answer (stopped by a signal?)"

// running shows a living agent that is left alone.
func (m *Machine) running(now time.Time, a *record) {
	m.stuckness(now, a)
	if !a.life.Silent.IsZero() {
		m.set(now, a, city.Unknown, silentWhy, time.Time{})
		return
	}
	if a.hazy {
		m.set(now, a, city.Unknown, "the sessions of "+a.life.Provider+" cannot be listed",
			time.Time{})
		return
	}
	if len(a.drift) == 0 {
		m.set(now, a, city.Running, orDefault(a.because, "adopted"), time.Time{})
		return
	}
	drift := strings.Join(a.drift, ", ")
	switch {
	case a.life.Attached > 0:
		m.set(now, a, city.Running, "restart held back while somebody is attached: "+drift,
			time.Time{})
	case a.busy(now):
		m.set(now, a, city.Running, "restart held back, somebody typed just now: "+drift,
			a.life.TypedAt.Add(typedRecently))
	case a.barred != "":
		m.set(now, a, city.Running, "restart held back, it could not be "+
			"started again: "+a.barred+"; "+drift, m.unbarred(a))
	default:
		m.set(now, a, city.Running, "about to be restarted: "+drift, time.Time{})
	}
}
