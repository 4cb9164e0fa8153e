package machine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/lifecycle"
	"gcity/controller/step"
	"gcity/session"
)

type sessionLists struct {
	m *Machine

	listed  bool
	listing bool
	relist  bool
	// have never responded, and may have unknown sessions
	unlistedProviders map[string]bool
	// why sessions are missing from the latest list, by provider
	unknown       map[string]error
	lateResponses int // providers that may still respond late
	ordered       uint64
	problem       string
}

// handleList handles a list of sessions. It ignores agents that were started or stopped after the list was requested.
func (lk *sessionLists) handleList(now time.Time, in effect.Listed) {
	lk.listing = false
	unknown, partly := effect.FailedProviders(in.Err)
	first := !lk.listed
	lk.listed = lk.listed || in.Err == nil || partly
	if lk.relist {
		lk.relist = false
		lk.request()
	}
	if in.Err != nil && !partly {
		lk.m.step.Note(&lk.problem, "sessions cannot be listed: "+in.Err.Error())
		if !lk.listed {
			lk.m.commands.rejectAll(lk.m.loader.waiting, city.Unavailable, "%s", lk.problem)
			for _, w := range lk.m.loader.waiting {
				delete(lk.m.loader.confirms, w.id)
			}
			lk.m.loader.waiting = nil
		}
		lk.markAllUnknown(now, in)
		if lk.m.ending == stopAgents {
			lk.m.cityStop.relook = now.Add(stopRetry)
		}
		return
	}
	allKnown := lk.noteResponses(first, unknown)
	if in.Past != nil {
		// a provider that responds later may list more sessions of the previous controller
		lk.m.journal.past = in.Past.Recorded
		maps.Copy(lk.m.work.former, in.Past.Agents)
		lk.m.journal.inheritEnds(now, in.Past, in.Sessions)
	}
	for i := range in.Sessions {
		lk.handleSession(now, &in.Sessions[i], in.Past, listInfo{step: in.Step})
	}
	lk.allListed(now, first, allKnown)
	lk.handleMissing(now, in.Step, func(*record) bool { return true })
	lk.m.order = slices.DeleteFunc(lk.m.order, func(a *record) bool {
		if a.sess.seenStep == lk.m.stepNumber || !a.hidden() || a.act.queued > 0 ||
			len(a.act.acks) > 0 || a.out.Typing() > 0 || a.attention.Reading() ||
			a.phase.Step() > in.Step || a.hasRelevantCrashes(now) {
			return false
		}
		delete(lk.m.agents, a.name)
		lk.m.deps.after, lk.m.deps.named = nil, nil
		return true
	})
	lk.m.decideAll(now)
	lk.m.cityStop.seen(now, in.Step)
}

func (lk *sessionLists) markAllUnknown(now time.Time, in effect.Listed) {
	if effect.IsLate(in.Err) {
		return
	}
	for _, a := range lk.m.order {
		if a.phase.Alive() && !a.phase.InFlight() && a.phase.Step() <= in.Step {
			a.sess.uncertain = true
		}
	}
	lk.m.decideAll(now)
}

// noteResponses records which providers could not list their sessions this time, and which never could. After a
// provider's first response, all its sessions are known, because only this controller starts more. allKnown is true
// once: when the last missing provider has responded.
func (lk *sessionLists) noteResponses(first bool, unknown map[string]error) (allKnown bool) {
	before := lk.unknown
	lk.unknown = maps.Clone(unknown)
	for name, err := range lk.unknown {
		if !effect.IsLate(err) {
			continue
		}
		lk.lateResponses++
		// the provider has not recovered yet
		if was := before[name]; was != nil {
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

func (lk *sessionLists) noteUnknown() {
	failed := &session.PartialError{Unknown: maps.Clone(lk.unknown)}
	maps.DeleteFunc(failed.Unknown, func(_ string, err error) bool { return effect.IsLate(err) })
	problem := ""
	if len(failed.Unknown) > 0 {
		problem = "sessions unknown: " + failed.Error()
	}
	lk.m.step.Note(&lk.problem, problem)
}

func (lk *sessionLists) allListed(now time.Time, first, allKnown bool) {
	if allKnown { // sizes guessed from an incomplete list are invalid
		lk.m.pools.Unsettle()
	}
	if first || allKnown {
		lk.m.pools.SizeAll(now)
		if lk.m.loader.again {
			lk.m.loader.load()
		}
	}
}

func (lk *sessionLists) handleLateList(now time.Time, in effect.ListedLate) {
	lk.lateResponses--
	allKnown := false
	_, waits := lk.unknown[in.Provider]
	switch {
	case in.Err != nil && !waits: // the provider has responded to a newer request
		return
	case in.Err != nil:
		lk.unknown[in.Provider] = in.Err
	default:
		delete(lk.unknown, in.Provider)
		allKnown = lk.unlistedProviders[in.Provider] && len(lk.unlistedProviders) == 1
		delete(lk.unlistedProviders, in.Provider)
	}
	lk.noteUnknown()
	if in.Past != nil {
		lk.m.journal.past = in.Past.Recorded
	}
	for i := range in.Sessions {
		lk.handleSession(now, &in.Sessions[i], in.Past, listInfo{step: in.Step, late: true})
	}
	lk.allListed(now, false, allKnown)
	lk.handleMissing(now, in.Step, func(a *record) bool {
		return a.sess.life.Provider == in.Provider || a.phase.State() == lifecycle.Unknown &&
			a.want != nil && a.want.Spec.Provider == in.Provider
	})
	lk.m.decideAll(now)
	lk.m.cityStop.seen(now, in.Step)
}

func (lk *sessionLists) handleMissing(now time.Time, listStep uint64, included func(*record) bool) {
	for _, a := range lk.m.order {
		if a.sess.seenStep == lk.m.stepNumber || a.phase.InFlight() || a.phase.Step() > listStep ||
			!included(a) {
			continue
		}
		var listErr error
		if a.phase.Alive() {
			listErr = lk.unknown[a.sess.life.Provider]
		}
		if a.sess.uncertain = listErr != nil && !effect.IsLate(listErr); listErr != nil ||
			a.phase.State() == lifecycle.Unknown && a.unknownIn(lk.unknown) {
			continue
		}
		a.phase.Listed()
		if a.phase.Alive() {
			lk.m.died(now, a, session.Exit{
				Name: a.sess.life.Name, Agent: a.name, ID: a.sess.life.ID, Code: -1, Lost: true,
				At: now, Uptime: now.Sub(a.sess.life.Started),
			})
		}
	}
}

// the agent might already be running at a provider that has never responded (L11)
func (lk *sessionLists) mayRunUnlisted(a *record) string {
	if a.phase.Seen() || len(lk.unlistedProviders) == 0 {
		return ""
	}
	names := strings.Join(slices.Sorted(maps.Keys(lk.unlistedProviders)), ", ")
	return "waits until the sessions of " + names + " can be listed, because the agent might be " +
		"running there"
}

type listInfo struct {
	step uint64
	late bool // the list contains only the sessions of one slow provider
}

func (lk *sessionLists) handleSession(now time.Time, s *session.Status, past *effect.Inherited,
	of listInfo) {
	a, known := lk.m.agents[s.Agent]
	if !known {
		if !s.Alive && s.Exit == nil {
			return
		}
		a = lk.m.record(now, s.Agent)
		if p, w := lk.m.pools.Of(a.name); w != nil {
			lk.m.join(a, p, w)
		} else {
			a.pool, lk.m.work.former[a.name] = p, true
		}
	}
	twice := a.sess.seenStep == lk.m.stepNumber || of.late && a.sess.life.Provider != s.Provider &&
		!a.phase.InFlight() && a.phase.Step() <= of.step
	if known && twice && s.Alive && a.phase.Alive() && a.sess.life.ID != s.ID {
		lk.m.decided(now, a, "kill", fmt.Sprintf("a second session for the agent: %s", s.ID))
		lk.m.step.Do(effect.Kill{Agent: a.name, Session: s.Name})
		return
	}
	a.sess.seenStep = lk.m.stepNumber
	if a.phase.InFlight() || a.phase.Step() > of.step {
		return
	}
	a.phase.Listed()
	a.sess.uncertain, a.sess.listStep, a.sess.seenAt = false, of.step, now
	switch {
	case s.Alive:
		lk.handleAlive(now, a, s, past)
	case s.ID == a.sess.lastEnd:
		if of.step > a.act.ackStep {
			lk.acknowledge(a, s, past)
		}
	case s.Exit != nil && a.phase.Alive() && a.sess.life.ID != s.ID:
		// an earlier session under a different name
		lk.acknowledge(a, s, past)
	case s.Exit != nil && s.Exit.Asked:
		lk.handleRequestedExit(now, a, s, past)
	case s.Exit != nil:
		a.sess.life = *s
		lk.m.died(now, a, *s.Exit)
	}
}

func (lk *sessionLists) acknowledge(a *record, s *session.Status, past *effect.Inherited) {
	ack := effect.Acknowledge{Agent: a.name, Session: s.Name, ID: s.ID}
	if slices.Contains(a.act.acks, ack) {
		return
	}
	a.act.acks = append(a.act.acks, ack)
	// the previous controller might have counted the exit without writing its event
	if s.Exit != nil && past.IsUnrecorded(s.ID) {
		lk.recordLateEnd(a, s.Exit)
	}
}

func (lk *sessionLists) handleRequestedExit(now time.Time, a *record, s *session.Status,
	past *effect.Inherited) {
	a.sess.life = *s
	if a.phase.Alive() { // the stop did not report this exit
		lk.m.endedAsRequested(now, a, s.ID)
		return
	}
	lk.m.ended(now, a, s.ID)
	// the start was canceled, or the exit happened before this controller started
	if past.IsUnrecorded(s.ID) || past == nil && a.phase.Canceled() {
		lk.recordLateEnd(a, s.Exit)
	}
}

func (lk *sessionLists) recordLateEnd(a *record, x *session.Exit) {
	if !a.isTriage() {
		lk.m.journal.recordEnd(a, *x, effect.LateEnd(x, a.phase.Alive()))
	}
}

func (lk *sessionLists) handleAlive(now time.Time, a *record, s *session.Status,
	past *effect.Inherited) {
	adopted := !a.phase.Alive() || a.sess.life.ID != s.ID
	if adopted {
		a.phase.FoundRunning(s.Ready)
		a.drain.current, a.act.stopping = nil, cause{}
		a.restart.end()
		a.act.startReason = "adopted: it was running when this controller started"
		if h := &a.restart.inherited; h.StartReason != "" && h.Session == s.ID {
			a.act.startReason = h.StartReason
			a.updatePosition()
		}
		a.sess.startUnrecorded = past.IsUnrecordedStart(s)
		if s.Ready {
			lk.m.set(now, a, city.Running, a.act.startReason)
			a.since = s.Started
			lk.m.journal.recordStart(a, s)
		}
		lk.m.decided(now, a, "adopt", cmp.Or(step.Numbered(s.PID, "pid %d"), "it")+
			" was already running")
		a.sess.life = *s
		lk.m.drains.resume(now, a)
	} else if a.sess.life.Attached != s.Attached || a.sess.life.Frozen != s.Frozen ||
		!a.sess.life.Silent.Equal(s.Silent) || !a.sess.life.Activity.Equal(s.Activity) {
		lk.m.step.Changed = true
	}
	a.sess.noteOutput(now, s, adopted)
	marks := a.sess.life.Drain
	a.sess.life = *s
	// the list is older than the latest change to the marks
	if a.drain.marking || a.drain.markStep > a.sess.listStep {
		a.sess.life.Drain = marks
	} else if a.drain.current != nil && s.Drain.Acked && !a.drain.current.acked {
		a.drain.current.acked, lk.m.step.Changed = true, true
	}
}
