package machine

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/step"
	"gcity/events"
	"gcity/internal/redact"
	"gcity/internal/suggest"
)

// poolRecord is one pool: how many members it should have, and why. The members themselves are records like any
// other.
type poolRecord struct {
	want    *agent.Pool
	members []*agent.Want // all that are possible, by index

	desired  int
	why      string
	since    time.Time
	settled  bool // desired is not a guess from what was found running
	override *int
	without  int    // what desired was before somebody set it by hand
	whyNot   string // and why

	asked   string // the check that was last run
	trouble string // kind of its failure
	last    city.Check
	good    bool // last.Value counts

	in     []bool // who is wanted, by index; as many as desired, where that many are possible
	placed bool   // they were chosen by who was found running
	// the turn since which it is being found out who of them is at work, before some leave; 0 = it is not
	asks uint64

	wasEmpty bool // as of the last ripple

	size     int // as of the last snapshot
	draining []string

	decisions []city.Decision
}

func (p *poolRecord) name() string { return p.want.Name }

// surplus reports that an agent is a pool's member that the pool does not want now.
func (a *record) surplus() bool {
	return a.pool != nil && (a.want == nil || !a.pool.has(a.want.Index))
}

// unwanted reports that an agent should not be there.
func (a *record) unwanted() bool { return a.want == nil || a.surplus() }

// adoptPools takes the pools of a new configuration. What is known of a pool is kept by its name (L6).
func (ps *poolSizes) adoptPools(now time.Time, c *effect.Configuration) {
	before := ps.pools
	ps.pools, ps.poolOrder = make(map[string]*poolRecord, len(c.Pools)), ps.poolOrder[:0]
	for i := range c.Pools {
		w := &c.Pools[i]
		p, known := before[w.Name]
		if !known {
			p = &poolRecord{since: now, why: "the minimum: nothing is known yet"}
			if n, ok := c.Overrides[w.Name]; ok {
				p.override = &n
			}
		} else if w.Check == "" {
			// another check than before: what the old one said counts until it has spoken
			p.good, p.last = false, city.Check{}
		}
		p.want, p.members = w, p.members[:0]
		p.last.Command = redact.Text(w.Check)
		ps.pools[w.Name] = p
		ps.poolOrder = append(ps.poolOrder, p)
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

// sizePools works out the size of every pool and asks those that have a check, once a configuration is in force or
// reality has been seen for the first time.
func (ps *poolSizes) sizePools(now time.Time) {
	for _, p := range ps.poolOrder {
		ps.size(now, p)
		ps.populate(now, p)
		if ps.m.looks.listed && (p.last.At == nil || p.asked != p.want.Check) {
			ps.check(now, p)
		}
	}
}

// size sets how many members a pool should have, from what is known.
func (ps *poolSizes) size(now time.Time, p *poolRecord) {
	switch s := p.want.Spec; {
	case s.Max == 0:
		ps.resize(now, p, 0, "off: max = 0")
	case p.override != nil:
		why := fmt.Sprintf("set to %d by operator", *p.override)
		ps.resize(now, p, s.Size(*p.override), why+p.bounded(*p.override))
	case p.good:
		ps.resize(now, p, s.Size(p.last.Value), fmt.Sprintf("check said %d", p.last.Value)+
			p.bounded(p.last.Value))
	case p.want.Check == "" && ps.m.work.counted:
		n := ps.m.work.counts.Pools[p.name()]
		ps.resize(now, p, s.Size(n), fmt.Sprintf("%d open for it", n)+p.bounded(n))
	case p.want.Check == "" && ps.m.conf.NoWork:
		ps.resize(now, p, s.Min, "the minimum: there is no check, and no work is counted yet")
	case !ps.m.looks.listed || p.settled:
		ps.resize(now, p, s.Size(p.desired), p.why)
	default:
		ps.guess(now, p)
	}
}

// byHand notes an override, or its end: then it is as it was before, until a check speaks.
func (ps *poolSizes) byHand(now time.Time, p *poolRecord, size *int) {
	what := "given back to its check by operator"
	if size != nil {
		what = fmt.Sprintf("set to %d by operator", *size)
	}
	if p.override == nil && size != nil {
		p.without, p.whyNot = p.desired, p.why
	}
	if p.override != nil && size == nil && !p.good && p.want.Check != "" {
		if p.whyNot == "" { // it was set before this controller began
			p.without, p.whyNot = p.want.Min, "the minimum"+unanswered
		}
		defer ps.resize(now, p, p.want.Size(p.without), p.whyNot)
	}
	p.override, ps.m.step.Changed = size, true
	ps.m.decidedOn(now, &p.decisions, "override", what)
}

// unanswered is behind the reason of a size that is a guess.
const unanswered = ": no check has answered yet"

// belonged reports that a member which was found was wanted by whoever kept it: it lives and is not told to leave,
// or it died by itself while nobody watched.
func (a *record) belonged() bool {
	if !a.sess.alive {
		return a.sess.exit != nil && !a.sess.life.Drain.On()
	}
	return a.finish.drain == nil || a.finish.drain.by != byPool
}

// guess takes what was found running for the last good size, until a check has spoken.
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
		return fmt.Sprintf("; %d are the least", p.want.Min)
	case n > p.want.Max:
		return fmt.Sprintf("; %d are the most", p.want.Max)
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

// check asks how many members a pool should have.
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

// checked takes what a check said. A failure keeps the size; only another failure than the last is told of.
func (ps *poolSizes) checked(now time.Time, in effect.PoolChecked) {
	delete(ps.checking, in.Pool)
	p, ok := ps.pools[in.Pool]
	if !ok {
		return
	}
	ps.m.step.Changed = true
	if in.Check != p.want.Check {
		ps.check(now, p)
		return
	}
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
		ps.m.decidedOn(now, &p.decisions, "check answers again", fmt.Sprint(in.Value))
	}
	p.last.Good, p.last.Value, p.good = &now, in.Value, true
	ps.size(now, p)
}

// scale sets a pool's size by hand, or gives it back to its check.
func (ps *poolSizes) scale(id uint64, c city.Scale) {
	p, ok := ps.findPool(id, c.Pool)
	if !ok {
		return
	}
	f := effect.Scale{Pool: p.name(), ID: id}
	if !c.Auto {
		if p.want.Size(c.Size) != c.Size {
			ps.m.step.Refuse(id, city.Invalid, fmt.Sprintf("pool %s cannot have %d members: "+
				"its bounds "+
				"are %d to %d (%s)",
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

// scaled takes the result of writing an override: now that it will be remembered, it counts.
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
		ps.m.step.Refuse(in.Scale.ID, city.NotFound, "pool "+in.Scale.Pool+" is no longer declared")
		return
	}
	from := p.desired
	ps.byHand(now, p, in.Scale.Size)
	ps.size(now, p)
	msg := fmt.Sprintf("pool %s wants %d: %s", p.name(), p.desired, p.why)
	if from != p.desired {
		msg = fmt.Sprintf("pool %s scales %d → %d: %s", p.name(), from, p.desired, p.why)
	} else { // who has a pool in hand is in the log, whatever its size
		ps.m.step.Do(effect.Record{Event: events.Event{Type: events.PoolScaled,
			Actor:   effect.ActorOperator,
			Subject: p.name(), Message: fmt.Sprintf("stays %d: %s", p.desired,
				p.decisions[len(p.decisions)-1].Why)}})
	}
	if p.want.Suspended != "" {
		msg += "; it is suspended " + p.want.Suspended + ", so none runs before it is resumed"
	}
	ps.m.step.Reply(in.Scale.ID, msg)
}

// findPool answers a command about a pool that there is not.
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
		msg = fmt.Sprintf("%s is an agent and no pool; [agents.pool] makes one of it", name)
	}
	ps.m.step.Refuse(id, city.NotFound, msg)
	return nil, false
}

// drawPools shows the pools, whose members are counted in one go.
func (ps *poolSizes) drawPools() []city.Pool {
	for _, p := range ps.poolOrder {
		p.size, p.draining = 0, nil
	}
	for _, a := range ps.m.order {
		switch {
		case a.pool == nil || !a.sess.alive || ps.pools[a.pool.name()] != a.pool:
		case a.finish.drain != nil:
			a.pool.draining = append(a.pool.draining, a.name)
		default:
			a.pool.size++
		}
	}
	out := make([]city.Pool, len(ps.poolOrder))
	for i, p := range ps.poolOrder {
		out[i] = p.draw()
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
	poolOrder []*poolRecord // in name order
	// since when a pool's check is in flight; of a pool that is gone, too
	checking map[string]time.Time
	scales   []effect.Scale // so here
}
