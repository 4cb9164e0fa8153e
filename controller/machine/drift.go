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
	swapped := a.sess.life.Swapped(&a.want.Spec)
	before := a.sess.barred
	a.sess.barred = ""
	if !swapped && a.sess.life.Fingerprint.Sum == a.want.Spec.Fingerprint.Sum {
		m.drifted(a, nil)
		return cause{}
	}
	diff := a.sess.life.Drift(&a.want.Spec)
	m.drifted(a, diff)
	if len(diff) == 0 || a.busy(now) || a.obscure() {
		return cause{}
	}
	var known bool
	if a.sess.barred, known = m.bars(now, a, swapped); a.sess.barred != "" || !known {
		if a.sess.barred != before && a.sess.barred != "" {
			m.decided(now, a, "hold back", "it could not be started again: "+a.sess.barred)
		}
		return cause{}
	}
	// somebody may have come since
	if now.Sub(a.sess.fresh) > viewersFresh || a.sess.looked < m.loader.since {
		m.looks.look()
		return cause{}
	}
	why := strings.Join(diff, ", ")
	if swapped {
		why += fmt.Sprintf(", from %s to %s", a.sess.life.Provider, a.want.Spec.Provider)
	}
	return cause{kind: causeDrift, why: "configuration changed: " + why}
}

// busy reports whether a person is at the agent's terminal.
func (a *record) busy(now time.Time) bool {
	return a.sess.life.Attached > 0 || (!a.sess.life.TypedAt.IsZero() &&
		now.Sub(a.sess.life.TypedAt) < typedRecently)
}

func (m *Machine) drifted(a *record, diff []string) {
	if len(diff) != len(a.sess.drift) {
		m.step.Changed = true
	}
	a.sess.drift = diff
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
	stale := v.at.IsZero() || v.turn < m.loader.since || now.Sub(v.at) >= fresh
	if stale && !v.busy {
		v.busy, v.turn = true, m.turn
		m.step.Do(effect.Vet{Provider: name})
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
	if !a.sess.life.Silent.IsZero() {
		m.set(now, a, city.Unknown, silentWhy, time.Time{})
		return
	}
	if a.sess.hazy {
		why := "the sessions of " + a.sess.life.Provider + " cannot be listed"
		m.set(now, a, city.Unknown, why, time.Time{})
		return
	}
	if len(a.sess.drift) == 0 {
		m.set(now, a, city.Running, orDefault(a.act.because, "adopted"), time.Time{})
		return
	}
	drift := strings.Join(a.sess.drift, ", ")
	switch {
	case a.sess.life.Attached > 0:
		m.set(now, a, city.Running, "restart held back while somebody is attached: "+drift,
			time.Time{})
	case a.busy(now):
		m.set(now, a, city.Running, "restart held back, somebody typed just now: "+drift,
			a.sess.life.TypedAt.Add(typedRecently))
	case a.sess.barred != "":
		m.set(now, a, city.Running, "restart held back, it could not be "+
			"started again: "+a.sess.barred+"; "+drift, m.unbarred(a))
	default:
		m.set(now, a, city.Running, "about to be restarted: "+drift, time.Time{})
	}
}
