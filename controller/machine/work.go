package machine

import (
	"cmp"
	"maps"
	"strings"
	"time"

	"gcity/beads/guard"
	"gcity/city"
	"gcity/controller/effect"
)

// work is what the machine knows of work and its stores.
type work struct {
	m *Machine

	uncounted  string // why not all work is counted
	unpurged   string // why old work is not removed
	unreturned string // why work is not given back
	stores     []guard.Trouble
	storesRev  uint64
	probing    bool // stores that failed are being tried
	counting   bool
	ordered    uint64 // the turn in which the newest count began
	told       uint64 // and the one in which one came back
	recount    bool   // work has changed since the count in flight began, perhaps
	counted    bool
	asOf       time.Time // when the counts were last known to hold
	counts     city.Work
	rigs       map[string]city.RigWork
	held       map[string]effect.Holding // by assignee: what he has been given and has not done
	// since when those of them do not run who will not by themselves
	astray   map[string]time.Time
	stranded []city.Stranded // of whom a person should know
	former   map[string]bool // agents that are declared no more
	// the pools of members that have left for good, and whose work is still theirs
	leavers   map[string]string
	leaving   []effect.Leaver   // of whom work is being given back just now
	failing   bool              // that has failed, and is tried again with the next patrol
	tasks     map[string]string // by assignee: the newest work of his in progress
	gated     map[string]string // by assignee: the gate that this work awaits
	mail      city.MailTally
	purged    time.Time
	purging   bool
	backedUp  time.Time // when the last look for backups that are due began
	backingUp bool
	unbacked  string // why there is no backup
}

func newWork(m *Machine) work {
	w := work{m: m}
	w.leavers = map[string]string{}
	w.former = map[string]bool{}
	return w
}

// change makes or changes a piece of work.
func (wk *work) change(id uint64, c city.Command) {
	wk.m.step.Do(effect.ChangeBead{ID: id, Cmd: c})
}

// changed takes the result.
func (wk *work) changed(in effect.BeadChanged) {
	if in.Err != nil {
		for _, e := range in.Events { // some of it has happened
			wk.m.step.Do(effect.Record{Event: e})
		}
		wk.m.step.Do(effect.Reply{Answer: effect.Answer{ID: in.ID, Err: in.Err}})
		if len(in.Events) > 0 {
			wk.count()
		}
		return
	}
	if len(in.Events) == 0 {
		wk.m.step.Do(effect.Reply{Answer: effect.Answer{ID: in.ID,
			Receipt: city.Receipt{Message: cmp.Or(in.Message, in.Bead.ID+" is so already"),
				Bead: &in.Bead}}})
		return
	}
	for i, e := range in.Events {
		f := effect.Record{Event: e}
		if i == len(in.Events)-1 {
			_, verb, _ := strings.Cut(e.Type, ".")
			f.Answers = []effect.Answer{{ID: in.ID,
				Receipt: city.Receipt{Message: cmp.Or(in.Message, verb+" "+in.Bead.ID),
					Bead: &in.Bead}}}
		}
		wk.m.step.Do(f)
	}
	wk.count()
}

// count orders the open work to be counted: of all, and of each pool that has no check.
func (wk *work) count() {
	if wk.m.conf == nil || wk.m.conf.NoWork || wk.m.ending != alive {
		return
	}
	if wk.counting {
		wk.recount = true
		return
	}
	var pools []string
	for _, p := range wk.m.sizes.poolOrder {
		if p.want.Check == "" && p.want.Max > 0 {
			pools = append(pools, p.name())
		}
	}
	wk.counting, wk.recount, wk.ordered = true, false, wk.m.turn
	wk.m.step.Do(effect.CountWork{Pools: pools})
}

func (wk *work) takeCount(now time.Time, in effect.WorkCounted) {
	ordered := wk.ordered
	wk.counting, wk.told = false, wk.m.turn
	defer wk.seekLeavers()
	defer wk.m.sizes.chosen(now, ordered)
	if wk.recount {
		wk.count()
	}
	wk.m.step.Lose(&wk.uncounted, "work cannot be counted", in.Err)
	// who is at work in the other stores is not to be drained for the one that has never answered
	if in.Unknown {
		wk.takeSeen(in)
		wk.strand(now)
		return
	}
	wk.asOf = now
	if in.Unchanged {
		return
	}
	if !wk.counted || wk.counts.Open != in.Work.Open || wk.counts.InProgress !=
		in.Work.InProgress ||
		!maps.Equal(wk.counts.Pools, in.Work.Pools) {
		wk.m.step.Changed = true
	}
	defer wk.strand(now)
	wk.takeSeen(in)
	wk.counts, wk.counted = in.Work, true
	for _, p := range wk.m.sizes.poolOrder {
		if p.want.Check == "" {
			wk.m.sizes.size(now, p)
		}
	}
}

// takeSeen takes what was seen of work, whether or not all stores have answered.
func (wk *work) takeSeen(in effect.WorkCounted) {
	if !maps.Equal(wk.tasks, in.Tasks) || !maps.Equal(wk.gated, in.Gated) ||
		!maps.Equal(wk.rigs, in.Rigs) || !maps.Equal(wk.mail, in.Mail) {
		wk.m.step.Changed = true
	}
	wk.rigs, wk.tasks, wk.gated, wk.held, wk.mail = in.Rigs, in.Tasks, in.Gated, in.Held, in.Mail
}

// uncountedReason is the reason of a size that is to follow work which nobody has counted so far: why not.
func (wk *work) uncountedReason(p *poolRecord) string {
	what, waits := strings.CutSuffix(p.why, unanswered)
	if !waits {
		return p.why
	}
	return what + ": " + orDefault(wk.uncounted, "its work has not been counted yet")
}

// patrol is the patrol's part in all this.
func (wk *work) patrol(now time.Time) {
	wk.m.runs.Patrol(now)
	wk.probe(now)
	wk.retry(now)
	wk.purge(now)
	wk.backUp(now)
}

// retry does what could not be done before.
func (wk *work) retry(now time.Time) {
	wk.m.runs.Retry(now)
	wk.count()
	wk.m.runs.Turn(now)
}
