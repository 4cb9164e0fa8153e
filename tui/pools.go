package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/tui/widget"
)

// poolState is how a pool is, in a word.
type poolState string

const (
	poolFailing   poolState = "failing"   // its newest check does not count
	poolShort     poolState = "short"     // it has had too few members for long
	poolGrowing   poolState = "growing"   // it has too few yet
	poolShrinking poolState = "shrinking" // members finish
	poolSteady    poolState = "steady"
	poolSuspended poolState = "suspended"
)

// long is how long a pool may have too few members before somebody should look at it.
const long = time.Minute

// poolRow is a pool made ready to be shown: every text cleaned, once.
type poolRow struct {
	name      string // as the city knows it
	shown     string
	rig       string
	size      int // members that live
	desired   int
	min, max  int
	reason    string // of desired
	since     time.Time
	override  *int
	draining  []string
	suspended string // why, "" = it is not
	check     city.Check
	timeout   time.Duration // of a drain, 0 = it is waited for without end
	source    string
	lacking   time.Time // since when it is known to have too few members, zero = it has enough
}

func newPoolRow(p *city.Pool) poolRow {
	r := poolRow{name: p.Name, shown: widget.Plain(p.Name), rig: p.Rig, size: p.Size,
		desired: p.Desired, min: p.Min, max: p.Max,
		reason: widget.Plain(p.Reason), since: p.Since, override: p.Override, check: p.Check,
		timeout: p.Timeout, source: widget.Plain(p.Source)}
	r.check.Problem = widget.Plain(p.Check.Problem)
	for _, name := range p.Draining {
		r.draining = append(r.draining, widget.Plain(name))
	}
	if p.Suspended {
		if r.suspended = suspendedBy(widget.Plain(p.SuspendedReason)); r.suspended == "" {
			r.suspended = "suspended"
		}
	}
	return r
}

// lacks reports whether it has too few members, for whatever reason but suspension.
func (r *poolRow) lacks() bool { return r.suspended == "" && r.size < r.desired }

func (r *poolRow) state(now time.Time) poolState {
	switch {
	case r.suspended != "":
		return poolSuspended
	case r.check.Problem != "":
		return poolFailing
	case r.lacks() && now.Sub(r.lacking) >= long && now.Sub(r.since) >= long:
		return poolShort
	case r.lacks():
		return poolGrowing
	case len(r.draining) > 0 || r.size > r.desired:
		return poolShrinking
	}
	return poolSteady
}

// attention reports whether a person should look at it: its check fails, it has had too few members for long, or
// somebody has set its size and may have forgotten.
func (r *poolRow) attention(now time.Time) bool {
	switch r.state(now) {
	case poolFailing, poolShort:
		return true
	case poolSuspended:
		return false
	}
	return r.override != nil
}

func (r *poolRow) Key() string { return r.name }

// ills counts what the Pools title says: pools whose check fails, and pools short of members.
func (p *pools) ills(now time.Time) string {
	failing, short := 0, 0
	for i := range p.Rows {
		switch p.Rows[i].state(now) {
		case poolFailing:
			failing++
		case poolShort:
			short++
		}
	}
	var parts []string
	if failing > 0 {
		parts = append(parts, fmt.Sprintf("%d failing", failing))
	}
	if short > 0 {
		parts = append(parts, fmt.Sprintf("%d short", short))
	}
	return strings.Join(parts, ", ")
}

// poolWays are the orders of pools, by name where nobody asked for another.
func poolWays(now time.Time) []widget.Way[poolRow] {
	return []widget.Way[poolRow]{
		{Name: "name", Rank: func(a, b *poolRow) int { return city.CompareNames(a.name, b.name) }},
		{Name: "need", Rank: func(a, b *poolRow) int {
			return cmp.Compare(a.state(now).urgency(), b.state(now).urgency())
		}},
		{Name: "size", Rank: func(a, b *poolRow) int { return cmp.Compare(b.size, a.size) }},
		{Name: "age", Rank: func(a, b *poolRow) int { return b.since.Compare(a.since) }},
	}
}

// urgency orders the states of pools: 0 needs a person most.
func (s poolState) urgency() int {
	return slices.Index([]poolState{poolFailing, poolShort, poolGrowing, poolShrinking, poolSteady,
		poolSuspended}, s)
}
