package machine

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"gcity/city"
	"gcity/controller/attention"
	"gcity/controller/effect"
	"gcity/controller/lifecycle"
	"gcity/controller/rollout"
)

type drifts struct {
	m         *Machine
	providers map[string]*lifecycle.Check
	checking  int // number of checks in flight
}

func (df *drifts) whyReplace(now time.Time, a *record) cause {
	before := a.sess.restartBarred
	a.sess.restartBarred = ""
	diff := a.sess.life.Drift(&a.want.Spec)
	df.drifted(a, diff)
	if len(diff) == 0 || a.sess.busy(now) || a.sess.unknown() {
		return cause{}
	}
	why, known := df.whyNotRestarted(now, a)
	if a.sess.restartBarred = why; why != "" && why != before {
		df.m.decided(now, a, "hold back", "a restart would fail: "+why)
	}
	if why != "" || !known {
		return cause{}
	}
	// a viewer might have attached since the last list
	if now.Sub(a.sess.seenAt) > viewersFresh || a.sess.listStep < df.m.loader.since {
		df.m.lists.request()
		return cause{}
	}
	return cause{kind: causeDrift, why: a.whyChanged()}
}

// whyChanged returns how the configuration differs from that of the current session.
func (a *record) whyChanged() string {
	if a.want == nil {
		return ""
	}
	why := strings.Join(a.sess.life.Drift(&a.want.Spec), ", ")
	if why == "" {
		return "configuration changed, then changed back"
	}
	if a.sess.life.ProviderChanged(&a.want.Spec) {
		why += fmt.Sprintf(", from %s to %s", a.sess.life.Provider, a.want.Spec.Provider)
	}
	return "configuration changed: " + why
}

func (df *drifts) drifted(a *record, diff []string) {
	if len(diff) != len(a.sess.drift) {
		df.m.step.Changed = true
	}
	a.sess.drift = diff
}

// If known is false, a check is still in flight.
func (df *drifts) whyNotRestarted(now time.Time, a *record) (why string, known bool) {
	if a.want.Problem == "" && a.sess.life.ProviderChanged(&a.want.Spec) {
		c := df.provider(a)
		if c.Begin(now, df.m.stepNumber, df.m.loader.since, df.m.conf.Patrol) {
			df.checking++
			df.m.step.Do(effect.CheckProvider{Provider: a.want.Spec.Provider})
		}
		if c.Busy || c.Why != "" {
			return c.Why, !c.Busy
		}
	}
	return df.whyNoStart(now, a)
}

func (df *drifts) whyNoStart(now time.Time, a *record) (why string, known bool) {
	if a.want.Problem != "" {
		return a.want.Problem, true
	}
	c, since := &a.act.startCheck, max(df.m.loader.since, a.phase.Step())
	if c.Begin(now, df.m.stepNumber, since, df.m.conf.Patrol) {
		df.checking++
		df.m.step.Do(effect.CheckStart{Want: a.want})
	}
	return c.Why, !c.Busy
}

func (df *drifts) provider(a *record) *lifecycle.Check {
	name := a.want.Spec.Provider
	if df.providers[name] == nil {
		df.providers[name] = &lifecycle.Check{}
	}
	return df.providers[name]
}

// requested returns the cause of a requested stop. It cancels a restart that would fail. While the start is being
// checked, it returns no cause.
func (df *drifts) requested(now time.Time, a *record) cause {
	c := a.act.intent
	if c.kind != causeRestart && c.kind != causeRequest || a.unwanted() || !a.phase.Ready() {
		return c
	}
	switch why, known := df.whyNoStart(now, a); {
	case !known:
		return cause{}
	case why != "":
		a.act.intent = cause{}
		df.m.decided(now, a, "hold back", "a restart would fail: "+why)
		df.m.commands.rejectAll(a.take("restart", "request"), city.Conflict, "%s", a.onlyStops(why))
		df.m.pools.Rollouts.Failed(a.name, rollout.Failure{
			Why: "was not restarted, because it cannot start: " + why})
	}
	return a.act.intent
}

func (df *drifts) nextRestartCheck(a *record) time.Time {
	c := &a.act.startCheck
	if p := df.provider(a); p.Why != "" && a.sess.life.ProviderChanged(&a.want.Spec) {
		c = p
	}
	if c.Busy || c.Why == "" || a.want.Problem != "" {
		return time.Time{}
	}
	return c.At.Add(df.m.conf.Patrol)
}

func (df *drifts) providerChecked(now time.Time, in effect.ProviderChecked) {
	df.checking--
	if c := df.providers[in.Provider]; c != nil {
		c.Ended(now, in.Err)
	}
	for _, a := range df.m.order {
		if a.want != nil && a.want.Spec.Provider == in.Provider {
			df.m.decide(now, a)
		}
	}
}

func (df *drifts) startChecked(now time.Time, in effect.StartChecked) {
	df.checking--
	if a := df.m.agents[in.Agent]; a != nil {
		a.act.startCheck.Ended(now, in.Err)
		df.m.decide(now, a)
	}
}

const silentWhy = "the session's holder does not respond (stopped by a signal?)"

func (df *drifts) running(now time.Time, a *record, f *attention.Facts) {
	df.m.attention.UpdateStuck(now, &a.attention, f)
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
		df.m.set(now, a, city.Running, cmp.Or(a.silence.barred, a.act.startReason, "adopted"))
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
