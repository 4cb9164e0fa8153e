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

// drifts decides which agents restart because their configuration changed.
type drifts struct {
	m    *Machine
	vets map[string]*vetting // by provider
}

// whyReplace says that a session is not what the configuration wants any more.
func (df *drifts) whyReplace(now time.Time, a *record) cause {
	swapped := a.sess.life.Swapped(&a.want.Spec)
	before := a.sess.barred
	a.sess.barred = ""
	if !swapped && a.sess.life.Fingerprint.Sum == a.want.Spec.Fingerprint.Sum {
		df.drifted(a, nil)
		return cause{}
	}
	diff := a.sess.life.Drift(&a.want.Spec)
	df.drifted(a, diff)
	if len(diff) == 0 || a.busy(now) || a.obscure() {
		return cause{}
	}
	var known bool
	if a.sess.barred, known = df.bars(now, a, swapped); a.sess.barred != "" || !known {
		if a.sess.barred != before && a.sess.barred != "" {
			df.m.decided(now, a, "hold back", "it could not be started again: "+a.sess.barred)
		}
		return cause{}
	}
	// somebody may have come since
	if now.Sub(a.sess.fresh) > viewersFresh || a.sess.looked < df.m.loader.since {
		df.m.looks.look()
		return cause{}
	}
	why := strings.Join(diff, ", ")
	if swapped {
		why += fmt.Sprintf(", from %s to %s", a.sess.life.Provider, a.want.Spec.Provider)
	}
	return cause{kind: causeDrift, why: "configuration changed: " + why}
}

func (df *drifts) drifted(a *record, diff []string) {
	if len(diff) != len(a.sess.drift) {
		df.m.step.Changed = true
	}
	a.sess.drift = diff
}

// bars says why an agent that is to be restarted as it is configured now must not be ended for that: it could not be
// started again. "" = nothing is known against it, and if not known, that is being found out.
func (df *drifts) bars(now time.Time, a *record, swapped bool) (why string, known bool) {
	if a.want.Problem != "" || !swapped {
		return a.want.Problem, true
	}
	name := a.want.Spec.Provider
	v := df.vets[name]
	if v == nil {
		v = &vetting{}
		df.vets[name] = v
	}
	fresh := vetFresh
	if v.why != "" {
		fresh = df.m.conf.Patrol
	}
	stale := v.at.IsZero() || v.turn < df.m.loader.since || now.Sub(v.at) >= fresh
	if stale && !v.busy {
		v.busy, v.turn = true, df.m.turn
		df.m.step.Do(effect.Vet{Provider: name})
	}
	return v.why, !v.busy
}

// vetting reports whether a provider is being asked.
func (df *drifts) vetting() bool {
	for _, v := range df.vets {
		if v.busy {
			return true
		}
	}
	return false
}

// unbarred is when what bars an agent is looked at again; zero = when the configuration changes.
func (df *drifts) unbarred(a *record) time.Time {
	v := df.vets[a.want.Spec.Provider]
	if v == nil || v.busy || v.why == "" || a.want.Problem != "" {
		return time.Time{}
	}
	return v.at.Add(df.m.conf.Patrol)
}

// vetted takes a provider's word.
func (df *drifts) vetted(now time.Time, in effect.Vetted) {
	v := df.vets[in.Provider]
	if v == nil {
		return
	}
	v.busy, v.at, v.why = false, now, ""
	if in.Err != nil {
		v.why = in.Err.Error()
	}
	for _, a := range df.m.order {
		if a.want != nil && a.want.Spec.Provider == in.Provider {
			df.m.decide(now, a)
		}
	}
}

// silentWhy is the reason of an agent whose holder does not answer. It restarts by itself only if the holder ends.
const silentWhy = "its holder does not answer (stopped by a signal?)"

// running shows a living agent that is left alone.
func (df *drifts) running(now time.Time, a *record) {
	df.m.stuckness(now, a)
	if !a.sess.life.Silent.IsZero() {
		df.m.set(now, a, city.Unknown, silentWhy, time.Time{})
		return
	}
	if a.sess.hazy {
		why := "the sessions of " + a.sess.life.Provider + " cannot be listed"
		df.m.set(now, a, city.Unknown, why, time.Time{})
		return
	}
	if len(a.sess.drift) == 0 {
		df.m.set(now, a, city.Running, orDefault(a.act.because, "adopted"), time.Time{})
		return
	}
	drift := strings.Join(a.sess.drift, ", ")
	switch {
	case a.sess.life.Attached > 0:
		df.m.set(now, a, city.Running, "restart held back while somebody is attached: "+drift,
			time.Time{})
	case a.busy(now):
		df.m.set(now, a, city.Running, "restart held back, somebody typed just now: "+drift,
			a.sess.life.TypedAt.Add(typedRecently))
	case a.sess.barred != "":
		df.m.set(now, a, city.Running, "restart held back, it could not be "+
			"started again: "+a.sess.barred+"; "+drift, df.unbarred(a))
	default:
		df.m.set(now, a, city.Running, "about to be restarted: "+drift, time.Time{})
	}
}
