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

func newWork() work {
	w := work{}
	w.leavers = map[string]string{}
	w.former = map[string]bool{}
	return w
}

// beadCommand makes or changes a piece of work.
func (m *Machine) beadCommand(id uint64, c city.Command) {
	m.step.Do(effect.ChangeBead{ID: id, Cmd: c})
}

// beadDone takes the result.
func (m *Machine) beadDone(in effect.BeadChanged) {
	if in.Err != nil {
		for _, e := range in.Events { // some of it has happened
			m.step.Do(effect.Record{Event: e})
		}
		m.step.Do(effect.Reply{Answer: effect.Answer{ID: in.ID, Err: in.Err}})
		if len(in.Events) > 0 {
			m.count()
		}
		return
	}
	if len(in.Events) == 0 {
		m.step.Do(effect.Reply{Answer: effect.Answer{ID: in.ID,
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
		m.step.Do(f)
	}
	m.count()
}

// count orders the open work to be counted: of all, and of each pool that has no check.
func (m *Machine) count() {
	w := &m.work
	if m.conf == nil || m.conf.NoWork || m.ending != alive {
		return
	}
	if w.counting {
		w.recount = true
		return
	}
	var pools []string
	for _, p := range m.sizes.poolOrder {
		if p.want.Check == "" && p.want.Max > 0 {
			pools = append(pools, p.name())
		}
	}
	w.counting, w.recount, w.ordered = true, false, m.turn
	m.step.Do(effect.CountWork{Pools: pools})
}

func (m *Machine) countedWork(now time.Time, in effect.WorkCounted) {
	w := &m.work
	ordered := w.ordered
	w.counting, w.told = false, m.turn
	defer m.seekLeavers()
	defer m.sizes.chosen(now, ordered)
	if w.recount {
		m.count()
	}
	m.step.Lose(&w.uncounted, "work cannot be counted", in.Err)
	// who is at work in the other stores is not to be drained for the one that has never answered
	if in.Unknown {
		m.known(in)
		m.strand(now)
		return
	}
	w.asOf = now
	if in.Unchanged {
		return
	}
	if !w.counted || w.counts.Open != in.Work.Open || w.counts.InProgress != in.Work.InProgress ||
		!maps.Equal(w.counts.Pools, in.Work.Pools) {
		m.step.Changed = true
	}
	defer m.strand(now)
	m.known(in)
	w.counts, w.counted = in.Work, true
	for _, p := range m.sizes.poolOrder {
		if p.want.Check == "" {
			m.sizes.size(now, p)
		}
	}
}

// known takes what was seen of work, whether or not all stores have answered.
func (m *Machine) known(in effect.WorkCounted) {
	w := &m.work
	if !maps.Equal(w.tasks, in.Tasks) || !maps.Equal(w.gated, in.Gated) ||
		!maps.Equal(w.rigs, in.Rigs) || !maps.Equal(w.mail, in.Mail) {
		m.step.Changed = true
	}
	w.rigs, w.tasks, w.gated, w.held, w.mail = in.Rigs, in.Tasks, in.Gated, in.Held, in.Mail
}

// uncountedReason is the reason of a size that is to follow work which nobody has counted so far: why not.
func (m *Machine) uncountedReason(p *poolRecord) string {
	what, waits := strings.CutSuffix(p.why, unanswered)
	if !waits {
		return p.why
	}
	return what + ": " + orDefault(m.work.uncounted, "its work has not been counted yet")
}

// workPatrol is the patrol's part in all this.
func (m *Machine) workPatrol(now time.Time) {
	m.runs.Patrol(now)
	m.probe(now)
	m.retryWork(now)
	m.purge(now)
	m.backUp(now)
}

// retryWork does what could not be done before.
func (m *Machine) retryWork(now time.Time) {
	m.runs.Retry(now)
	m.count()
	m.runs.Turn(now)
}
