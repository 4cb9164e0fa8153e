package tier

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/config"
	"gcity/controller/effect"
	"gcity/controller/step"
	"gcity/watchdog"
)

// tier is the state of one watchdog. It survives a new configuration unless the name of the watchdog or of the watched
// agent changes (L6).
type tier struct {
	want   config.Watchdog
	since  time.Time // when the watchdog was added or last resumed
	next   time.Time // next beat; zero = paused
	paused string

	// why the thresholds decide this beat
	fallback  string
	waiters   []uint64 // commands that wait for the beat
	beat      *beat
	checkedAt time.Time
	// last successful read; zero = never
	readAt          time.Time
	decidedAt       time.Time // time of the triage agent's latest decision; zero = never
	problem         string    // problem with the heartbeat file
	heartbeat, life watchdog.Sighting
	agents          watchdog.Agents
	lifeID          string

	chain             watchdog.Chain
	degraded          string
	typing            uint64    // ID of the queued nudge; 0 = none
	typed             time.Time // time of the decision that sent this nudge
	last              *city.Judgement
	recent            []city.Judgement
	escalation        *city.Escalation
	escalationProblem string
	escalationPending bool
	command           string // escalate_command that has not run yet
}

type beat struct {
	id      string
	at      time.Time
	until   time.Time // the thresholds decide after this time
	session string    // ID of the watched agent's session when the beat began; "" = none
}

// Adopt adopts the watchdogs of a new configuration.
func (wd *Watchdogs) Adopt(now time.Time, c *effect.Configuration) {
	var order []*tier
	for i := range c.Tiers {
		w := &c.Tiers[i]
		t := wd.tier(w.Name)
		switch {
		case t == nil:
			t = &tier{want: *w, since: now}
		case t.want.Watches != w.Watches:
			wd.abandon(now, t)
			wd.retract(now, t, "the watchdog now watches a different agent")
			t = &tier{want: *w, since: now, waiters: t.waiters}
		default:
			if t.want.Triage != w.Triage {
				wd.abandon(now, t)
				t.degraded, t.decidedAt = "", time.Time{}
			}
			if t.want.Heartbeat != w.Heartbeat {
				t.readAt, t.agents = time.Time{}, watchdog.Agents{}
			}
			if t.want.Every != w.Every {
				t.next = time.Time{}
			}
			t.want = *w
		}
		order = append(order, t)
	}
	for _, t := range wd.tiers {
		if !slices.ContainsFunc(order, func(o *tier) bool { return o.want.Name == t.want.Name }) {
			wd.abandon(now, t)
			wd.retract(now, t, "the watchdog was removed")
			wd.replyToBeat(t, "watchdog %s was removed", t.want.Name)
		}
	}
	slices.SortFunc(order, func(a, b *tier) int {
		return strings.Compare(a.want.Name, b.want.Name)
	})
	wd.tiers = order
}

func (wd *Watchdogs) tier(name string) *tier {
	for _, t := range wd.tiers {
		if t.want.Name == name {
			return t
		}
	}
	return nil
}

// Watch advances all watchdogs. It is level-triggered: a second call changes nothing.
func (wd *Watchdogs) Watch(now time.Time) {
	if len(wd.tiers) == 0 || wd.city.OneShot() || !wd.city.Listed() {
		return
	}
	for _, t := range wd.tiers {
		wd.watchOne(now, t)
	}
}

func (wd *Watchdogs) watchOne(now time.Time, t *tier) {
	a := wd.city.Agent(t.want.Watches)
	if a != nil && a.Alive && a.Life.ID != t.lifeID {
		t.lifeID, t.life = a.Life.ID, watchdog.Sighting{}.Update(a.Life.Started, time.Time{},
			now)
	}
	if why := wd.whyPaused(a); why != t.paused {
		if why == "" {
			t.since = now
		}
		t.paused, wd.out.Changed = why, true
	}
	if t.paused != "" {
		if !t.next.IsZero() {
			t.next, wd.out.Changed = time.Time{}, true
		}
		wd.abandon(now, t)
		wd.replyToBeat(t, "watchdog %s is suspended: %s", t.want.Name, t.paused)
		return
	}
	if t.next.IsZero() {
		t.next, wd.out.Changed = now.Add(t.want.Every), true
	}
	if t.beat != nil {
		if why := wd.noTriage(t); why != "" {
			wd.fallBack(now, t, why)
		}
	}
	if t.beat != nil && !now.Before(t.beat.until) {
		wd.fallBack(now, t, wd.overdueTriage(t))
	}
	if !now.Before(t.next) {
		t.next, wd.out.Changed = now.Add(t.want.Every), true
		if t.beat == nil {
			wd.beginBeat(t)
		}
	}
}

func (wd *Watchdogs) whyPaused(a *Agent) string {
	switch {
	case !wd.city.Running():
		return "the city is being stopped"
	case a == nil || !a.Declared:
		return "the agent that it watches is not declared"
	case a.Suspended != "":
		return fmt.Sprintf("agent %s is %s", a.Name, a.Suspended)
	case a.StaysEnded:
		return fmt.Sprintf("agent %s was drained by a user and stays stopped", a.Name)
	}
	// the recursion ends, because watchdogs cannot watch each other's triage agents in a cycle
	if o := wd.tier(a.TriageOf); o != nil {
		if why := wd.whyPaused(wd.city.Agent(o.want.Watches)); why != "" {
			return fmt.Sprintf("it watches the triage agent of watchdog %s, and that watchdog "+
				"is suspended: %s", o.want.Name, why)
		}
	}
	return ""
}

func (wd *Watchdogs) beginBeat(t *tier) {
	if wd.reading[t.want.Name] { // the read in flight starts the beat
		return
	}
	wd.reading[t.want.Name] = true
	wd.out.Do(effect.ReadHeartbeat{Tier: t.want.Name, Path: t.want.Heartbeat})
}

// HeartbeatRead handles the content of a heartbeat file and continues the beat.
func (wd *Watchdogs) HeartbeatRead(now time.Time, in effect.HeartbeatRead) {
	delete(wd.reading, in.Tier)
	t := wd.tier(in.Tier)
	if t == nil {
		return
	}
	instead := t.fallback
	t.fallback = ""
	if t.paused != "" {
		return
	}
	if in.Path != t.want.Heartbeat { // from an earlier configuration
		t.fallback = instead
		wd.beginBeat(t)
		return
	}
	if t.beat != nil {
		return
	}
	if in.Problem == "" {
		t.agents = in.Agents
		t.heartbeat = t.heartbeat.Update(in.Stamp, t.readAt, now)
	}
	if t.checkedAt = now; !in.ReadFailed {
		t.readAt = now
	}
	wd.out.Note(&t.problem, in.Problem)
	a := wd.city.Agent(t.want.Watches)
	if a == nil {
		return
	}
	f := wd.facts(now, t, a)
	v := watchdog.Judge(t.spec(), f)
	if instead != "" {
		wd.judged(now, t, v, judgement{by: thresholds, why: instead})
		return
	}
	var recovered bool
	if t.chain, recovered = t.chain.Before(wd.lastSign(now, t, a), f, v); recovered ||
		t.escalation != nil && t.chain.Failed == 0 {
		wd.recovered(t)
	}
	// the facts now include the failure of the previous beat
	f = wd.facts(now, t, a)
	v = watchdog.Judge(t.spec(), f)
	wd.escalate(now, t, v.Reason)
	if wd.triage(now, t, a, f, v) {
		return
	}
	wd.judged(now, t, v, judgement{by: thresholds})
}

func (t *tier) spec() watchdog.Spec {
	return watchdog.Spec{Fresh: t.want.Fresh, VeryStale: t.want.VeryStale}
}

// facts returns what t's watchdog judges. Heartbeats from before the session, or from before the end of the program's
// latest stall, do not count.
func (wd *Watchdogs) facts(now time.Time, t *tier, a *Agent) watchdog.Facts {
	f := watchdog.Facts{
		Alive: a.Alive, Starting: a.Starting && a.TriageOf == "", Stopping: a.Ending,
		IsTriage: a.TriageOf != "", NoHeartbeat: true, Problem: t.problem, Mail: a.Mail,
		Frozen: a.Alive && a.Life.Frozen, Stuck: a.Stuck,
		Gate:       a.Gate,
		CannotType: a.CannotType,
		Wakes:      t.chain.Wakes,
	}
	if !a.Alive {
		f.EndState = a.State.Is()
		if a.Reason != "" {
			f.EndState += " (" + a.Reason + ")"
		}
	}
	age, known := t.life.Age(now)
	if f.IsTriage || !known {
		age = now.Sub(t.since)
	}
	if !wd.city.StalledUntil().IsZero() {
		age = min(age, now.Sub(wd.city.StalledUntil()))
	}
	f.Age = max(0, age)
	if age, ok := wd.lastSign(now, t, a).Age(now); ok && age <= f.Age {
		f.Age, f.NoHeartbeat = age, false
	}
	if ahead := watchdog.Ahead(t.heartbeat.Stamp, now); f.Problem == "" && ahead != "" {
		f.Problem = ahead
	}
	if a.Alive && !a.LastOutput.IsZero() {
		f.SilentKnown, f.Silent = true, max(0, now.Sub(a.LastOutput))
	}
	return f
}

// agentsOf returns what the latest heartbeat says about other agents, unless it is older than the running session.
func (t *tier) agentsOf(f watchdog.Facts) watchdog.Agents {
	if f.Alive && f.NoHeartbeat {
		return watchdog.Agents{}
	}
	return t.agents
}

func (wd *Watchdogs) lastSign(now time.Time, t *tier, a *Agent) watchdog.Sighting {
	o := wd.tier(a.TriageOf)
	if o == nil || o.decidedAt.IsZero() {
		return t.heartbeat
	}
	if age, ok := t.heartbeat.Age(now); ok && age < now.Sub(o.decidedAt) {
		return t.heartbeat
	}
	return watchdog.Sighting{}.Update(o.decidedAt, time.Time{}, o.decidedAt)
}

// Stalled restarts all intervals and deadlines after a stall of the program, because the agents might have stalled too.
func (wd *Watchdogs) Stalled(now time.Time) {
	for _, t := range wd.tiers {
		t.next = time.Time{}
		if b := t.beat; b != nil {
			b.until = now.Add(t.want.TriageTTL)
		}
	}
}

// Next returns the earlier of t and the next time at which a watchdog is due. A zero t means no time.
func (wd *Watchdogs) Next(now, t time.Time) time.Time {
	sooner := func(at time.Time) {
		if at.After(now) {
			t = step.Earlier(t, at)
		}
	}
	for _, w := range wd.tiers {
		sooner(w.next)
		if w.beat != nil {
			sooner(w.beat.until)
		}
		if a := wd.city.Agent(w.want.Triage); a != nil && a.Request != nil {
			sooner(a.Request.Until)
		}
	}
	return t
}

// Problems returns the reasons why watchdogs cannot send their calls.
func (wd *Watchdogs) Problems() (out []string) {
	for _, t := range wd.tiers {
		if t.escalationProblem != "" {
			out = append(out, fmt.Sprintf("watchdog %s cannot send its call to %s and "+
				"retries at each check: %s", t.want.Name, t.want.EscalateTo, t.escalationProblem))
		}
	}
	return out
}

func (wd *Watchdogs) Snapshot(now time.Time) []city.Watchdog {
	var out []city.Watchdog
	for _, t := range wd.tiers {
		out = append(out, wd.drawTier(now, t))
	}
	return out
}

func (wd *Watchdogs) drawTier(now time.Time, t *tier) city.Watchdog {
	w := &t.want
	v := city.Watchdog{
		Name: w.Name, Watches: w.Watches, Triage: w.Triage, Every: w.Every, Fresh: w.Fresh,
		VeryStale: w.VeryStale,
		Mode:      city.ByThresholds, Degraded: t.degraded, Last: t.last,
		Recent: slices.Clone(t.recent), Failed: t.chain.Failed, Escalated: t.escalation,
		Suspended: t.paused != "", Source: w.Origin.String(),
	}
	if w.Triage != "" {
		v.TTL = w.TriageTTL
		if why := wd.noTriage(t); why == "" {
			v.Mode = city.ByTriage
		} else {
			v.Degraded = why
		}
	}
	if !t.next.IsZero() {
		v.Next = new(t.next)
	}
	if b := t.beat; b != nil {
		v.Triaged = &city.TriageRun{Since: b.at, Until: b.until, Beat: b.id}
	}
	a := wd.city.Agent(w.Watches)
	if a == nil {
		v.Freshness = city.Dead
		return v
	}
	at := now
	// show the age at the last check of the file
	checked := !t.checkedAt.IsZero() && !t.life.SeenAfter(t.checkedAt)
	if checked {
		at = t.checkedAt
	}
	f, sign := wd.facts(at, t, a), wd.lastSign(at, t, a)
	v.Freshness, v.Mail, v.Problem = city.Freshness(watchdog.Class(t.spec(), f)), f.Mail, f.Problem
	if f.CannotType != "" && v.Mode == city.ByThresholds {
		v.Mode = city.ByRestart
	}
	if !checked && a.Alive && !f.IsTriage && v.Freshness != city.Fresh {
		// the age of the session shows only that the heartbeat, if there is one, is not older
		v.Freshness = city.Unchecked
		return v
	}
	agents := t.agentsOf(f)
	v.HealthyAgents, v.UnhealthyAgents = agents.Healthy, agents.Unhealthy
	switch {
	case !sign.Stamp.IsZero() && (!f.NoHeartbeat || !a.Alive):
		v.Heartbeat = new(sign.Time())
	case a.Alive:
		began := a.Life.Started
		if wd.city.StalledUntil().After(began) {
			began = wd.city.StalledUntil()
		}
		v.Heartbeat = &began
	}
	return v
}
