package machine

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/controller/lifecycle"
	"gcity/pool"
)

// findStranded finds work that is assigned to agents that are not running and will not start without a user. It
// records when this condition began.
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

// whyAbsent returns the reason why an assignee is not running and will not start without a user. The reason follows
// the name in a sentence, for example "is quarantined". It is "" for running agents, for names of people, and while
// the whole city is suspended. gone is true if the city has no agent with this name.
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

// whyUndeclared returns the results of whyAbsent for a name that is not a wanted agent.
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
			members(wk.m.pools.Get(w.Pool).Desired)), false
	}
	for _, p := range wk.m.pools.All() {
		if (pool.Spec{Name: p.Name(), Max: math.MaxInt}).Index(assignee) > 0 {
			return "is no longer a member of pool " + p.Name(), true
		}
	}
	rig, _, qualified := strings.Cut(assignee, "/")
	if qualified && slices.ContainsFunc(wk.m.conf.Rigs, func(r agent.Rig) bool {
		return r.Name == rig
	}) || wk.former[assignee] {
		return "is no longer an agent of this city", true
	}
	return "", false
}

// members formats a number of members.
func members(n int) string {
	if n == 1 {
		return "1 member"
	}
	return fmt.Sprintf("%d members", n)
}
