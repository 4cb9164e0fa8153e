package tier

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/config"
	"gcity/controller/effect"
	"gcity/watchdog"
)

// tier is one watchdog. Its state survives reloads, by name (L6). Its judgement uses only current facts, at each
// beat; nothing is stored on disk.
type tier struct {
	want   config.Watchdog
	since  time.Time // when it was first seen, or last resumed
	next   time.Time // the next beat; zero = it is paused
	paused string

	instead         string    // why the thresholds judge this beat instead of the triage
	asked           []uint64  // commands that wait for the result
	beat            *beat     // that a triage is judging; nil = it judges no beat
	looked          time.Time // when the newest heartbeat was read
	read            time.Time // the same, but only if the file could be read; zero = never
	decidedAt       time.Time // when the triage decided last; zero = never
	problem         string    // with the heartbeat file
	heartbeat, life watchdog.Sight
	agents          watchdog.Agents // as reported in the newest heartbeat
	lifeID          string

	chain    watchdog.Chain
	degraded string
	typing   uint64    // ID of the newest text; 0 = it was typed or given up
	typed    time.Time // time of the judgement that sent the text
	last     *city.Judgement
	recent   []city.Judgement
	esc      *city.Escalation
	unposted string // why the escalation was not sent; "" = it was
	unsent   bool   // the escalation still has to be sent
	command  string // escalate_command that still has to run; "" = it has run
}

// beat is a beat that a triage judges.
type beat struct {
	id      string
	at      time.Time
	until   time.Time // then the thresholds judge
	session string    // of the watched agent when the beat began; "" = it had no session
}

// Adopt takes the watchdogs of a new configuration.
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
			wd.retract(now, t, "its watchdog now watches another agent")
			t = &tier{want: *w, since: now, asked: t.asked}
		default:
			if t.want.Triage != w.Triage {
				wd.abandon(now, t)
				t.degraded, t.decidedAt = "", time.Time{}
			}
			if t.want.Heartbeat != w.Heartbeat {
				t.read, t.agents = time.Time{}, watchdog.Agents{}
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
			wd.retract(now, t, "its watchdog was removed")
			wd.answerBeat(t, fmt.Sprintf("watchdog %s was removed", t.want.Name))
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

// Watch advances all watchdogs. It is level-triggered, like Machine.decide.
func (wd *Watchdogs) Watch(now time.Time) {
	if wd.city.Settling() || !wd.city.Listed() {
		return
	}
	for _, t := range wd.tiers {
		wd.watchOne(now, t)
	}
}

func (wd *Watchdogs) watchOne(now time.Time, t *tier) {
	a := wd.city.Agent(t.want.Watches)
	if a != nil && a.Alive && a.Life.ID != t.lifeID {
		t.lifeID, t.life = a.Life.ID, watchdog.Sight{}.See(a.Life.Started, time.Time{},
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
		wd.answerBeat(t, fmt.Sprintf("watchdog %s is paused: %s", t.want.Name, t.paused))
		return
	}
	if t.next.IsZero() {
		t.next, wd.out.Changed = now.Add(t.want.Every), true
	}
	if t.beat != nil {
		if why := wd.noTriage(t); why != "" {
			wd.instead(now, t, why)
		}
	}
	if t.beat != nil && !now.Before(t.beat.until) {
		wd.instead(now, t, wd.overdueTriage(t))
	}
	if !now.Before(t.next) {
		t.next, wd.out.Changed = now.Add(t.want.Every), true
		if t.beat == nil {
			wd.beginBeat(t)
		}
	}
}

// whyPaused returns why a watchdog is paused, "" if it is not.
func (wd *Watchdogs) whyPaused(a *Agent) string {
	switch {
	case !wd.city.Running():
		return "the city is being stopped"
	case a == nil || !a.Declared:
		return "the agent that it watches is not declared"
	case a.Suspended != "":
		return fmt.Sprintf("agent %s is suspended %s", a.Name, a.Suspended)
	case a.KeptEnded:
		return fmt.Sprintf("agent %s was drained by operator and stays stopped", a.Name)
	}
	if o := wd.tier(a.TriageOf); o != nil { // two triages that watch each other must not recurse
		if why := wd.whyPaused(wd.city.Agent(o.want.Watches)); why != "" {
			return fmt.Sprintf("watchdog %s is paused, and its triage is watched: %s",
				o.want.Name, why)
		}
	}
	return ""
}

// beginBeat reads the heartbeat first, at most once at a time.
func (wd *Watchdogs) beginBeat(t *tier) {
	if wd.reading[t.want.Name] { // the read in flight starts the beat
		return
	}
	wd.reading[t.want.Name] = true
	wd.out.Do(effect.ReadHeartbeat{Tier: t.want.Name, Path: t.want.Heartbeat})
}

// HeartbeatRead takes the content of the heartbeat file and continues the beat.
func (wd *Watchdogs) HeartbeatRead(now time.Time, in effect.HeartbeatRead) {
	delete(wd.reading, in.Tier)
	t := wd.tier(in.Tier)
	if t == nil {
		return
	}
	instead := t.instead
	t.instead = ""
	if t.paused != "" {
		return
	}
	if in.Path != t.want.Heartbeat { // of the previous configuration
		t.instead = instead
		wd.beginBeat(t)
		return
	}
	if t.beat != nil { // a triage is already judging
		return
	}
	if in.Problem == "" {
		t.agents = in.Agents
		t.heartbeat = t.heartbeat.See(in.Stamp, t.read, now)
	}
	if t.looked = now; !in.Unread {
		t.read = now
	}
	wd.out.Note(&t.problem, in.Problem)
	a := wd.city.Agent(t.want.Watches)
	if a == nil {
		return
	}
	f := wd.facts(now, t, a)
	v := watchdog.Judge(t.spec(), f)
	if instead != "" {
		wd.judged(now, t, v, judge{by: thresholds, why: instead})
		return
	}
	var recovered bool
	if t.chain, recovered = t.chain.Before(wd.heard(now, t, a), f, v); recovered ||
		t.esc != nil && t.chain.Failed == 0 {
		wd.recovered(t)
	}
	f = wd.facts(now, t, a) // now with the failure of the previous beat
	v = watchdog.Judge(t.spec(), f)
	wd.escalate(now, t, v.Reason)
	if wd.triage(now, t, a, f, v) {
		return
	}
	wd.judged(now, t, v, judge{by: thresholds})
}

func (t *tier) spec() watchdog.Spec {
	return watchdog.Spec{Fresh: t.want.Fresh, VeryStale: t.want.VeryStale}
}

// facts returns what is known of the watched agent. A heartbeat from before its session is ignored, and a stall of
// the whole program does not count.
func (wd *Watchdogs) facts(now time.Time, t *tier, a *Agent) watchdog.Facts {
	f := watchdog.Facts{
		Alive: a.Alive, Starts: a.Starting && a.TriageOf == "", Stops: a.Ending,
		Called: a.TriageOf != "", Never: true, Problem: t.problem, Mail: a.Mail,
		Frozen: a.Alive && a.Life.Frozen, Stuck: a.Stuck,
		Gate:     a.Gate,
		CannotBe: a.CannotType,
		Wakes:    t.chain.Wakes,
	}
	if !a.Alive {
		f.Gone = string(a.State)
		if a.Reason != "" {
			f.Gone += ", " + a.Reason
		}
	}
	age, known := t.life.Age(now)
	if f.Called || !known {
		age = now.Sub(t.since)
	}
	if !wd.city.Awake().IsZero() {
		age = min(age, now.Sub(wd.city.Awake()))
	}
	f.Age = max(0, age)
	if age, ok := wd.heard(now, t, a).Age(now); ok && age <= f.Age {
		f.Age, f.Never = age, false
	}
	if ahead := watchdog.Ahead(t.heartbeat.Stamp, now); f.Problem == "" && ahead != "" {
		f.Problem = ahead
	}
	if a.Alive && !a.Spoke.IsZero() {
		f.Speaks, f.Silent = true, max(0, now.Sub(a.Spoke))
	}
	return f
}

// heard returns the newest sign of life: the heartbeat or, for the triage of another watchdog, its newest decision.
func (wd *Watchdogs) heard(now time.Time, t *tier, a *Agent) watchdog.Sight {
	o := wd.tier(a.TriageOf)
	if o == nil || o.decidedAt.IsZero() {
		return t.heartbeat
	}
	if age, ok := t.heartbeat.Age(now); ok && age < now.Sub(o.decidedAt) {
		return t.heartbeat
	}
	return watchdog.Sight{}.See(o.decidedAt, time.Time{}, o.decidedAt)
}

// Waken restarts all intervals and triage deadlines after a stall of the whole program, because the agents may have
// stalled too.
func (wd *Watchdogs) Waken(now time.Time) {
	for _, t := range wd.tiers {
		t.next = time.Time{}
		if b := t.beat; b != nil {
			b.until = now.Add(t.want.TriageTTL)
		}
	}
}

// Next returns when a watchdog is due next.
func (wd *Watchdogs) Next(now, by time.Time) time.Time {
	sooner := func(at time.Time) {
		if at.After(now) && (by.IsZero() || at.Before(by)) {
			by = at
		}
	}
	for _, t := range wd.tiers {
		sooner(t.next)
		if t.beat != nil {
			sooner(t.beat.until)
		}
		if a := wd.city.Agent(t.want.Triage); a != nil && a.Summons != nil {
			sooner(a.Summons.Until)
		}
	}
	return by
}

// Problems returns why escalations cannot be sent.
func (wd *Watchdogs) Problems() (out []string) {
	for _, t := range wd.tiers {
		if t.unposted != "" {
			out = append(out, fmt.Sprintf("watchdog %s cannot send its escalation to %s; it "+
				"retries at each beat: %s", t.want.Name, t.want.EscalateTo, t.unposted))
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
		Recent: slices.Clone(t.recent), Failed: t.chain.Failed, Escalated: t.esc,
		Suspended: t.paused != "", Source: w.Origin.String(), HealthyAgents: t.agents.Healthy,
		UnhealthyAgents: t.agents.Unhealthy,
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
		next := t.next
		v.Next = &next
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
	// newer signs of life are not known
	if !t.looked.IsZero() && !t.life.SeenAfter(t.looked) {
		at = t.looked
	}
	f, sign := wd.facts(at, t, a), wd.heard(at, t, a)
	v.Freshness, v.Mail, v.Problem = city.Freshness(watchdog.Class(t.spec(), f)), f.Mail, f.Problem
	if f.CannotBe != "" && v.Mode == city.ByThresholds {
		v.Mode = city.ByRestart
	}
	switch {
	case !sign.Stamp.IsZero() && (!f.Never || !a.Alive):
		at := sign.Time()
		v.Heartbeat = &at
	case a.Alive:
		began := a.Life.Started
		if wd.city.Awake().After(began) {
			began = wd.city.Awake()
		}
		v.Heartbeat = &began
	}
	return v
}
