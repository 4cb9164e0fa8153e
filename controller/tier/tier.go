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

// tier is one watchdog: memory that is kept by name over configurations (L6). What it thinks of an agent is made
// of what lives and of what lies there, at each beat anew; nothing of it is written down.
type tier struct {
	want  config.Watchdog
	since time.Time // when it was first seen, or began to beat again
	next  time.Time // beat; zero = it does not beat, for rests
	rests string

	instead  string    // of a triage, and why: the look is for the thresholds to judge by
	asked    []uint64  // commands that wait for what it comes to
	beat     *beat     // with the triage; nil = none is
	looked   time.Time // when the newest look came back
	read     time.Time // and the newest that could see what lies there; zero = none of this file
	word     time.Time // when its triage has decided last; zero = never
	problem  string    // with the file
	hb, life watchdog.Sight
	agents   watchdog.Agents // as the newest heartbeat reports them
	lifeID   string

	chain    watchdog.Chain
	degraded string
	typing   uint64    // ID of the newest text; 0 = it was typed or given up
	typed    time.Time // of the judgement that it is of
	last     *city.Judgement
	recent   []city.Judgement
	esc      *city.Escalation
	unposted string // why the mail of it has not been sent; "" = it has
	owed     bool   // mail is to be sent
	line     string // of a command that is to be run for it; "" = none
}

// beat is one that a triage judges.
type beat struct {
	id      string
	at      time.Time
	until   time.Time // then the thresholds do
	session string    // of the watched agent, as the facts have it; "" = none
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
			wd.retract(now, t, "its watchdog watches another one by now")
			t = &tier{want: *w, since: now, asked: t.asked}
		default:
			if t.want.Triage != w.Triage {
				wd.abandon(now, t)
				t.degraded, t.word = "", time.Time{}
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
			wd.retract(now, t, "its watchdog is declared no more")
			wd.answerBeat(t, fmt.Sprintf("watchdog %s is declared no more", t.want.Name))
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

// Watch brings all watchdogs as far as they get. Level-triggered, as decide is.
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
	if why := wd.whyRest(a); why != t.rests {
		if why == "" {
			t.since = now
		}
		t.rests, wd.out.Changed = why, true
	}
	if t.rests != "" {
		if !t.next.IsZero() {
			t.next, wd.out.Changed = time.Time{}, true
		}
		wd.abandon(now, t)
		wd.answerBeat(t, fmt.Sprintf("watchdog %s does not beat: %s", t.want.Name, t.rests))
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

// whyRest says why nobody looks after an agent just now.
func (wd *Watchdogs) whyRest(a *Agent) string {
	switch {
	case !wd.city.Running():
		return "the city is being stopped"
	case a == nil || !a.Declared:
		return "the agent that it watches is not declared"
	case a.Suspended != "":
		return fmt.Sprintf("agent %s is suspended %s", a.Name, a.Suspended)
	case a.KeptEnded:
		return fmt.Sprintf("agent %s was drained by operator, and stays ended", a.Name)
	}
	if o := wd.tier(a.TriageOf); o != nil { // triages do not watch each other in a circle
		if why := wd.whyRest(wd.city.Agent(o.want.Watches)); why != "" {
			return fmt.Sprintf("watchdog %s, whose triage it watches, does not beat: %s",
				o.want.Name, why)
		}
	}
	return ""
}

// beginBeat looks first: once, and nobody looks in between.
func (wd *Watchdogs) beginBeat(t *tier) {
	if wd.glancing[t.want.Name] { // it beats by that
		return
	}
	wd.glancing[t.want.Name] = true
	wd.out.Do(effect.ReadHeartbeat{Tier: t.want.Name, Path: t.want.Heartbeat})
}

// HeartbeatRead takes what the heartbeat's file says, and goes on with the beat.
func (wd *Watchdogs) HeartbeatRead(now time.Time, in effect.HeartbeatRead) {
	delete(wd.glancing, in.Tier)
	t := wd.tier(in.Tier)
	if t == nil {
		return
	}
	instead := t.instead
	t.instead = ""
	if t.rests != "" {
		return
	}
	if in.Path != t.want.Heartbeat { // of the configuration before
		t.instead = instead
		wd.beginBeat(t)
		return
	}
	if t.beat != nil { // with a triage already
		return
	}
	if in.Problem == "" {
		t.agents = in.Agents
		t.hb = t.hb.See(in.Stamp, t.read, now)
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
	f = wd.facts(now, t, a) // with the failure of the beat before
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

// facts are what is known of whom a tier watches. A heartbeat from before its session began says nothing of it,
// and nobody could write one while the whole program stood still.
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
	if ahead := watchdog.Ahead(t.hb.Stamp, now); f.Problem == "" && ahead != "" {
		f.Problem = ahead
	}
	if a.Alive && !a.Spoke.IsZero() {
		f.Speaks, f.Silent = true, max(0, now.Sub(a.Spoke))
	}
	return f
}

// heard is the newest sign of whom a tier watches: its heartbeat, or, of another tier's triage, what that has
// decided.
func (wd *Watchdogs) heard(now time.Time, t *tier, a *Agent) watchdog.Sight {
	o := wd.tier(a.TriageOf)
	if o == nil || o.word.IsZero() {
		return t.hb
	}
	if age, ok := t.hb.Age(now); ok && age < now.Sub(o.word) {
		return t.hb
	}
	return watchdog.Sight{}.See(o.word, time.Time{}, o.word)
}

// Waken puts off all beats, and gives triages their time anew, when the whole program has stood still: the agents
// may have, too.
func (wd *Watchdogs) Waken(now time.Time) {
	for _, t := range wd.tiers {
		t.next = time.Time{}
		if b := t.beat; b != nil {
			b.until = now.Add(t.want.TriageTTL)
		}
	}
}

// Next is when watchdogs want to be looked at again.
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

// Problems are what keeps watchdogs from telling somebody.
func (wd *Watchdogs) Problems() (out []string) {
	for _, t := range wd.tiers {
		if t.unposted != "" {
			out = append(out, fmt.Sprintf("watchdog %s cannot write to %s, and tries again with "+
				"each beat: %s", t.want.Name, t.want.EscalateTo, t.unposted))
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
		Suspended: t.rests != "", Source: w.Origin.String(), HealthyAgents: t.agents.Healthy,
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
	// whether it has said something since, nobody knows
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
