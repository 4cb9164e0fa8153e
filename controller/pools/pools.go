// Package pools decides how many members each pool has, and which members these are. It has no side effects.
package pools

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/rollout"
	"gcity/controller/step"
	"gcity/events"
	"gcity/internal/redact"
	"gcity/internal/suggest"
)

// City is the view of the city that pools use.
type City interface {
	rollout.City
	Configuration() *effect.Configuration
	Stops() bool
	Listed() bool // the sessions were listed at least once
	Step() uint64
	Work() Work
	CountWork()
	Record(e events.Event, replies ...effect.Reply)
	IsAgent(name string) bool
	// Session reports whether a member is alive, and whether it is draining. A member that has finished its drain is
	// not alive.
	Session(name string) (alive, leaving bool)
	// Found returns the number of members that the previous controller wanted, including exited members.
	Found(p *Pool) int
	WantedAgain(name string) // lets a drained member start again
	// Populate adds newly wanted members, and decides again about all of the pool's members.
	Populate(now time.Time, p *Pool)
}

// Work is the latest information about open work.
type Work struct {
	Counted     bool
	CountedStep uint64
	AsOf        time.Time
	Pools       map[string]int    // by pool
	Tasks       map[string]string // newest bead in progress, by assignee
	Uncounted   string
}

// Pools decides how many members each pool has, and which members these are.
type Pools struct {
	city City
	out  *step.Output

	byName map[string]*Pool
	order  []*Pool // sorted by name
	// pools of the previous controller, by the names of their members that are not declared any more
	Former map[string]*Pool
	// start times, by pool; can contain removed pools
	checking map[string]time.Time
	Scales   []effect.Scale // waiting to be saved; the first is in flight
	Rollouts rollout.Rollouts
}

// New returns an empty Pools that adds its effects to out.
func New(c City, out *step.Output) Pools {
	return Pools{city: c, out: out, checking: map[string]time.Time{},
		Rollouts: rollout.New(c, out)}
}

// Pool contains the size of one pool and the reason for it. It does not contain the state of the members.
type Pool struct {
	Want    *agent.Pool
	Members []*agent.Want // all possible members, by index

	Desired      int
	why          string
	since        time.Time
	settled      bool // Desired was computed; it is not a placeholder
	override     *int
	overrideBy   *city.Peer // nil = unknown, because a previous controller set it
	caller       *city.Peer // sender of the command in progress; nil = none
	automatic    int        // size that applied before a user set one
	whyAutomatic string

	checkCommand string
	checkProblem string
	last         city.Check
	lastValid    bool

	wantedAt []bool // by index
	final    bool
	// the choice waits for a count requested in this step or later; 0 = no wait
	countStep uint64

	wasEmpty bool

	decisions []city.Decision

	checkWaiters []uint64
}

// Name returns the pool's name.
func (p *Pool) Name() string { return p.Want.Name }

// DesiredText returns the desired size as text: "1 member", "3 members".
func (p *Pool) DesiredText() string {
	if p.Desired == 1 {
		return "1 member"
	}
	return fmt.Sprintf("%d members", p.Desired)
}

// Final reports whether the choice of members is final.
func (p *Pool) Final() bool { return p.final }

// Waits reports whether the pool needs a new count of work before it can choose its members.
func (p *Pool) Waits() bool { return p.countStep > 0 }

// EmptyChanged reports whether the size has become 0, or has stopped being 0, since the last call.
func (p *Pool) EmptyChanged() bool {
	empty := p.Desired == 0
	changed := empty != p.wasEmpty
	p.wasEmpty = empty
	return changed
}

// Get returns the pool with this name, or nil.
func (ps *Pools) Get(name string) *Pool { return ps.byName[name] }

// All returns the pools, sorted by name.
func (ps *Pools) All() []*Pool { return ps.order }

// Busy reports whether a check is in flight, or a pool waits for a count of work.
func (ps *Pools) Busy() bool {
	return len(ps.checking) > 0 || slices.ContainsFunc(ps.order, (*Pool).Waits)
}

// SizeKnown reports whether the size of a pool is reliable.
func (ps *Pools) SizeKnown(p *Pool) bool {
	_, counted := ps.openWork(p)
	return p.Want.Max == 0 || p.override != nil || p.lastValid || counted
}

// openWork returns the open work of a pool that has no check. counted is false if the latest count does not contain the
// pool, for example because its check has just been removed.
func (ps *Pools) openWork(p *Pool) (n int, counted bool) {
	if work := ps.city.Work(); work.Counted && p.Want.Check == "" {
		n, counted = work.Pools[p.Name()]
	}
	return n, counted
}

// Unsettle makes all choices and guessed sizes provisional.
func (ps *Pools) Unsettle() {
	for _, p := range ps.order {
		p.settled, p.final = p.settled && p.lastValid, false
	}
}

// ByWork returns the names of the pools that are sized by their open work.
func (ps *Pools) ByWork() []string {
	var names []string
	for _, p := range ps.order {
		if p.Want.Check == "" && p.Want.Max > 0 {
			names = append(names, p.Name())
		}
	}
	return names
}

// WorkCounted sets the sizes of the pools that depend on open work.
func (ps *Pools) WorkCounted(now time.Time) {
	for _, p := range ps.order {
		if p.Want.Check == "" {
			ps.size(now, p)
		}
	}
}

// Decided stores a decision about a pool. It ignores unknown pools.
func (ps *Pools) Decided(now time.Time, name, what, why string) {
	if p := ps.byName[name]; p != nil {
		ps.out.Decided(now, &p.decisions, what, why)
	}
}

// Adopt adopts the pools of a new configuration. Pools with the same name keep their state (L6).
func (ps *Pools) Adopt(now time.Time, c *effect.Configuration) {
	before := ps.byName
	ps.byName, ps.order = make(map[string]*Pool, len(c.Pools)), ps.order[:0]
	for i := range c.Pools {
		w := &c.Pools[i]
		p, known := before[w.Name]
		if !known {
			p = &Pool{since: now, why: "the minimum, because the check has not run yet"}
			if n, ok := c.Overrides[w.Name]; ok {
				p.override = &n
			}
		} else if w.Check == "" {
			p.lastValid, p.last = false, city.Check{}
		}
		if known && p.Want.Max == 0 && w.Max > 0 { // p.why says that it is off
			p.why = "the minimum" + noCheckYet
			if w.Check == "" {
				p.why = uncountedReason(p.why, ps.city.Work().Uncounted)
			}
		}
		p.Want, p.Members = w, p.Members[:0]
		p.last.Command = redact.Text(w.Check)
		ps.byName[w.Name] = p
		ps.order = append(ps.order, p)
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if ps.byName[name] == nil {
			ps.drop(before[name])
		}
	}
	for i := range c.Wants {
		delete(ps.Former, c.Wants[i].Name)
		if p := ps.byName[c.Wants[i].Pool]; p != nil {
			p.Members = append(p.Members, &c.Wants[i])
		}
	}
	for _, p := range ps.order {
		slices.SortFunc(p.Members, func(a, b *agent.Want) int {
			return cmp.Compare(a.Index, b.Index)
		})
		p.fit()
		if !p.settled && p.Desired == 0 {
			p.Desired = p.Want.Size(0)
		}
	}
}

// SizeAll sets the size of every pool and runs the checks.
func (ps *Pools) SizeAll(now time.Time) {
	for _, p := range ps.order {
		ps.size(now, p)
		ps.populate(now, p)
		if ps.city.Listed() && (p.last.At == nil || p.checkCommand != p.Want.Check) {
			ps.check(now, p)
		}
	}
}

func (ps *Pools) size(now time.Time, p *Pool) {
	open, counted := ps.openWork(p)
	switch s := p.Want.Spec; {
	case s.Max == 0:
		ps.resize(now, p, 0, "off: max = 0")
	case p.override != nil:
		why := setBy(*p.override, p.overrideBy)
		ps.resize(now, p, s.Size(*p.override), why+p.bounded(*p.override))
	case p.lastValid:
		ps.resize(now, p, s.Size(p.last.Value), fmt.Sprintf("check returned %d", p.last.Value)+
			p.bounded(p.last.Value))
	case counted:
		ps.resize(now, p, s.Size(open), fmt.Sprintf("open work: %d", open)+p.bounded(open))
	case p.Want.Check == "" && ps.city.Configuration().NoWork:
		ps.resize(now, p, s.Min, "the minimum, because the pool has no check and this city does "+
			"not count work")
	case !ps.city.Listed() || p.settled:
		ps.resize(now, p, s.Size(p.Desired), p.why)
	default:
		ps.guess(now, p)
	}
}

func setBy(n int, by *city.Peer) string {
	if by == nil {
		return fmt.Sprintf(city.PoolSetBy+"to %d by an earlier command", n)
	}
	return fmt.Sprintf(city.PoolSetBy+"to %d by %s", n, by.Name())
}

// setSize sets a user's size, or removes it if size is nil. Until a check has succeeded or work has been counted, a
// removal restores the size that applied before.
func (ps *Pools) setSize(now time.Time, p *Pool, size *int, by *city.Peer) {
	what := "removed by " + by.Name() + "; the size is automatic again"
	if size != nil {
		what = setBy(*size, by)
	}
	if p.override == nil && size != nil {
		p.automatic, p.whyAutomatic = p.Desired, p.why
	}
	_, counted := ps.openWork(p)
	unknown := !p.lastValid && !counted && (p.Want.Check != "" || !ps.city.Configuration().NoWork)
	if p.override != nil && size == nil && unknown {
		if p.whyAutomatic == "" {
			p.automatic, p.whyAutomatic = p.Want.Min, "the minimum"+noCheckYet
		}
		why := p.whyAutomatic
		if p.Want.Check == "" {
			why = uncountedReason(why, ps.city.Work().Uncounted)
		}
		defer ps.resize(now, p, p.Want.Size(p.automatic), why)
	}
	p.override, p.overrideBy, ps.out.Changed = size, by, true
	ps.out.Decided(now, &p.decisions, "override", what)
}

const noCheckYet = ", because no check has succeeded yet"

func (ps *Pools) guess(now time.Time, p *Pool) {
	found := ps.city.Found(p)
	n := p.Want.Size(found)
	why := "the minimum" + noCheckYet
	if found > p.Want.Min {
		why = "the number of running members" + noCheckYet
	}
	p.settled = true
	p.Desired, p.why, p.since = n, why, now
	ps.out.Changed = true
}

func (p *Pool) bounded(n int) string {
	switch {
	case n < p.Want.Min:
		return fmt.Sprintf(", min is %d", p.Want.Min)
	case n > p.Want.Max:
		return fmt.Sprintf(", max is %d", p.Want.Max)
	}
	return ""
}

func (ps *Pools) resize(now time.Time, p *Pool, n int, why string) {
	from, first := p.Desired, !p.settled && !ps.city.Listed()
	if p.why != why {
		p.why, ps.out.Changed = why, true
	}
	p.settled = p.settled || ps.city.Listed()
	if n == from {
		return
	}
	p.Desired, p.since, ps.out.Changed = n, now, true
	if first {
		return
	}
	ps.out.Decided(now, &p.decisions, "scale", fmt.Sprintf("%d → %d: %s", from, n, why))
	e := events.Event{
		Type: events.PoolScaled, Subject: p.Name(),
		Message: fmt.Sprintf("%d → %d: %s", from, n, why),
		Payload: step.Payload(map[string]any{"from": from, "to": n}),
	}
	by := p.caller
	if by == nil && p.override != nil {
		by = p.overrideBy
	}
	if by != nil {
		e = by.AsActor(e)
	}
	ps.city.Record(e)
	ps.populate(now, p)
}

func (ps *Pools) check(now time.Time, p *Pool) {
	if p.Want.Check == "" || p.Want.Max == 0 || p.Want.Suspended.On() || !ps.city.Running() {
		return
	}
	if _, already := ps.checking[p.Name()]; already {
		return
	}
	ps.checking[p.Name()], p.checkCommand, ps.out.Changed = now, p.Want.Check, true
	ps.out.Do(effect.CheckPool{Pool: p.Want})
}

func (ps *Pools) CheckAll(now time.Time) {
	for _, p := range ps.order {
		ps.check(now, p)
	}
}

// Checked handles the result of a check. After a failure, the size stays unchanged.
func (ps *Pools) Checked(now time.Time, in effect.PoolChecked) {
	delete(ps.checking, in.Pool)
	p, ok := ps.byName[in.Pool]
	if !ok {
		return
	}
	ps.out.Changed = true
	if in.Check != p.Want.Check {
		ps.check(now, p)
		if _, again := ps.checking[in.Pool]; !again {
			ps.rejectCheck(p, "has a new check, which cannot run now")
		}
		return
	}
	defer ps.replyToCheck(p)
	problem, kind := p.last.Problem, p.checkProblem
	p.last.At, p.last.Took, p.last.Output, p.last.Problem, p.checkProblem = &now, in.Took,
		in.Output, "",
		in.Kind
	if in.Err != nil {
		p.last.Problem = in.Err.Error()
		if problem == "" || kind != in.Kind {
			ps.out.Decided(now, &p.decisions, "check failed", p.last.Problem)
			ps.out.Record(events.Event{
				Type: events.PoolCheckFailed, Subject: p.Name(),
				Message: fmt.Sprintf("the size stays %d: %s", p.Desired, p.last.Problem),
				Payload: step.Payload(map[string]any{"size": p.Desired, "output": in.Output}),
			})
		}
		return
	}
	if problem != "" {
		ps.out.Decided(now, &p.decisions, "check works again", fmt.Sprint(in.Value))
	}
	p.last.Good, p.last.Value, p.lastValid = &now, in.Value, true
	ps.size(now, p)
}

// Scale requests that the size set by a user be saved, or removed if c.Auto is set.
func (ps *Pools) Scale(id uint64, c city.Scale) {
	p, ok := ps.find(id, c.Pool)
	if !ok {
		return
	}
	f := effect.Scale{Pool: p.Name(), ID: id, By: ps.out.Caller()}
	if !c.Auto {
		if why := p.Want.OutOfBounds(c.Size); why != "" {
			ps.out.Reject(id, city.Invalid, "%s", why)
			return
		}
		f.Size = &c.Size
	}
	ps.Scales = append(ps.Scales, f)
	if len(ps.Scales) == 1 {
		ps.out.Do(f)
	}
}

// Scaled handles the result of saving a user's size. A size takes effect only once it is saved, because it must survive
// a restart.
func (ps *Pools) Scaled(now time.Time, in effect.Scaled) {
	ps.Scales = ps.Scales[1:]
	if len(ps.Scales) > 0 {
		ps.out.Do(ps.Scales[0])
	}
	p, ok := ps.byName[in.Scale.Pool]
	switch {
	case in.Err != nil:
		ps.out.Reject(in.Scale.ID, city.Unavailable, "%v", in.Err)
		return
	case !ok:
		ps.out.Reject(in.Scale.ID, city.NotFound, "pool %s was removed from the configuration",
			in.Scale.Pool)
		return
	}
	if in.Scale.Size == nil && p.override == nil {
		ps.out.Reply(in.Scale.ID, "no size is set for pool %s; it wants %d: %s", p.Name(),
			p.Desired, p.why)
		return
	}
	from := p.Desired
	by := &in.Scale.By
	p.caller = by
	ps.setSize(now, p, in.Scale.Size, by)
	ps.size(now, p)
	p.caller = nil
	msg := fmt.Sprintf("pool %s wants %d: %s", p.Name(), p.Desired, p.why)
	if from != p.Desired {
		msg = fmt.Sprintf("pool %s wants %d instead of %d", p.Name(), p.Desired, from)
		if size := in.Scale.Size; size == nil || *size != p.Desired {
			msg += ": " + p.why
		}
	} else { // even if the size does not change
		ps.out.Record(by.AsActor(events.Event{Type: events.PoolScaled, Subject: p.Name(),
			Message: fmt.Sprintf("size %d: %s", p.Desired, p.decisions[len(p.decisions)-1].Why)}))
	}
	if p.Want.Suspended.On() {
		msg += "; it is " + p.Want.Suspended.String() + ", so its members stay stopped until " +
			"it is resumed"
	}
	ps.out.Reply(in.Scale.ID, "%s", msg)
}

func (ps *Pools) find(id uint64, name string) (*Pool, bool) {
	if p, ok := ps.byName[name]; ok {
		return p, true
	}
	names := make([]string, 0, len(ps.order))
	for _, p := range ps.order {
		names = append(names, p.Name())
	}
	msg := suggest.NotFound(suggest.Pool, name, names).Error()
	if ps.city.IsAgent(name) {
		msg = fmt.Sprintf("%s is an agent; an [agents.pool] table makes the agent a pool", name)
	}
	ps.out.Reject(id, city.NotFound, "%s", msg)
	return nil, false
}

// MemberCount describes the sessions of one pool's members.
type MemberCount struct {
	Size     int // running and not draining
	Draining []string
}

// Snapshot returns all pools for a snapshot.
func (ps *Pools) Snapshot(members map[*Pool]MemberCount) []city.Pool {
	out, work := make([]city.Pool, len(ps.order)), ps.city.Work()
	for i, p := range ps.order {
		out[i] = p.draw()
		out[i].Size, out[i].Draining = members[p].Size, members[p].Draining
		out[i].Reason += ps.Rollouts.Suffix(p.Name())
		open, counted := ps.openWork(p)
		if counted && p.Want.Max > 0 {
			at := work.AsOf
			out[i].Check.Value, out[i].Check.Good, out[i].Check.At = open, &at, &at
		}
		if p.Want.Check == "" && !counted && p.override == nil {
			out[i].Reason = uncountedReason(p.why, work.Uncounted)
		}
		if since, ok := ps.checking[p.Name()]; ok {
			out[i].Check.Running = &since
		}
		if ps.city.Stops() {
			out[i].Desired, out[i].Reason, out[i].Check.Problem = 0, "the city was stopped", ""
		}
	}
	return out
}

func uncountedReason(why, uncounted string) string {
	what, waits := strings.CutSuffix(why, noCheckYet)
	if !waits {
		return why
	}
	return what + ", because " + cmp.Or(uncounted, "the work has not been counted yet")
}

func (p *Pool) draw() city.Pool {
	w := p.Want
	return city.Pool{
		Name: w.Name, Description: w.Description, Rig: w.Rig, Min: w.Min, Max: w.Max,
		Desired: p.Desired, Reason: p.why, Since: p.since,
		Override: p.override, Suspended: w.Suspended.On(),
		SuspendedReason: w.Suspended.Where, SuspendedBy: city.Level(w.Suspended.Level),
		Check: p.last, Timeout: w.DrainTimeout,
		Source: w.Source, Patched: w.Patched, Decisions: slices.Clone(p.decisions),
	}
}
