package machine

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/step"
	"gcity/events"
	"gcity/session"
)

// looks is what the machine knows of the looks at all sessions.
type looks struct {
	m *Machine

	listed  bool // sessions were listed at least once
	listing bool // a list effect is in flight
	relist  bool // and another is to follow
	// providers that have not answered any look so far: agents that were not seen may run there
	dark map[string]bool
	// providers that did not answer the newest look, or were late for it and still are
	unknown  map[string]error
	awaited  int    // answers of late ones that are to come
	ordered  uint64 // turn in which the newest look was ordered
	unlisted string // why sessions cannot be listed
}

// observed compares what runs with what was believed to run. What the machine did to an agent after the look was
// ordered is newer than the look, and wins.
func (lk *looks) observed(now time.Time, in effect.Listed) {
	lk.listing = false
	unknown, partly := effect.Partly(in.Err)
	first := !lk.listed
	lk.listed = lk.listed || in.Err == nil || partly
	if lk.relist { // only now: one look alone is the first that shows sessions
		lk.relist = false
		lk.look()
	}
	if in.Err != nil && !partly {
		lk.m.step.Note(&lk.unlisted, "sessions cannot be listed: "+in.Err.Error())
		if !lk.listed {
			lk.m.commands.refuseAll(lk.m.loader.waiting, city.Unavailable, lk.unlisted)
			for _, w := range lk.m.loader.waiting {
				delete(lk.m.loader.confirms, w.id)
			}
			lk.m.loader.waiting = nil
		}
		if lk.m.ending == stopAgents {
			lk.m.finale.relook = now.Add(stopRetry)
		}
		return
	}
	lit := lk.enlighten(first, unknown)
	if in.Past != nil {
		lk.m.journal.past = in.Past.Recorded // a session may be shown later than in the first look
		lk.m.journal.inheritEnds(now, in.Past, in.Sessions)
	}
	for i := range in.Sessions {
		lk.see(now, &in.Sessions[i], in.Past, sight{turn: in.Turn})
	}
	lk.lit(now, first, lit)
	lk.miss(now, in.Turn, func(*record) bool { return true })
	lk.m.order = slices.DeleteFunc(lk.m.order, func(a *record) bool {
		if a.sess.seen == lk.m.turn || !a.gone() || a.act.queued > 0 || len(a.typing) > 0 ||
			a.act.opTurn > in.Turn || a.remembered(now) {
			return false
		}
		delete(lk.m.agents, a.name)
		lk.m.deps.after, lk.m.deps.named = nil, nil
		return true
	})
	lk.m.decideAll(now)
	if !partly {
		lk.m.finale.seenEmpty(now, in.Turn)
	} else if lk.m.ending == stopAgents {
		lk.m.finale.relook = now.Add(stopRetry)
	}
}

// enlighten takes down who did not answer. A provider that answered once has no session that this controller does
// not know of: nobody else starts any. lit: now all have, and not all had.
func (lk *looks) enlighten(first bool, unknown map[string]error) (lit bool) {
	before := lk.unknown
	lk.unknown = maps.Clone(unknown)
	for name, err := range lk.unknown {
		if !effect.IsLate(err) {
			continue
		}
		lk.awaited++
		if was := before[name]; was != nil { // it has failed before, and has not done better yet
			lk.unknown[name] = was
		}
	}
	lk.noteUnknown()
	if first {
		lk.dark = map[string]bool{}
		for name := range unknown {
			lk.dark[name] = true
		}
	}
	was := len(lk.dark)
	maps.DeleteFunc(lk.dark, func(name string, _ bool) bool { return unknown[name] == nil })
	return was > 0 && len(lk.dark) == 0
}

// noteUnknown shows who did not answer. Those that are late may still.
func (lk *looks) noteUnknown() {
	failed := &session.Partial{Unknown: maps.Clone(lk.unknown)}
	maps.DeleteFunc(failed.Unknown, func(_ string, err error) bool { return effect.IsLate(err) })
	problem := ""
	if len(failed.Unknown) > 0 {
		problem = "some sessions cannot be listed: " + failed.Error()
	}
	lk.m.step.Note(&lk.unlisted, problem)
}

// lit does what had to wait until it was known who runs.
func (lk *looks) lit(now time.Time, first, lit bool) {
	if lit { // what was guessed from who was found running was guessed too soon
		for _, p := range lk.m.sizes.poolOrder {
			p.settled, p.placed = p.settled && p.good, false
		}
	}
	if first || lit {
		lk.m.sizes.sizePools(now)
		if lk.m.loader.again {
			lk.m.loader.load()
		}
	}
}

// caughtUp takes the answer of a provider that was late, as a look of its own at the turn in which it was ordered.
func (lk *looks) caughtUp(now time.Time, in effect.ListedLate) {
	lk.awaited--
	lit := false
	_, waits := lk.unknown[in.Provider]
	switch {
	case in.Err != nil && !waits: // a newer look has had its answer: this one tells of nobody
		return
	case in.Err != nil:
		lk.unknown[in.Provider] = in.Err
	default:
		delete(lk.unknown, in.Provider)
		lit = lk.dark[in.Provider] && len(lk.dark) == 1
		delete(lk.dark, in.Provider)
	}
	lk.noteUnknown()
	if in.Past != nil {
		lk.m.journal.past = in.Past.Recorded
	}
	for i := range in.Sessions {
		lk.see(now, &in.Sessions[i], in.Past, sight{turn: in.Turn, rest: true})
	}
	lk.lit(now, false, lit)
	lk.miss(now, in.Turn, func(a *record) bool {
		return a.sess.life.Provider == in.Provider || a.sess.unsure && a.want != nil &&
			a.want.Spec.Provider == in.Provider
	})
	lk.m.decideAll(now)
	switch {
	case lk.m.ending != stopAgents:
	case len(lk.unknown) == 0:
		lk.m.finale.seenEmpty(now, in.Turn)
	default:
		lk.m.finale.relook = now.Add(stopRetry)
	}
}

// miss deals with those of some agents of whom a look has shown nothing.
func (lk *looks) miss(now time.Time, turn uint64, of func(*record) bool) {
	for _, a := range lk.m.order {
		if a.sess.seen == lk.m.turn || a.act.op != opNone || a.act.opTurn > turn || !of(a) {
			continue
		}
		var untold error
		if a.sess.alive {
			untold = lk.unknown[a.sess.life.Provider]
		}
		if a.sess.hazy = untold != nil && !effect.IsLate(untold); untold != nil ||
			a.sess.unsure && a.unknownIn(lk.unknown) {
			continue
		}
		a.sess.unsure = false
		if a.sess.alive {
			lk.m.died(now, a, session.Exit{
				Name: a.sess.life.Name, Agent: a.name, ID: a.sess.life.ID, Code: -1, Lost: true,
				At:     now,
				Uptime: now.Sub(a.sess.life.Started),
			})
		}
	}
}

// inTheDark says why an agent must not be started: it may run where nobody has been able to look so far (L11). ""
// = it does not.
func (lk *looks) inTheDark(a *record) string {
	if a.sess.met || len(lk.dark) == 0 {
		return ""
	}
	names := strings.Join(slices.Sorted(maps.Keys(lk.dark)), ", ")
	return "waits until the sessions of " + names + " can be listed, since it may run there"
}

// sight is a look of which a session is shown.
type sight struct {
	turn uint64 // in which it was ordered
	rest bool   // the other providers' sessions were shown before
}

// see takes one session of a look.
func (lk *looks) see(now time.Time, s *session.Status, past *effect.Inherited, of sight) {
	turn := of.turn
	a, known := lk.m.agents[s.Agent]
	if !known {
		if !s.Alive && s.Exit == nil {
			return
		}
		a = lk.m.record(now, s.Agent)
		lk.m.sizes.member(a)
	}
	twice := a.sess.seen == lk.m.turn || of.rest && a.sess.life.Provider != s.Provider &&
		a.act.op == opNone &&
		a.act.opTurn <= turn
	if known && twice && s.Alive && a.sess.alive && a.sess.life.ID != s.ID {
		lk.m.decided(now, a, "kill", fmt.Sprintf("a second session, %s", s.ID))
		lk.m.step.Do(effect.Kill{Agent: a.name, Session: s.Name})
		return
	}
	a.sess.seen = lk.m.turn
	if a.act.op != opNone || a.act.opTurn > turn {
		return
	}
	a.sess.unsure, a.sess.hazy, a.sess.looked, a.sess.fresh = false, false, turn, now
	switch {
	case s.Alive:
		lk.seeAlive(now, a, s)
	case s.ID == a.sess.lastEnd:
		if f := (effect.Acknowledge{Agent: a.name, Session: s.Name, ID: s.ID}); turn >
			a.act.ackTurn &&
			!slices.Contains(a.act.acks, f) {
			a.act.acks = append(a.act.acks, f)
		}
	case s.Exit != nil && a.sess.alive && a.sess.life.ID != s.ID:
		// of an earlier life, under another name
		if f := (effect.Acknowledge{Agent: a.name, Session: s.Name, ID: s.ID}); !slices.Contains(
			a.act.acks, f) {
			a.act.acks = append(a.act.acks, f)
			if past.Lacks(s.ID) {
				lk.tellLateEnd(a, s.Exit)
			}
		}
	case s.Exit != nil && s.Exit.Asked:
		// the result of the stop did not say so, or a start was cut short
		untold := past.Lacks(s.ID) || past == nil && (a.act.canceled || a.sess.alive)
		a.sess.life, a.sess.alive = *s, false
		lk.m.ended(now, a, s.ID)
		if untold {
			lk.tellLateEnd(a, s.Exit)
		}
	case s.Exit != nil:
		a.sess.life = *s
		lk.m.died(now, a, *s.Exit)
	}
}

// tellLateEnd records the end of a life that only a look shows: it was stopped, or ended before the present one
// began.
func (lk *looks) tellLateEnd(a *record, x *session.Exit) {
	if a.called() {
		return
	}
	e := events.Event{Type: events.AgentStopped, Message: "stopped",
		Payload: effect.ExitPayload(*x)}
	if !x.Asked {
		e.Message = effect.Death(x).String() + ", before the present session began"
	}
	if !x.Asked && !x.Lost && x.Code != 0 {
		e.Type = events.AgentCrashed
	}
	lk.m.journal.tellEnd(a, *x, e)
}

func (lk *looks) seeAlive(now time.Time, a *record, s *session.Status) {
	a.sess.met = true
	if !a.sess.alive || a.sess.life.ID != s.ID {
		a.sess.alive, a.sess.ready, a.finish.drain = true, s.Ready, nil
		// what it waited for has come
		a.rest.notBefore, a.rest.hold, a.rest.holdWhy = time.Time{}, "", ""
		a.act.because = "adopted: it ran already when this controller began"
		if s.Ready {
			lk.m.set(now, a, city.Running, a.act.because, time.Time{})
			a.since = s.Started
		}
		lk.m.decided(now, a, "adopt", orDefault(step.Numbered(s.PID, "pid %d"), "it")+
			" was running already")
		a.sess.life = *s
		lk.m.drains.resume(now, a)
	} else if a.sess.life.Attached != s.Attached || a.sess.life.Frozen != s.Frozen ||
		!a.sess.life.Silent.Equal(s.Silent) || !a.sess.life.Activity.Equal(s.Activity) {
		lk.m.step.Changed = true
	}
	a.heard(now, s, a.sess.life.ID != s.ID)
	marks := a.sess.life.Drain
	a.sess.life = *s
	if a.finish.marking || a.finish.markTurn > a.sess.looked { // the look is older than the marks
		a.sess.life.Drain = marks
	} else if a.finish.drain != nil && s.Drain.Acked && !a.finish.drain.acked {
		a.finish.drain.acked, lk.m.step.Changed = true, true
	}
}
