package machine

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/lifecycle"
	"gcity/controller/pools"
	"gcity/controller/step"
	"gcity/events"
	"gcity/pool"
)

func (wk *work) noteLeaver(a *record) {
	switch {
	case !a.unwanted() || wk.m.conf.NoWork || wk.m.oneShot || wk.m.ending != running:
	case a.want == nil || a.pool.Final() && wk.m.pools.SizeKnown(a.pool):
		wk.left(a.name, a.pool)
	}
}

func (wk *work) left(agent string, p *pools.Pool) {
	wk.leavers[agent] = effect.Leaver{Agent: agent, Pool: p.Name()}
	delete(wk.oldMail, agent) // this leaver's mail is returned too
}

// leftBefore notes a member that left while no controller was running, if it has work in progress or mail.
func (wk *work) leftBefore(agent string, p *pools.Pool) {
	switch {
	case wk.tasks[agent] != "":
		wk.left(agent, p)
	case wk.oldMail[agent].Total > 0:
		delete(wk.oldMail, agent)
		wk.leavers[agent] = effect.Leaver{Agent: agent, Pool: p.Name(), MailOnly: true}
	}
}

// finishesFirst reports whether a surplus member that is not ready is kept until it can drain, because its session
// exists and it has work, or might have work.
func (wk *work) finishesFirst(a *record) bool {
	return a.pool != nil && a.hasSession() &&
		(wk.tasks[a.name] != "" || !wk.counted && !wk.m.conf.NoWork)
}

func (wk *work) findLeavers() {
	if len(wk.tasks)+len(wk.oldMail) == 0 || !wk.m.lists.listed ||
		len(wk.m.lists.unlistedProviders) > 0 || wk.m.oneShot || wk.m.ending != running {
		return
	}
	for _, p := range wk.m.pools.All() {
		if !p.Final() || !wk.m.pools.SizeKnown(p) {
			continue
		}
		for _, w := range p.Members {
			if !p.Has(w.Index) {
				wk.leftBefore(w.Name, p)
			}
		}
	}
	for name, p := range wk.m.pools.Former {
		if wk.m.agents[name] == nil {
			wk.leftBefore(name, p)
		}
	}
	for _, a := range wk.m.order {
		if a.pool != nil && a.want == nil {
			wk.leftBefore(a.name, a.pool)
		}
	}
}

func (wk *work) returnWork() {
	if len(wk.leaving) > 0 || wk.failing || wk.m.ending != running {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(wk.leavers)) {
		a := wk.m.agents[name]
		switch {
		case a != nil && !a.unwanted():
			delete(wk.leavers, name)
		case a == nil || a.phase.State() == lifecycle.Absent:
			wk.leaving = append(wk.leaving, wk.leavers[name])
		}
	}
	if len(wk.leaving) > 0 {
		wk.m.step.Do(effect.ReturnWork{Of: slices.Clone(wk.leaving)})
	}
}

func (wk *work) waitsForReturn(a *record) string {
	for _, l := range wk.leaving {
		if l.Agent == a.name {
			return "waits until its earlier work is returned to pool " + l.Pool
		}
	}
	return ""
}

// failed returns are retried at each patrol
func (wk *work) workReturned(now time.Time, in effect.WorkReturned) {
	tried := wk.leaving
	wk.leaving, wk.failing = nil, in.Err != nil
	wk.m.step.Lose(&wk.unreturned, "the work of members that have left their pools cannot "+
		"be returned", in.Err)
	for _, l := range tried {
		if in.Err == nil {
			delete(wk.leavers, l.Agent)
		}
		wk.recordReturned(now, l, in.Done)
		if a := wk.m.agents[l.Agent]; a != nil {
			wk.m.decide(now, a)
		}
	}
	if len(in.Done) > 0 {
		wk.count()
	}
}

func (wk *work) recordReturned(now time.Time, l effect.Leaver, done []effect.Returned) {
	var ids []string
	for _, d := range done {
		if d.Leaver == l {
			if !d.Note {
				ids = append(ids, d.Bead)
			}
			wk.m.journal.record(nil, d.Event)
		}
	}
	if len(ids) == 0 {
		return
	}
	msg := fmt.Sprintf("%s has left the pool; its work is open again: %s", l.Agent, step.Few(ids))
	wk.m.journal.record(nil, events.Event{
		Type: events.PoolWorkReturned, Subject: l.Pool, Message: msg,
		Payload: step.Payload(map[string]any{"agent": l.Agent, "beads": ids}),
	})
	wk.m.pools.Decided(now, l.Pool, "work returned", msg)
}

func (wk *work) findStranded(now time.Time) {
	if wk.m.conf == nil || !wk.m.lists.listed || wk.m.ending != running ||
		len(wk.held) == 0 && len(wk.idleSince) == 0 {
		return
	}
	idleSince := map[string]time.Time{}
	var shown []city.Stranded
	for assignee, h := range wk.held {
		why, gone := wk.whyAbsent(assignee)
		if why == "" {
			continue
		}
		since, known := wk.idleSince[assignee]
		if !known {
			since = now
		}
		if idleSince[assignee] = since; now.Sub(since) >= city.StrandedAfter {
			shown = append(shown, city.Stranded{Agent: assignee, Why: why, Gone: gone, Since: since,
				Beads: h.IDs, Count: h.N})
		}
	}
	slices.SortFunc(shown, func(a, b city.Stranded) int {
		return city.CompareNames(a.Agent, b.Agent)
	})
	wk.idleSince = idleSince
	if !slices.EqualFunc(wk.stranded, shown, func(a, b city.Stranded) bool {
		return a.Agent == b.Agent && a.Why == b.Why && a.Count == b.Count &&
			slices.Equal(a.Beads, b.Beads)
	}) {
		wk.stranded, wk.m.step.Changed = shown, true
	}
}

// whyAbsent returns why only a user can start an assignee, or "". gone is true if the city has no such agent.
func (wk *work) whyAbsent(assignee string) (why string, gone bool) {
	a := wk.m.agents[assignee]
	switch {
	case wk.m.conf.Suspended:
		return "", false
	case a == nil:
		return wk.whyUndeclared(assignee)
	case a.phase.State() != lifecycle.Absent:
		return "", false
	case a.unwanted():
		return wk.whyUndeclared(assignee)
	}
	switch a.state {
	case city.Suspended:
		return "is " + a.want.Suspended.String(), false
	case city.Quarantined:
		return "is quarantined", false
	case city.Exited:
		return "has exited and does not restart", false
	case city.Failed:
		return "cannot start", false
	}
	return "", false
}

func (wk *work) whyUndeclared(assignee string) (why string, gone bool) {
	if len(wk.m.lists.unlistedProviders) > 0 {
		return "", false
	}
	if p := wk.m.pools.Get(assignee); p != nil && p.Want.Max != 1 {
		return "is a pool, not one of its members", true
	}
	if w := wk.m.pools.MemberWant(assignee); w != nil {
		if p := wk.m.pools.Get(w.Pool); p.Want.Suspended.On() {
			return "is " + p.Want.Suspended.String(), false
		}
		return fmt.Sprintf("is not running, because pool %s wants %s", w.Pool,
			wk.m.pools.Get(w.Pool).DesiredText()), false
	}
	for _, p := range wk.m.pools.All() {
		if (pool.Spec{Name: p.Name(), Max: math.MaxInt}).Index(assignee) > 0 {
			return "is no longer a member of pool " + p.Name(), true
		}
	}
	rig, _, qualified := strings.Cut(assignee, "/")
	if qualified && wk.m.conf.Rig(rig) != nil || wk.former[assignee] {
		return "is no longer an agent of this city", true
	}
	return "", false
}
