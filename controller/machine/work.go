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

	uncounted   string // why some work is not counted
	unpurged    string // why old work is not removed
	unreturned  string // why work is not returned
	stores      []guard.Trouble
	storesRev   uint64
	probing     bool // a probe of failed stores is in flight
	counting    bool
	ordered     uint64 // turn of the request of the newest count
	countedTurn uint64 // turn of the result of the newest count
	recount     bool   // work may have changed since the count in flight started
	counted     bool
	asOf        time.Time // when the counts were last valid
	counts      city.Work
	rigs        map[string]city.RigWork
	held        map[string]effect.Holding // by assignee: unfinished work
	// by assignee: since when it will not run by itself
	idleSince map[string]time.Time
	stranded  []city.Stranded // assignees to show to users
	former    map[string]bool // agents that were removed from the configuration
	// by member that has left for good and still has work: its pool
	leavers   map[string]string
	leaving   []effect.Leaver   // members with work that is being returned
	failing   bool              // the return failed; the next patrol retries
	tasks     map[string]string // by assignee: the newest work in progress
	gated     map[string]string // by assignee: the gate that this work waits for
	mail      city.MailTally
	purged    time.Time
	purging   bool
	backedUp  time.Time // when the last check for due backups started
	backingUp bool
	unbacked  string // why the newest backup failed
}

func newWork(m *Machine) work {
	w := work{m: m}
	w.leavers = map[string]string{}
	w.former = map[string]bool{}
	return w
}

func (wk *work) change(id uint64, c city.Command) {
	wk.m.step.Do(effect.ChangeBead{ID: id, Cmd: c})
}

func (wk *work) changed(in effect.BeadChanged) {
	if in.Err != nil {
		for _, e := range in.Events { // a part of the change was done
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
			Receipt: city.Receipt{Message: cmp.Or(in.Message,
				in.Bead.ID+" is in that state already"),
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

// count requests a count of open work, in total and for each pool without a check.
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
	wk.counting, wk.countedTurn = false, wk.m.turn
	defer wk.seekLeavers()
	defer wk.m.sizes.chosen(now, ordered)
	if wk.recount {
		wk.count()
	}
	wk.m.step.Lose(&wk.uncounted, "work cannot be counted", in.Err)
	// members busy in other stores must not be drained because of one store that never answered
	if in.Unknown {
		wk.takeSeen(in)
		wk.findStranded(now)
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
	defer wk.findStranded(now)
	wk.takeSeen(in)
	wk.counts, wk.counted = in.Work, true
	for _, p := range wk.m.sizes.poolOrder {
		if p.want.Check == "" {
			wk.m.sizes.size(now, p)
		}
	}
}

// takeSeen takes the results of a count, even if some stores did not answer.
func (wk *work) takeSeen(in effect.WorkCounted) {
	if !maps.Equal(wk.tasks, in.Tasks) || !maps.Equal(wk.gated, in.Gated) ||
		!maps.Equal(wk.rigs, in.Rigs) || !maps.Equal(wk.mail, in.Mail) {
		wk.m.step.Changed = true
	}
	wk.rigs, wk.tasks, wk.gated, wk.held, wk.mail = in.Rigs, in.Tasks, in.Gated, in.Held, in.Mail
}

// uncountedReason returns the reason of a pool's size, with why its work is not counted yet.
func (wk *work) uncountedReason(p *poolRecord) string {
	what, waits := strings.CutSuffix(p.why, unanswered)
	if !waits {
		return p.why
	}
	return what + ": " + orDefault(wk.uncounted, "its work has not been counted yet")
}

// patrol is the part of a patrol about work and automations.
func (wk *work) patrol(now time.Time) {
	wk.m.runs.Patrol(now)
	wk.probe(now)
	wk.retry(now)
	wk.purge(now)
	wk.backUp(now)
}

// retry retries what failed before.
func (wk *work) retry(now time.Time) {
	wk.m.runs.Retry(now)
	wk.count()
	wk.m.runs.Turn(now)
}
