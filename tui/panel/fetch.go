package panel

import (
	"slices"
	"time"

	"gcity/beads"
	"gcity/tui/widget"
)

// BeadPanel is a panel that builds its rows from bead queries.
type BeadPanel interface {
	Panel
	// RequestBeads calls seek for missing or outdated beads, if the panel is visible.
	RequestBeads(e *Env, visible bool, seek func(beads.Query) int)
	// Take handles the result of a query. It reports whether the panel was waiting for it.
	Take(id int, found []beads.Bead, problem string) bool
	// Outdated marks the panel's beads as outdated.
	Outdated()
	// Hurry makes the next queries ignore the minimum gap.
	Hurry()
	// TimeToQuery returns the time until RequestBeads must be called again; 0 = no new timer is needed. It returns each
	// wait only once, so that the caller starts one timer.
	TimeToQuery(now time.Time) time.Duration
}

// Fetch collects the results of a group of queries. It keeps the previous results until all new ones have arrived.
type Fetch struct {
	Known   bool // each query has returned a result at least once
	Problem string
	stale   bool
	urgent  bool
	at      time.Time
	// when to request outdated results again; TimeToQuery resets it
	wakeAt  time.Time
	wokenAt time.Time
	pending []int // request IDs, in the order of the queries; 0 = the result has arrived
	found   [][]beads.Bead
	failed  string
}

// Outdated marks the results as outdated.
func (f *Fetch) Outdated() { f.stale = true }

// Hurry implements BeadPanel.
func (f *Fetch) Hurry() { f.urgent = true }

// TimeToQuery implements BeadPanel.
func (f *Fetch) TimeToQuery(now time.Time) (wait time.Duration) {
	wait, f.wakeAt = max(0, f.wakeAt.Sub(now)), time.Time{}
	return wait
}

const retryGap = 10 * time.Second

// Due reports whether to send the queries now. It returns false while results are pending.
func (f *Fetch) Due(now time.Time, gap time.Duration) bool {
	next := f.at.Add(gap)
	wait := !f.at.IsZero() && !f.urgent && now.Before(next)
	if wait && f.stale && len(f.pending) == 0 && !next.Equal(f.wokenAt) {
		f.wakeAt, f.wokenAt = next, next
	}
	if wait || len(f.pending) > 0 {
		return false
	}
	return f.stale || f.Problem == "" && !f.Known || f.Problem != "" && now.Sub(f.at) >= retryGap
}

// Begin sends a group of queries.
func (f *Fetch) Begin(now time.Time, seek func(beads.Query) int, queries ...beads.Query) {
	f.stale, f.urgent, f.at, f.found = false, false, now, make([][]beads.Bead, len(queries))
	for _, q := range queries {
		f.pending = append(f.pending, seek(q))
	}
	f.failed = ""
}

// Take handles a result. It reports whether this Fetch requested the result. With the last result, it returns all
// results, unless a query has failed.
func (f *Fetch) Take(id int, found []beads.Bead, problem string) (all [][]beads.Bead, ours bool) {
	i := slices.Index(f.pending, id)
	if i < 0 || id == 0 {
		return nil, false
	}
	f.pending[i], f.found[i] = 0, found
	if problem != "" {
		f.failed = widget.Plain(problem)
	}
	if slices.ContainsFunc(f.pending, func(id int) bool { return id != 0 }) {
		return nil, true
	}
	f.pending, f.Problem = nil, f.failed
	if f.Problem != "" {
		return nil, true
	}
	f.Known = true
	return f.found, true
}

// pager requests a list in pages, newest rows first.
type pager struct {
	Fetch
	size, max int // rows per page, and maximum number of rows

	pages  int
	limit  int
	more   bool
	agent  string // agent to which the latest query was limited; "" = no limit
	counts [2]int
}

func newPager(size, most int) pager { return pager{size: size, max: most, pages: 1} }

func (p *pager) renew(counts [2]int, whose string, atEnd bool) {
	all := p.pages * p.size
	grows := p.more && atEnd && all < p.max && p.limit == all
	if grows {
		p.pages++
	}
	if grows || counts != p.counts || whose != p.agent {
		p.Outdated()
	}
	p.counts, p.agent = counts, whose
}

func (p *pager) next(now time.Time) int {
	const gap = 800 * time.Millisecond // per page; a single page is updated within a second
	if !p.Due(now, time.Duration(p.pages)*gap) {
		return 0
	}
	p.limit = p.pages * p.size
	return p.limit
}

func (f *Fetch) loading() bool { return f.Problem == "" && !f.Known }

func (f *Fetch) unreadable(e *Env, w int, what, retry string) []string {
	if e.Stopped != "" {
		return e.Look.Notes(w, what+" cannot be read: "+e.Stopped+".")
	}
	return e.Look.Notes(w, what+" cannot be read: "+f.Problem, e.KeyOf(retry)+" tries again.")
}
