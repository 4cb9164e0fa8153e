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

// looks is what is known from the lists of all sessions.
type looks struct {
	m *Machine

	listed  bool // sessions were listed at least once
	listing bool // a list effect is in flight
	relist  bool // another list follows
	// providers that never answered so far; agents that were not seen may run there
	unlistedProviders map[string]bool
	// providers that did not answer the newest list, or are still late
	unknown  map[string]error
	awaited  int    // late answers that are still missing
	ordered  uint64 // turn in which the newest list was requested
	unlisted string // why sessions cannot be listed
}

// observed compares the sessions with the records. Actions after the list was requested are newer and win.
func (lk *looks) observed(now time.Time, in effect.Listed) {
	lk.listing = false
	unknown, partly := effect.Partly(in.Err)
	first := !lk.listed
	lk.listed = lk.listed || in.Err == nil || partly
	if lk.relist { // the first list alone must show sessions
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
	lit := lk.noteAnswers(first, unknown)
	if in.Past != nil {
		lk.m.journal.past = in.Past.Recorded // later lists may show more of its sessions
		lk.m.journal.inheritEnds(now, in.Past, in.Sessions)
	}
	for i := range in.Sessions {
		lk.see(now, &in.Sessions[i], in.Past, sight{turn: in.Turn})
	}
	lk.allListed(now, first, lit)
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

// noteAnswers notes which providers answered. After its first answer, all sessions of a provider are known, since
// only this controller starts any. lit reports that all have now answered for the first time.
func (lk *looks) noteAnswers(first bool, unknown map[string]error) (lit bool) {
	before := lk.unknown
	lk.unknown = maps.Clone(unknown)
	for name, err := range lk.unknown {
		if !effect.IsLate(err) {
			continue
		}
		lk.awaited++
		if was := before[name]; was != nil { // it has failed before and did not recover
			lk.unknown[name] = was
		}
	}
	lk.noteUnknown()
	if first {
		lk.unlistedProviders = map[string]bool{}
		for name := range unknown {
			lk.unlistedProviders[name] = true
		}
	}
	was := len(lk.unlistedProviders)
	maps.DeleteFunc(lk.unlistedProviders, func(name string, _ bool) bool {
		return unknown[name] == nil
	})
	return was > 0 && len(lk.unlistedProviders) == 0
}

// noteUnknown shows the providers that did not answer. Late ones may still.
func (lk *looks) noteUnknown() {
	failed := &session.Partial{Unknown: maps.Clone(lk.unknown)}
	maps.DeleteFunc(failed.Unknown, func(_ string, err error) bool { return effect.IsLate(err) })
	problem := ""
	if len(failed.Unknown) > 0 {
		problem = "some sessions cannot be listed: " + failed.Error()
	}
	lk.m.step.Note(&lk.unlisted, problem)
}

// allListed continues what waited until all sessions are known.
func (lk *looks) allListed(now time.Time, first, lit bool) {
	if lit { // earlier sizes were guessed from an incomplete list
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

// caughtUp takes a late answer of a provider, as a list requested in that turn.
func (lk *looks) caughtUp(now time.Time, in effect.ListedLate) {
	lk.awaited--
	lit := false
	_, waits := lk.unknown[in.Provider]
	switch {
	case in.Err != nil && !waits: // a newer list was answered, so this error is irrelevant
		return
	case in.Err != nil:
		lk.unknown[in.Provider] = in.Err
	default:
		delete(lk.unknown, in.Provider)
		lit = lk.unlistedProviders[in.Provider] && len(lk.unlistedProviders) == 1
		delete(lk.unlistedProviders, in.Provider)
	}
	lk.noteUnknown()
	if in.Past != nil {
		lk.m.journal.past = in.Past.Recorded
	}
	for i := range in.Sessions {
		lk.see(now, &in.Sessions[i], in.Past, sight{turn: in.Turn, rest: true})
	}
	lk.allListed(now, false, lit)
	lk.miss(now, in.Turn, func(a *record) bool {
		return a.sess.life.Provider == in.Provider || a.sess.startUnclear && a.want != nil &&
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

// miss handles agents that a list did not show.
func (lk *looks) miss(now time.Time, turn uint64, of func(*record) bool) {
	for _, a := range lk.m.order {
		if a.sess.seen == lk.m.turn || a.act.op != opNone || a.act.opTurn > turn || !of(a) {
			continue
		}
		var untold error
		if a.sess.alive {
			untold = lk.unknown[a.sess.life.Provider]
		}
		if a.sess.uncertain = untold != nil && !effect.IsLate(untold); untold != nil ||
			a.sess.startUnclear && a.unknownIn(lk.unknown) {
			continue
		}
		a.sess.startUnclear = false
		if a.sess.alive {
			lk.m.died(now, a, session.Exit{
				Name: a.sess.life.Name, Agent: a.name, ID: a.sess.life.ID, Code: -1, Lost: true,
				At:     now,
				Uptime: now.Sub(a.sess.life.Started),
			})
		}
	}
}

// mayRunUnlisted returns why an agent must not start: it may run at a provider that has never answered (L11). "" = it
// may start.
func (lk *looks) mayRunUnlisted(a *record) string {
	if a.sess.seenAlive || len(lk.unlistedProviders) == 0 {
		return ""
	}
	names := strings.Join(slices.Sorted(maps.Keys(lk.unlistedProviders)), ", ")
	return "waits until the sessions of " + names + " can be listed, because it may run there"
}

// sight is the list that shows a session.
type sight struct {
	turn uint64 // turn of the request
	rest bool   // the other providers answered earlier
}

// see takes one session of a list.
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
	a.sess.startUnclear, a.sess.uncertain, a.sess.looked, a.sess.fresh = false, false, turn, now
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
		// an earlier session under another name
		if f := (effect.Acknowledge{Agent: a.name, Session: s.Name, ID: s.ID}); !slices.Contains(
			a.act.acks, f) {
			a.act.acks = append(a.act.acks, f)
			if past.Lacks(s.ID) {
				lk.recordLateEnd(a, s.Exit)
			}
		}
	case s.Exit != nil && s.Exit.Asked:
		// the stop did not report it, or a start was canceled
		untold := past.Lacks(s.ID) || past == nil && (a.act.canceled || a.sess.alive)
		a.sess.life, a.sess.alive = *s, false
		lk.m.ended(now, a, s.ID)
		if untold {
			lk.recordLateEnd(a, s.Exit)
		}
	case s.Exit != nil:
		a.sess.life = *s
		lk.m.died(now, a, *s.Exit)
	}
}

// recordLateEnd records an exit that only a list shows: it was stopped, or exited before the current session started.
func (lk *looks) recordLateEnd(a *record, x *session.Exit) {
	if a.called() {
		return
	}
	e := events.Event{Type: events.AgentStopped, Message: "stopped",
		Payload: effect.ExitPayload(*x)}
	if !x.Asked {
		e.Message = effect.Death(x).String() + ", before the current session started"
	}
	if !x.Asked && !x.Lost && x.Code != 0 {
		e.Type = events.AgentCrashed
	}
	lk.m.journal.recordEnd(a, *x, e)
}

func (lk *looks) seeAlive(now time.Time, a *record, s *session.Status) {
	a.sess.seenAlive = true
	if !a.sess.alive || a.sess.life.ID != s.ID {
		a.sess.alive, a.sess.ready, a.finish.drain = true, s.Ready, nil
		// it no longer has to wait
		a.rest.notBefore, a.rest.hold, a.rest.holdWhy = time.Time{}, "", ""
		a.act.because = "adopted: it was running when this controller started"
		if s.Ready {
			lk.m.set(now, a, city.Running, a.act.because, time.Time{})
			a.since = s.Started
		}
		lk.m.decided(now, a, "adopt", orDefault(step.Numbered(s.PID, "pid %d"), "it")+
			" was already running")
		a.sess.life = *s
		lk.m.drains.resume(now, a)
	} else if a.sess.life.Attached != s.Attached || a.sess.life.Frozen != s.Frozen ||
		!a.sess.life.Silent.Equal(s.Silent) || !a.sess.life.Activity.Equal(s.Activity) {
		lk.m.step.Changed = true
	}
	a.heard(now, s, a.sess.life.ID != s.ID)
	marks := a.sess.life.Drain
	a.sess.life = *s
	if a.finish.marking || a.finish.markTurn > a.sess.looked { // the list is older than the marks
		a.sess.life.Drain = marks
	} else if a.finish.drain != nil && s.Drain.Acked && !a.finish.drain.acked {
		a.finish.drain.acked, lk.m.step.Changed = true, true
	}
}
