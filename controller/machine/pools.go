package machine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
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

// poolRecord is the state of one pool: its size and the reason. Its members have agent records of their own.
type poolRecord struct {
	want    *agent.Pool
	members []*agent.Want // all possible members, by index

	desired  int
	why      string
	since    time.Time
	settled  bool // desired was computed, and is not a placeholder
	override *int
	without  int    // size before a user set it
	whyNot   string // reason of that size

	asked   string // command of the newest check
	trouble string // kind of the newest check's failure
	last    city.Check
	good    bool // last.Value is valid

	in     []bool // whether each member is wanted, by index
	placed bool   // the choice is not provisional
	// the choice waits for a count of work requested in this turn or later; 0 = it does not wait
	asks uint64

	wasEmpty bool // size was 0 at the last ripple

	size     int // size in the last snapshot
	draining []string

	decisions []city.Decision

	asking []uint64 // commands that wait for the check to return
}

func (p *poolRecord) name() string { return p.want.Name }

// surplus reports whether an agent is a pool member that is currently unwanted.
func (a *record) surplus() bool {
	return a.pool != nil && (a.want == nil || !a.pool.has(a.want.Index))
}

// unwanted reports whether an agent should not run.
func (a *record) unwanted() bool { return a.want == nil || a.surplus() }

// adoptPools adopts the pools of a new configuration. Pools with the same name keep their state (L6).
func (ps *poolSizes) adoptPools(now time.Time, c *effect.Configuration) {
	before := ps.pools
	ps.pools, ps.poolOrder = make(map[string]*poolRecord, len(c.Pools)), ps.poolOrder[:0]
	for i := range c.Pools {
		w := &c.Pools[i]
		p, known := before[w.Name]
		if !known {
			p = &poolRecord{since: now, why: "the minimum: the check has not run yet"}
			if n, ok := c.Overrides[w.Name]; ok {
				p.override = &n
			}
		} else if w.Check == "" {
			// without a check, its last value no longer applies
			p.good, p.last = false, city.Check{}
		}
		p.want, p.members = w, p.members[:0]
		p.last.Command = redact.Text(w.Check)
		ps.pools[w.Name] = p
		ps.poolOrder = append(ps.poolOrder, p)
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if ps.pools[name] == nil {
			ps.dropPool(before[name])
		}
	}
	for i := range c.Wants {
		if p := ps.pools[c.Wants[i].Pool]; p != nil {
			p.members = append(p.members, &c.Wants[i])
		}
	}
	for _, p := range ps.poolOrder {
		slices.SortFunc(p.members, func(a, b *agent.Want) int {
			return cmp.Compare(a.Index, b.Index)
		})
		p.fit()
		if !p.settled && p.desired == 0 {
			p.desired = p.want.Size(0)
		}
	}
}

// sizePools sets the size of every pool and runs their checks. It is called when a configuration comes into force,
// and when all sessions are known for the first time.
func (ps *poolSizes) sizePools(now time.Time) {
	for _, p := range ps.poolOrder {
		ps.size(now, p)
		ps.populate(now, p)
		if ps.m.looks.listed && (p.last.At == nil || p.asked != p.want.Check) {
			ps.check(now, p)
		}
	}
}

// size sets how many members a pool should have, from what is known so far.
func (ps *poolSizes) size(now time.Time, p *poolRecord) {
	switch s := p.want.Spec; {
	case s.Max == 0:
		ps.resize(now, p, 0, "off: max = 0")
	case p.override != nil:
		why := fmt.Sprintf("set to %d by operator", *p.override)
		ps.resize(now, p, s.Size(*p.override), why+p.bounded(*p.override))
	case p.good:
		ps.resize(now, p, s.Size(p.last.Value), fmt.Sprintf("check returned %d", p.last.Value)+
			p.bounded(p.last.Value))
	case p.want.Check == "" && ps.m.work.counted:
		n := ps.m.work.counts.Pools[p.name()]
		ps.resize(now, p, s.Size(n), fmt.Sprintf("open work: %d", n)+p.bounded(n))
	case p.want.Check == "" && ps.m.conf.NoWork:
		ps.resize(now, p, s.Min, "the minimum: it has no check, and work is not counted "+
			"in this city")
	case !ps.m.looks.listed || p.settled:
		ps.resize(now, p, s.Size(p.desired), p.why)
	default:
		ps.guess(now, p)
	}
}

// byHand notes a size set by a user, or its removal. After a removal, the size from before applies until a check
// returns.
func (ps *poolSizes) byHand(now time.Time, p *poolRecord, size *int) {
	what := "returned to its check by operator"
	if size != nil {
		what = fmt.Sprintf("set to %d by operator", *size)
	}
	if p.override == nil && size != nil {
		p.without, p.whyNot = p.desired, p.why
	}
	if p.override != nil && size == nil && !p.good && p.want.Check != "" {
		if p.whyNot == "" { // the user set the size before this controller started
			p.without, p.whyNot = p.want.Min, "the minimum"+unanswered
		}
		defer ps.resize(now, p, p.want.Size(p.without), p.whyNot)
	}
	p.override, ps.m.step.Changed = size, true
	ps.m.decidedOn(now, &p.decisions, "override", what)
}

// unanswered is the end of the reason of a size that waits for a check.
const unanswered = ": its check has not returned yet"

// belonged reports whether the previous controller wanted a member that was found. It did if the member runs
// without a drain by its pool, or exited on its own since.
func (a *record) belonged() bool {
	if !a.phase.Alive() {
		return a.sess.exit != nil && !a.sess.life.Drain.On()
	}
	return a.finish.drain == nil || a.finish.drain.by != byPool
}

// guess uses the number of members found running as the size until a check returns.
func (ps *poolSizes) guess(now time.Time, p *poolRecord) {
	found := 0
	for _, a := range ps.m.order {
		if a.pool == p && a.want != nil && a.belonged() {
			found++
		}
	}
	n := p.want.Size(found)
	why := "the minimum" + unanswered
	if found > p.want.Min {
		why = "as many as were found running" + unanswered
	}
	p.settled = true
	p.desired, p.why, p.since = n, why, now
	ps.m.step.Changed = true
}

func (p *poolRecord) bounded(n int) string {
	switch {
	case n < p.want.Min:
		return fmt.Sprintf(", min is %d", p.want.Min)
	case n > p.want.Max:
		return fmt.Sprintf(", max is %d", p.want.Max)
	}
	return ""
}

func (ps *poolSizes) resize(now time.Time, p *poolRecord, n int, why string) {
	from, first := p.desired, !p.settled && !ps.m.looks.listed
	if p.why != why {
		p.why, ps.m.step.Changed = why, true
	}
	p.settled = p.settled || ps.m.looks.listed
	if n == from {
		return
	}
	p.desired, p.since, ps.m.step.Changed = n, now, true
	if first {
		return
	}
	ps.m.decidedOn(now, &p.decisions, "scale", fmt.Sprintf("%d → %d: %s", from, n, why))
	e := events.Event{
		Type: events.PoolScaled, Actor: effect.ActorController, Subject: p.name(),
		Message: fmt.Sprintf("%d → %d: %s", from, n, why),
		Payload: step.Payload(map[string]any{"from": from, "to": n}),
	}
	if p.override != nil {
		e.Actor = effect.ActorOperator
	}
	ps.m.journal.inOrder(queuedRecord{Record: effect.Record{Event: e}})
	ps.populate(now, p)
}

// check runs the check of a pool.
func (ps *poolSizes) check(now time.Time, p *poolRecord) {
	if p.want.Check == "" || p.want.Max == 0 || p.want.Suspended != "" || ps.m.ending != alive {
		return
	}
	if _, already := ps.checking[p.name()]; already {
		return
	}
	ps.checking[p.name()], p.asked, ps.m.step.Changed = now, p.want.Check, true
	ps.m.step.Do(effect.CheckPool{Pool: p.want})
}

func (ps *poolSizes) checkPools(now time.Time) {
	for _, p := range ps.poolOrder {
		ps.check(now, p)
	}
}

// checked handles the result of a check. A failure leaves the size unchanged, and only a new kind of failure is
// recorded.
func (ps *poolSizes) checked(now time.Time, in effect.PoolChecked) {
	delete(ps.checking, in.Pool)
	p, ok := ps.pools[in.Pool]
	if !ok {
		return
	}
	ps.m.step.Changed = true
	if in.Check != p.want.Check {
		ps.check(now, p)
		if _, again := ps.checking[in.Pool]; !again {
			ps.refuseCheck(p, "has a different check now, which is not run")
		}
		return
	}
	defer ps.answerCheck(p)
	problem, kind := p.last.Problem, p.trouble
	p.last.At, p.last.Took, p.last.Output, p.last.Problem, p.trouble = &now, in.Took, in.Output, "",
		in.Kind
	if in.Err != nil {
		p.last.Problem = in.Err.Error()
		if problem == "" || kind != in.Kind {
			ps.m.decidedOn(now, &p.decisions, "check failed", p.last.Problem)
			ps.m.step.Do(effect.Record{Event: events.Event{
				Type: events.PoolCheckFailed, Actor: effect.ActorController, Subject: p.name(),
				Message: fmt.Sprintf("the size stays %d: %s", p.desired, p.last.Problem),
				Payload: step.Payload(map[string]any{"size": p.desired, "output": in.Output}),
			}})
		}
		return
	}
	if problem != "" {
		ps.m.decidedOn(now, &p.decisions, "check works again", fmt.Sprint(in.Value))
	}
	p.last.Good, p.last.Value, p.good = &now, in.Value, true
	ps.size(now, p)
}

// scale sets a pool's size on request of a user, or lets the check decide again.
func (ps *poolSizes) scale(id uint64, c city.Scale) {
	p, ok := ps.findPool(id, c.Pool)
	if !ok {
		return
	}
	f := effect.Scale{Pool: p.name(), ID: id}
	if !c.Auto {
		if p.want.Size(c.Size) != c.Size {
			ps.m.step.Refuse(id, city.Invalid,
				fmt.Sprintf("pool %s cannot have %d members: use %d to %d (%s)",
					p.name(), c.Size, p.want.Min, p.want.Max, p.want.Source))
			return
		}
		f.Size = &c.Size
	}
	ps.scales = append(ps.scales, f)
	if len(ps.scales) == 1 {
		ps.m.step.Do(f)
	}
}

// scaled handles the result of saving a size that a user set. Only a saved size takes effect, since it outlives
// restarts.
func (ps *poolSizes) scaled(now time.Time, in effect.Scaled) {
	ps.scales = ps.scales[1:]
	if len(ps.scales) > 0 {
		ps.m.step.Do(ps.scales[0])
	}
	p, ok := ps.pools[in.Scale.Pool]
	switch {
	case in.Err != nil:
		ps.m.step.Refuse(in.Scale.ID, city.Unavailable, in.Err.Error())
		return
	case !ok:
		ps.m.step.Refuse(in.Scale.ID, city.NotFound, "pool "+in.Scale.Pool+
			" was removed from the configuration")
		return
	}
	from := p.desired
	ps.byHand(now, p, in.Scale.Size)
	ps.size(now, p)
	msg := fmt.Sprintf("pool %s wants %d: %s", p.name(), p.desired, p.why)
	if from != p.desired {
		msg = fmt.Sprintf("pool %s scales %d → %d: %s", p.name(), from, p.desired, p.why)
	} else { // record a size set by a user even if nothing changes
		ps.m.step.Do(effect.Record{Event: events.Event{Type: events.PoolScaled,
			Actor:   effect.ActorOperator,
			Subject: p.name(), Message: fmt.Sprintf("stays %d: %s", p.desired,
				p.decisions[len(p.decisions)-1].Why)}})
	}
	if p.want.Suspended != "" {
		msg += "; it is suspended " + p.want.Suspended + ", so its members stay stopped until " +
			"it is resumed"
	}
	ps.m.step.Reply(in.Scale.ID, msg)
}

// findPool returns a pool by name. If it does not exist, findPool refuses the command.
func (ps *poolSizes) findPool(id uint64, name string) (*poolRecord, bool) {
	if p, ok := ps.pools[name]; ok {
		return p, true
	}
	names := make([]string, 0, len(ps.poolOrder))
	for _, p := range ps.poolOrder {
		names = append(names, p.name())
	}
	msg := suggest.NotFound("pool", name, names)
	if ps.m.agents[name] != nil {
		msg = fmt.Sprintf("%s is an agent, not a pool; add [agents.pool] to make it one", name)
	}
	ps.m.step.Refuse(id, city.NotFound, msg)
	return nil, false
}

// drawPools returns all pools for a snapshot.
func (ps *poolSizes) drawPools() []city.Pool {
	for _, p := range ps.poolOrder {
		p.size, p.draining = 0, nil
	}
	for _, a := range ps.m.order {
		switch {
		case a.pool == nil || !a.phase.Alive() || ps.pools[a.pool.name()] != a.pool:
		case a.finish.drain != nil:
			a.pool.draining = append(a.pool.draining, a.name)
		default:
			a.pool.size++
		}
	}
	out := make([]city.Pool, len(ps.poolOrder))
	for i, p := range ps.poolOrder {
		out[i] = p.draw()
		out[i].Reason += ps.rollouts.Suffix(p.name())
		if w := &ps.m.work; p.want.Check == "" && w.counted && p.want.Max > 0 {
			at := w.asOf
			out[i].Check.Value, out[i].Check.Good, out[i].Check.At = w.counts.Pools[p.name()], &at,
				&at
		}
		if p.want.Check == "" && !ps.m.work.counted && p.override == nil {
			out[i].Reason = ps.m.work.uncountedReason(p)
		}
		if since, ok := ps.checking[p.name()]; ok {
			out[i].Check.Running = &since
		}
	}
	return out
}

func (p *poolRecord) draw() city.Pool {
	w := p.want
	return city.Pool{
		Name: w.Name, Description: w.Description, Rig: w.Rig, Min: w.Min, Max: w.Max, Size: p.size,
		Draining: p.draining, Desired: p.desired, Reason: p.why, Since: p.since,
		Override: p.override, Suspended: w.Suspended != "", SuspendedReason: w.Suspended,
		Check: p.last, Timeout: w.DrainTimeout,
		Source: w.Source, Patched: w.Patched, Decisions: slices.Clone(p.decisions),
	}
}

// poolSizes decides how many members each pool has, and which.
type poolSizes struct {
	m *Machine

	pools     map[string]*poolRecord
	poolOrder []*poolRecord // sorted by name
	// when the check in flight was started, by pool, including removed pools
	checking map[string]time.Time
	scales   []effect.Scale // sizes waiting to be saved; the first is in flight
	rollouts rollout.Rollouts
}
