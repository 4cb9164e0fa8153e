package machine

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"gcity/beads"
	"gcity/beads/guard"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/events"
)

type work struct {
	m *Machine

	uncounted   string // why some work could not be counted
	unpurged    string
	unreturned  string
	stores      []guard.Trouble
	storesRev   uint64
	probing     bool
	counting    bool
	ordered     uint64 // step in which the latest count was requested
	countedStep uint64 // step in which the latest count finished
	// work may have changed during the count in flight
	recount bool
	counted bool
	asOf    time.Time // when the counts were last valid
	counts  city.Work
	rigs    map[string]city.RigWork
	held    map[string]effect.Holding // unfinished work, by assignee
	// for each assignee that only a user can start: since when
	idleSince map[string]time.Time
	stranded  []city.Stranded
	former    map[string]bool // have been agents; the configuration may contain some of them
	// departed members that still have work or mail
	leavers map[string]effect.Leaver
	leaving []effect.Leaver
	failing bool              // returning work has failed; the next patrol retries
	tasks   map[string]string // newest bead in progress, by assignee
	gated   map[string]string // gate that the bead in tasks waits for, by assignee
	mail    city.MailTally
	oldMail city.MailTally // the first count of mail, without members that were in leavers
	purges  struct {
		last   time.Time
		active bool
	}
	backedUp  time.Time // start of the latest check for due backups
	backingUp bool
	unbacked  string
}

func newWork(m *Machine) work {
	w := work{m: m}
	w.leavers = map[string]effect.Leaver{}
	w.former = map[string]bool{}
	return w
}

func (wk *work) change(id uint64, c city.Command) {
	wk.m.step.Do(effect.ChangeBead{ID: id, Cmd: c, By: wk.m.step.Caller().Name()})
}

func (wk *work) changed(in effect.BeadChanged) {
	if in.Err != nil {
		for _, e := range in.Events { // part of the change was made
			wk.m.step.Do(effect.Record{Event: e})
		}
		wk.m.step.Do(effect.SendReply{Reply: effect.Reply{ID: in.ID, Err: in.Err}})
		if len(in.Events) > 0 {
			wk.count()
		}
		return
	}
	if len(in.Events) == 0 {
		wk.m.step.Do(effect.SendReply{Reply: effect.Reply{ID: in.ID,
			Receipt: city.Receipt{Message: cmp.Or(in.Message,
				in.Bead.ID+" is already in that state"), Bead: &in.Bead}}})
		return
	}
	for i, e := range in.Events {
		f := effect.Record{Event: e}
		if i == len(in.Events)-1 {
			_, verb, _ := strings.Cut(in.Events[0].Type, ".") // the others are of its parents
			f.Replies = []effect.Reply{{ID: in.ID,
				Receipt: city.Receipt{Message: cmp.Or(in.Message, verb+" "+in.Bead.ID),
					Bead: &in.Bead}}}
		}
		wk.m.step.Do(f)
	}
	wk.count()
}

func (wk *work) count() {
	if wk.m.conf == nil || wk.m.conf.NoWork || wk.m.ending != running {
		return
	}
	if wk.counting {
		wk.recount = true
		return
	}
	wk.counting, wk.recount, wk.ordered = true, false, wk.m.stepNumber
	wk.m.step.Do(effect.CountWork{Pools: wk.m.pools.ByWork()})
}

func (wk *work) takeCount(now time.Time, in effect.WorkCounted) {
	ordered := wk.ordered
	wk.counting, wk.countedStep = false, wk.m.stepNumber
	defer wk.findLeavers()
	defer wk.m.pools.Chosen(now, ordered)
	if wk.recount {
		wk.count()
	}
	wk.m.step.Lose(&wk.uncounted, "work cannot be counted", in.Err)
	// a silent store might have the members' work
	if in.Unknown && wk.m.observes == nil {
		wk.takeSeen(in)
		wk.findStranded(now)
		return
	}
	wk.asOf = now
	if in.Unchanged {
		return
	}
	if !wk.counted || !wk.counts.Same(in.Work) {
		wk.m.step.Changed = true
	}
	defer wk.findStranded(now)
	wk.takeSeen(in)
	if !wk.counted {
		wk.oldMail = maps.Clone(in.Mail)
	}
	wk.counts, wk.counted = in.Work, true
	wk.m.pools.WorkCounted(now)
}

func (wk *work) takeSeen(in effect.WorkCounted) {
	if !maps.Equal(wk.tasks, in.Tasks) || !maps.Equal(wk.gated, in.Gated) ||
		!maps.Equal(wk.rigs, in.Rigs) || !maps.Equal(wk.mail, in.Mail) {
		wk.m.step.Changed = true
	}
	wk.rigs, wk.tasks, wk.gated, wk.held, wk.mail = in.Rigs, in.Tasks, in.Gated, in.Held, in.Mail
}

func (wk *work) patrol(now time.Time) {
	wk.m.runs.Patrol(now)
	wk.probe(now)
	wk.retry(now)
	wk.purge(now)
	wk.backUp(now)
}

func (wk *work) retry(now time.Time) {
	wk.m.runs.Retry(now)
	wk.count()
	wk.m.runs.Advance(now)
}

func (wk *work) storesChanged(now time.Time, in effect.StoresReported) {
	if in.Rev <= wk.storesRev {
		return
	}
	before := wk.stores
	wk.stores, wk.storesRev = in.Stores, in.Rev
	if len(before)+len(in.Stores) == 0 {
		return
	}
	wk.m.step.Changed = true
	healed := false
	for _, s := range before {
		after := guard.TroubleOf(in.Stores, s.Scope)
		healed = healed || s.Reads && !after.Reads || s.Writes && !after.Writes
		if after.Text == "" {
			wk.m.step.Record(events.Event{Type: events.StoreHealed, Subject: s.Scope,
				Message: "the work of " + beads.ScopeTitle(s.Scope) +
					" can be read and written again"})
		}
	}
	for _, s := range in.Stores {
		if guard.TroubleOf(before, s.Scope).Text == "" {
			wk.m.step.Record(events.Event{Type: events.StoreFailing,
				Subject: s.Scope, Message: s.Text})
		}
	}
	if healed {
		wk.retry(now)
		return
	}
	wk.m.runs.Advance(now)
}

func (wk *work) storeProblem(scope string) string { return guard.TroubleOf(wk.stores, scope).Text }

func (wk *work) storeProblems() []string {
	var out []string
	for _, s := range wk.stores {
		out = append(out, s.Text)
	}
	return out
}

func (wk *work) probe(now time.Time) {
	due := slices.ContainsFunc(wk.stores, func(s guard.Trouble) bool {
		return !now.Before(s.Until)
	})
	if !due || wk.probing || wk.m.ending != running || wk.m.oneShot {
		return
	}
	wk.probing = true
	wk.m.step.Do(effect.ProbeStores{})
}

const (
	// if wisp_ttl is not set
	runsTTL = 14 * 24 * time.Hour
	// if wisp_gc_interval is not set
	purgeEvery       = time.Hour
	backupCheckEvery = 10 * time.Minute
)

func (wk *work) purge(now time.Time) {
	if wk.m.conf.NoWork || !wk.m.runs.RecordsRead || wk.purges.active ||
		now.Sub(wk.purges.last) < cmp.Or(wk.m.conf.WispEvery, purgeEvery) {
		return
	}
	wk.purges.active, wk.purges.last = true, now
	wk.m.step.Do(effect.Purge{Wisps: wk.m.conf.WispTTL, Runs: cmp.Or(wk.m.conf.WispTTL, runsTTL),
		Of: wk.m.runs.SavedNames(), Agents: wk.agentNames()})
}

// agentNames returns the names of all agents, including those of pool members that do not exist now.
func (wk *work) agentNames() []string {
	names := slices.Collect(maps.Keys(wk.m.agents))
	for i := range wk.m.conf.Wants {
		names = append(names, wk.m.conf.Wants[i].Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (wk *work) backUp(now time.Time) {
	if !wk.m.conf.Backups || wk.m.oneShot || wk.backingUp ||
		now.Sub(wk.backedUp) < backupCheckEvery {
		return
	}
	wk.backingUp, wk.backedUp = true, now
	wk.m.step.Do(effect.BackUp{})
}
