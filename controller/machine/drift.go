package machine

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"gcity/city"
	"gcity/controller/effect"
)

// leaves time for a slow session list between the check and the stop
const providerCheckFresh = 2 * time.Minute

type providerCheck struct {
	busy bool
	at   time.Time
	step uint64
	why  string // "" = the provider can run sessions
}

type drifts struct {
	m              *Machine
	providerChecks map[string]*providerCheck // by provider
}

func (df *drifts) whyReplace(now time.Time, a *record) cause {
	swapped := a.sess.life.ProviderChanged(&a.want.Spec)
	before := a.sess.restartBarred
	a.sess.restartBarred = ""
	if !swapped && a.sess.life.Fingerprint.Sum == a.want.Spec.Fingerprint.Sum {
		df.drifted(a, nil)
		return cause{}
	}
	diff := a.sess.life.Drift(&a.want.Spec)
	df.drifted(a, diff)
	if len(diff) == 0 || a.sess.busy(now) || a.sess.unknown() {
		return cause{}
	}
	var known bool
	if a.sess.restartBarred, known = df.whyNotRestarted(now, a,
		swapped); a.sess.restartBarred != "" ||
		!known {
		if a.sess.restartBarred != before && a.sess.restartBarred != "" {
			df.m.decided(now, a, "hold back", "a restart would fail: "+a.sess.restartBarred)
		}
		return cause{}
	}
	// a viewer might have attached since the last list
	if now.Sub(a.sess.seenAt) > viewersFresh || a.sess.listStep < df.m.loader.since {
		df.m.lists.request()
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

// If known is false, a check is still in flight.
func (df *drifts) whyNotRestarted(now time.Time, a *record, swapped bool) (why string, known bool) {
	if a.want.Problem != "" || !swapped {
		return a.want.Problem, true
	}
	name := a.want.Spec.Provider
	v := df.providerChecks[name]
	if v == nil {
		v = &providerCheck{}
		df.providerChecks[name] = v
	}
	fresh := providerCheckFresh
	if v.why != "" {
		fresh = df.m.conf.Patrol
	}
	stale := v.at.IsZero() || v.step < df.m.loader.since || now.Sub(v.at) >= fresh
	if stale && !v.busy {
		v.busy, v.step = true, df.m.stepNumber
		df.m.step.Do(effect.CheckProvider{Provider: name})
	}
	return v.why, !v.busy
}

func (df *drifts) checkingProvider() bool {
	for _, v := range df.providerChecks {
		if v.busy {
			return true
		}
	}
	return false
}

func (df *drifts) nextRestartCheck(a *record) time.Time {
	v := df.providerChecks[a.want.Spec.Provider]
	if v == nil || v.busy || v.why == "" || a.want.Problem != "" {
		return time.Time{}
	}
	return v.at.Add(df.m.conf.Patrol)
}

func (df *drifts) providerChecked(now time.Time, in effect.ProviderChecked) {
	v := df.providerChecks[in.Provider]
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

const silentWhy = "the session's holder does not respond (stopped by a signal?)"

func (df *drifts) running(now time.Time, a *record) {
	df.m.updateStuck(now, a)
	if !a.sess.life.Silent.IsZero() {
		df.m.set(now, a, city.Unknown, cmp.Or(a.sess.life.Reason, silentWhy))
		return
	}
	if a.sess.uncertain {
		why := "the sessions cannot be listed"
		if a.sess.life.Provider != "" {
			why = "the sessions of " + a.sess.life.Provider + " cannot be listed"
		}
		df.m.set(now, a, city.Unknown, why)
		return
	}
	if a.sess.life.Reason != "" {
		df.m.set(now, a, city.Running, a.sess.life.Reason)
		return
	}
	if len(a.sess.drift) == 0 {
		df.m.set(now, a, city.Running, cmp.Or(a.act.startReason, "adopted"))
		return
	}
	drift := strings.Join(a.sess.drift, ", ")
	switch {
	case a.sess.life.Attached > 0:
		df.m.set(now, a, city.Running, "restart held back while a user is attached; "+drift)
	case a.sess.busy(now):
		df.m.setUntil(now, a, city.Running, "restart held back because a user has just "+
			"typed; "+drift, a.sess.life.TypedAt.Add(typedRecently))
	case a.sess.restartBarred != "":
		df.m.setUntil(now, a, city.Running, "restart held back because a restart "+
			"would fail: "+a.sess.restartBarred+"; "+drift, df.nextRestartCheck(a))
	default:
		df.m.set(now, a, city.Running, "about to restart: "+drift)
	}
}
