package machine

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/pool"
)

// strand finds out whose work waits for somebody who does not run and will not by itself, and since when.
func (wk *work) strand(now time.Time) {
	if wk.m.conf == nil || !wk.m.looks.listed || wk.m.ending != alive ||
		len(wk.held) == 0 && len(wk.astray) == 0 {
		return
	}
	astray := map[string]time.Time{}
	var shown []city.Stranded
	for who, h := range wk.held {
		why, gone := wk.absent(who)
		if why == "" {
			continue
		}
		since, known := wk.astray[who]
		if !known {
			since = now
		}
		if astray[who] = since; now.Sub(since) >= city.StrandedAfter {
			shown = append(shown, city.Stranded{Agent: who, Why: why, Gone: gone, Since: since,
				Beads: h.IDs, Count: h.N})
		}
	}
	slices.SortFunc(shown, func(a, b city.Stranded) int {
		return city.CompareNames(a.Agent, b.Agent)
	})
	wk.astray = astray
	if !slices.EqualFunc(wk.stranded, shown, func(a, b city.Stranded) bool {
		return a.Agent == b.Agent && a.Why == b.Why && a.Count == b.Count &&
			slices.Equal(a.Beads, b.Beads)
	}) {
		wk.stranded, wk.m.step.Changed = shown, true
	}
}

// absent says why somebody does not run and will not by itself, going on from the name: "is quarantined". It is ""
// of whoever runs or will, and of a name that is no agent's as far as is known: people have work, too. While the
// whole city is suspended nobody is missed.
func (wk *work) absent(who string) (why string, gone bool) {
	a := wk.m.agents[who]
	switch {
	case wk.m.conf.Suspended:
		return "", false
	case a == nil:
		return wk.stranger(who)
	case a.sess.alive || a.act.op != opNone || a.sess.unsure:
		return "", false
	case a.unwanted():
		return wk.stranger(who)
	}
	switch a.state {
	case city.Suspended:
		return "is suspended " + a.want.Suspended, false
	case city.Quarantined:
		return "is quarantined", false
	case city.Exited:
		return "has ended and is not started again", false
	case city.Failed:
		return "cannot be started", false
	}
	return "", false
}

// stranger is absent of a name that nobody who is wanted has.
func (wk *work) stranger(who string) (why string, gone bool) {
	if len(wk.m.looks.dark) > 0 {
		return "", false
	}
	if p := wk.m.sizes.pools[who]; p != nil && p.want.Max != 1 {
		return "is a pool and none of its members", true
	}
	if w := wk.m.sizes.memberWant(who); w != nil {
		if p := wk.m.sizes.pools[w.Pool]; p.want.Suspended != "" {
			return "is suspended " + p.want.Suspended, false
		}
		return fmt.Sprintf("does not run, since pool %s wants %d", w.Pool,
				wk.m.sizes.pools[w.Pool].desired),
			false
	}
	for _, p := range wk.m.sizes.poolOrder {
		if (pool.Spec{Name: p.name(), Max: math.MaxInt}).Index(who) > 0 {
			return "is no member of pool " + p.name() + " any more", true
		}
	}
	rig, _, qualified := strings.Cut(who, "/")
	if qualified && slices.ContainsFunc(wk.m.conf.Rigs, func(r agent.Rig) bool {
		return r.Name == rig
	}) || wk.former[who] {
		return "is no agent here any more", true
	}
	return "", false
}
