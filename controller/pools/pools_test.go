package pools

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/rollout"
	"gcity/controller/step"
	"gcity/events"
	"gcity/pool"
)

// town is a city with one pool. All wanted members run immediately.
type town struct {
	conf     effect.Configuration
	turn     uint64
	work     Work
	counts   int
	recorded []events.Event
	running  map[string]bool
}

func (c *town) Running() bool                                 { return true }
func (c *town) Stops() bool                                   { return false }
func (c *town) Restart(time.Time, string, city.Peer) string   { return "" }
func (c *town) Configuration() *effect.Configuration          { return &c.conf }
func (c *town) Listed() bool                                  { return true }
func (c *town) Step() uint64                                  { return c.turn }
func (c *town) Work() Work                                    { return c.work }
func (c *town) CountWork()                                    { c.counts++ }
func (c *town) Record(e events.Event, _ ...effect.Reply)      { c.recorded = append(c.recorded, e) }
func (c *town) IsAgent(string) bool                           { return false }
func (c *town) Session(name string) (alive, leaving bool)     { return c.running[name], false }
func (c *town) Found(*Pool) int                               { return len(c.running) }
func (c *town) WantedAgain(string)                            {}
func (c *town) Member(name string) (m rollout.Member, _ bool) { return m, c.running[name] }

func (c *town) Populate(_ time.Time, p *Pool) {
	for _, w := range p.Members {
		if p.Has(w.Index) {
			c.running[w.Name] = true
		}
	}
}

func (c *town) counted(ps *Pools, now time.Time) {
	c.turn++
	c.work.Counted, c.work.CountedStep = true, c.turn
	ps.WorkCounted(now)
	ps.Chosen(now, c.turn-1)
}

func (c *town) wanted(p *Pool) string {
	var names []string
	for _, w := range p.Members {
		if p.Has(w.Index) {
			names = append(names, w.Name)
		}
	}
	return strings.Join(names, " ")
}

func newTown(check string) (*town, *Pools, *step.Output) {
	spec := pool.Spec{Name: "crew", Min: 1, Max: 4}
	c := &town{turn: 1, running: map[string]bool{},
		conf: effect.Configuration{Pools: []agent.Pool{{Spec: spec, Check: check}}}}
	for i := range spec.Max {
		c.conf.Wants = append(c.conf.Wants, agent.Want{Name: spec.Member(i + 1), Pool: "crew",
			Index: i + 1})
	}
	out := &step.Output{}
	ps := New(c, out)
	return c, &ps, out
}

func TestACheckSetsTheSize(t *testing.T) {
	now := time.Unix(0, 0)
	c, ps, out := newTown("wc -l < queue")
	ps.Adopt(now, &c.conf)
	ps.SizeAll(now)
	if _, asked := out.Effects[0].(effect.CheckPool); !asked || !ps.Busy() {
		t.Fatalf("no check was requested: %v", out.Effects)
	}
	ps.Checked(now, effect.PoolChecked{Pool: "crew", Check: "wc -l < queue", Value: 9})
	p := ps.Get("crew")
	if got := fmt.Sprintf("%d %s", p.Desired, p.why); got != "4 check returned 9, max is 4" {
		t.Errorf("the pool wants %s", got)
	}
	if len(c.recorded) != 1 || c.recorded[0].Type != events.PoolScaled {
		t.Errorf("recorded %v", c.recorded)
	}
	ps.Checked(now, effect.PoolChecked{Pool: "crew", Check: "wc -l < queue", Kind: "exit",
		Err: errors.New("exit status 2")})
	if got := ps.Snapshot(nil)[0]; p.Desired != 4 || got.Check.Problem != "exit status 2" {
		t.Errorf("after a failed check the pool wants %d: %+v", p.Desired, got.Check)
	}
}

// TestAPoolShrinksOnlyWithANewCount checks that a member with work leaves last.
func TestAPoolShrinksOnlyWithANewCount(t *testing.T) {
	now := time.Unix(0, 0)
	c, ps, _ := newTown("")
	ps.Adopt(now, &c.conf)
	c.work.Pools = map[string]int{"crew": 3}
	c.counted(ps, now)
	p := ps.Get("crew")
	if got := c.wanted(p); got != "crew-1 crew-2 crew-3" {
		t.Fatalf("3 open tasks want %q", got)
	}

	c.turn++
	c.work.Pools, c.work.CountedStep = map[string]int{"crew": 1}, c.turn-1
	ps.WorkCounted(now)
	if before := c.counts; before == 0 || !p.Waits() || c.wanted(p) != "crew-1 crew-2 crew-3" {
		t.Fatalf("%d counts requested, waits %t, wants %q", before, p.Waits(), c.wanted(p))
	}
	c.work.Tasks = map[string]string{"crew-3": "gc-7"}
	c.counted(ps, now)
	if got := c.wanted(p); got != "crew-3" || p.Waits() {
		t.Errorf("only crew-3 has work, but the pool wants %q", got)
	}
}

func TestAUserSetsTheSize(t *testing.T) {
	now := time.Unix(0, 0)
	c, ps, out := newTown("true")
	ps.Adopt(now, &c.conf)
	out.Begin()
	ps.Scale(7, city.Scale{Pool: "crew", Size: 5})
	if r := out.Effects[0].(effect.SendReply); r.Reply.Err == nil {
		t.Error("a size above max was accepted")
	}
	out.Begin()
	ps.Scale(8, city.Scale{Pool: "crew", Size: 2})
	f := out.Effects[0].(effect.Scale)
	if ps.Get("crew").Desired != 1 {
		t.Error("the size took effect before it was saved")
	}
	ps.Scaled(now, effect.Scaled{Scale: f})
	if p := ps.Get("crew"); p.Desired != 2 || c.wanted(p) != "crew-1 crew-2" || len(ps.Scales) > 0 {
		t.Errorf("the pool wants %d: %q", p.Desired, c.wanted(p))
	}
	if !slices.ContainsFunc(out.Effects, func(f effect.Effect) bool {
		r, ok := f.(effect.SendReply)
		return ok && r.Reply.ID == 8 && r.Reply.Err == nil
	}) {
		t.Errorf("the command was not answered: %v", out.Effects)
	}
	f.Size, f.By = nil, city.Peer{Actor: "ann"}
	ps.Checked(now, effect.PoolChecked{Pool: "crew", Check: "true", Value: 3})
	c.recorded = nil
	for range 2 { // the second command has no effect
		ps.Scale(9, city.Scale{Pool: "crew", Auto: true})
		ps.Scaled(now, effect.Scaled{Scale: f})
	}
	if len(c.recorded) != 1 || c.recorded[0].Message != "2 → 3: check returned 3" ||
		c.recorded[0].Actor != "ann" {
		t.Errorf("recorded %+v", c.recorded)
	}
}

// In a pool without a check, a user can remove a size before work has been counted.
func TestAUserRemovesTheSizeBeforeACount(t *testing.T) {
	now := time.Unix(0, 0)
	for _, stored := range []bool{false, true} { // the size was set before the controller started
		c, ps, out := newTown("")
		if stored {
			c.conf.Overrides = map[string]int{"crew": 3}
		}
		c.work.Uncounted = "the store does not respond"
		ps.Adopt(now, &c.conf)
		ps.SizeAll(now)
		if !stored {
			size := 3
			ps.Scale(1, city.Scale{Pool: "crew", Size: size})
			ps.Scaled(now, effect.Scaled{Scale: effect.Scale{Pool: "crew", ID: 1, Size: &size}})
		}
		ps.Scale(2, city.Scale{Pool: "crew", Auto: true})
		out.Begin()
		ps.Scaled(now, effect.Scaled{Scale: effect.Scale{Pool: "crew", ID: 2}})
		const why = "the minimum, because the store does not respond"
		if p := ps.Snapshot(nil)[0]; p.Desired != 1 || p.Override != nil || p.Reason != why {
			t.Errorf("%t: the pool wants %d: %s", stored, p.Desired, p.Reason)
		}
		if !slices.ContainsFunc(out.Effects, func(f effect.Effect) bool {
			r, ok := f.(effect.SendReply)
			return ok && r.Reply.Receipt.Message == "pool crew wants 1 instead of 3: "+why
		}) {
			t.Errorf("%t: %+v", stored, out.Effects)
		}
	}
}

// The latest count of work does not contain a pool whose check has just been removed.
func TestAPoolWithoutItsCheckKeepsItsSizeUntilACount(t *testing.T) {
	now := time.Unix(0, 0)
	c, ps, out := newTown("true")
	ps.Adopt(now, &c.conf)
	ps.Checked(now, effect.PoolChecked{Pool: "crew", Check: "true", Value: 3})
	c.work.Pools = map[string]int{}
	c.counted(ps, now)
	c.recorded = nil

	c.turn++
	c.conf.Pools = []agent.Pool{{Spec: c.conf.Pools[0].Spec}}
	ps.Adopt(now, &c.conf)
	ps.SizeAll(now)
	p := ps.Get("crew")
	if p.Desired != 3 || len(c.recorded) > 0 || ps.SizeKnown(p) || p.Waits() {
		t.Errorf("without a count, the pool wants %d: %s; recorded %v", p.Desired, p.why, c.recorded)
	}
	if got := ps.Snapshot(nil)[0].Check; got.Good != nil {
		t.Errorf("the snapshot shows a count: %+v", got)
	}
	c.turn++ // a store did not respond to a count
	c.work.CountedStep = c.turn
	ps.Chosen(now, c.turn-1)
	if got := c.wanted(p); got != "crew-1 crew-2 crew-3" {
		t.Errorf("without a new count, the pool wants %q", got)
	}
	size := 2
	ps.Scale(1, city.Scale{Pool: "crew", Size: size})
	ps.Scaled(now, effect.Scaled{Scale: effect.Scale{Pool: "crew", ID: 1, Size: &size}})
	ps.Scale(2, city.Scale{Pool: "crew", Auto: true})
	out.Begin()
	ps.Scaled(now, effect.Scaled{Scale: effect.Scale{Pool: "crew", ID: 2}})
	if p.Desired != 3 {
		t.Errorf("without the user's size, the pool wants %d: %s", p.Desired, p.why)
	}
	c.work.Pools = map[string]int{"crew": 4}
	c.counted(ps, now)
	if p.Desired != 4 || !ps.SizeKnown(p) {
		t.Errorf("4 open tasks want %d members: %s", p.Desired, p.why)
	}
}

// The latest count of work does not contain a pool that was off.
func TestAPoolThatWasOffWantsItsMinimumUntilACount(t *testing.T) {
	now := time.Unix(0, 0)
	c, ps, _ := newTown("")
	spec := c.conf.Pools[0].Spec
	c.conf.Pools[0].Max = 0
	ps.Adopt(now, &c.conf)
	ps.SizeAll(now)
	c.work.Pools = map[string]int{}
	c.counted(ps, now)

	c.turn++
	c.conf.Pools = []agent.Pool{{Spec: spec}}
	ps.Adopt(now, &c.conf)
	ps.SizeAll(now)
	const why = "the minimum, because the work has not been counted yet"
	if p := ps.Snapshot(nil)[0]; p.Desired != 1 || p.Reason != why {
		t.Errorf("the pool wants %d: %s", p.Desired, p.Reason)
	}
	if len(c.recorded) != 1 || c.recorded[0].Message != "0 → 1: "+why {
		t.Errorf("recorded %v", c.recorded)
	}
}

// The size that a user has set applies as soon as a pool is no longer off.
func TestAPoolThatWasOffHasTheSizeOfAUser(t *testing.T) {
	now := time.Unix(0, 0)
	c, ps, _ := newTown("true")
	spec := c.conf.Pools[0].Spec
	c.conf.Pools[0].Max, c.conf.Overrides = 0, map[string]int{"crew": 3}
	ps.Adopt(now, &c.conf)
	ps.SizeAll(now)
	c.conf.Pools = []agent.Pool{{Spec: spec, Check: "true"}}
	ps.Adopt(now, &c.conf)
	ps.SizeAll(now)
	if len(c.recorded) != 1 || c.recorded[0].Message != "0 → 3: set to 3 by an earlier command" ||
		c.recorded[0].Actor == effect.ActorOperator {
		t.Errorf("recorded %v", c.recorded)
	}
}
