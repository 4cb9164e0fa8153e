package panel

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/city"
	"gcity/tui/widget"
)

type poolState string

const (
	poolFailing   poolState = "failing"   // its last check failed, or all its members crash
	poolShort     poolState = "short"     // it has had too few members for a long time
	poolGrowing   poolState = "growing"   // it has had too few members for a short time
	poolDraining  poolState = "draining"  // it has too few members because a user is draining some
	poolShrinking poolState = "shrinking" // surplus members are draining
	poolSteady    poolState = "steady"
	poolSuspended poolState = "suspended"
)

// MaxShort is how long a pool can have too few members before it needs attention.
const MaxShort = time.Minute

// PoolRow is a pool ready to be drawn. The fields of the row itself are sanitized, except most of Check, but not those
// of the snapshot's pool.
type PoolRow struct {
	*city.Pool
	Shown     string
	Reason    string
	Draining  []string
	Suspended string     // "suspended with rig demo"; "" = not suspended
	OffAt     city.Level // the level at which the pool is suspended, if known
	Check     city.Check
	Source    string
	restart   string
	drained   int       // members that a user is draining
	crashing  bool      // members crash or cannot start, and none keeps running
	short     time.Time // when unmet became true; zero = it is false
}

func NewPoolRow(p *city.Pool) PoolRow {
	r := PoolRow{Pool: p, Shown: widget.Plain(p.Name), Reason: widget.Plain(p.Reason),
		Check: p.Check, Source: widget.Plain(p.Source), restart: p.Restarting()}
	r.Check.Problem = widget.Plain(p.Check.Problem)
	for _, name := range p.Draining {
		r.Draining = append(r.Draining, widget.Plain(name))
	}
	if p.Suspended {
		r.OffAt = p.SuspendedBy
		r.Suspended = strings.TrimSpace("suspended " + widget.Plain(p.SuspendedReason))
	}
	return r
}

func (r *PoolRow) isShort() bool { return r.Suspended == "" && r.Size < r.Desired }

// unmet reports whether the pool would be short even without drains by users.
func (r *PoolRow) unmet() bool { return r.isShort() && r.Size+r.drained < r.Desired }

func (r *PoolRow) State(now time.Time) poolState {
	switch {
	case r.Suspended != "":
		return poolSuspended
	case r.Check.Problem != "" || r.crashing:
		return poolFailing
	case r.unmet() && now.Sub(r.short) >= MaxShort && now.Sub(r.Since) >= MaxShort:
		return poolShort
	case r.unmet():
		return poolGrowing
	case r.isShort():
		return poolDraining
	case len(r.Draining) > 0 || r.Size > r.Desired:
		return poolShrinking
	}
	return poolSteady
}

// Attention reports whether the pool needs attention.
func (r *PoolRow) Attention(now time.Time) bool {
	switch r.State(now) {
	case poolFailing, poolShort:
		return true
	case poolSuspended:
		return false
	}
	return r.Override != nil
}

func (r *PoolRow) Key() string { return r.Name }

// problems returns the names of the pools with a problem, and their numbers by state: "1 failing, 2 short".
func (p *Pools) problems(now time.Time) (names []string, text string) {
	var parts []string
	for _, s := range []poolState{poolFailing, poolShort} {
		rows := p.Where(func(r *PoolRow) bool { return r.State(now) == s })
		for _, r := range rows {
			names = append(names, r.Name)
		}
		parts = widget.AppendCount(parts, len(rows), string(s))
	}
	return names, strings.Join(parts, ", ")
}

func (p *Pools) issues(e *Env) (text string, alert bool) {
	_, text = p.problems(e.Now)
	return text, text != ""
}

func poolSorts(now time.Time) []widget.SortKey[*PoolRow] {
	return []widget.SortKey[*PoolRow]{
		{Name: "name"},
		{Name: "state", Desc: true, Cmp: func(a, b *PoolRow) int {
			return cmp.Compare(a.State(now).urgency(), b.State(now).urgency())
		}},
		{Name: "size", Desc: true, Cmp: widget.GreatestFirst(func(r *PoolRow) int {
			return r.Size
		})},
		{Name: "min-max", Desc: true, Cmp: func(a, b *PoolRow) int {
			return cmp.Or(cmp.Compare(b.Max, a.Max), cmp.Compare(b.Min, a.Min))
		}},
		{Name: "check", Desc: true, Cmp: widget.GreatestFirst(func(r *PoolRow) int {
			return r.Check.Value
		})},
	}
}

// 0 is the most urgent
func (s poolState) urgency() int {
	return slices.Index([]poolState{poolFailing, poolShort, poolGrowing, poolDraining,
		poolShrinking, poolSteady, poolSuspended}, s)
}

// CheckResult returns the result of the check in a few words.
func (r *PoolRow) CheckResult() string {
	switch {
	case r.Check.Problem != "":
		return "the check failed"
	case r.Check.Good == nil:
		return "not checked yet"
	case r.Check.Command == "":
		return fmt.Sprintf("open beads: %d", r.Check.Value)
	}
	return fmt.Sprintf("check: %d", r.Check.Value)
}

// SizeOf parses a size or "auto". If the text is invalid, the result why contains the reason. Empty text is valid.
func (r *PoolRow) SizeOf(text string) (size int, auto bool, why string) {
	text = strings.ToLower(strings.TrimSpace(text))
	if text == "" || text == "auto" {
		return 0, text == "auto", ""
	}
	size, err := strconv.Atoi(text)
	switch {
	case err != nil:
		return 0, false, fmt.Sprintf("invalid size %q: use a number from %d to %d, or auto", text,
			r.Min,
			r.Max)
	case size < r.Min:
		return 0, false, fmt.Sprintf("min is %d (%s)", r.Min, r.Source)
	case size > r.Max:
		return 0, false, fmt.Sprintf("max is %d (%s)", r.Max, r.Source)
	}
	return size, false, ""
}
