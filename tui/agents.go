package tui

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/city"
)

// agentRow is an agent made ready to be shown: every text cleaned, once.
type agentRow struct {
	name     string // as the city knows it
	shown    string
	state    city.State
	why      string
	pool     string
	rig      string
	provider string
	since    time.Time
	until    time.Time // zero = none
	restarts int
	crashes  int
	pid      int
	exit     *city.Exit
	session  *city.Session
	usage    *city.Usage
	drain    *city.DrainInfo
	next     *city.Next
	idle     time.Duration // it is restarted after so long without activity, 0 = never
	frozen   bool
	drifted  bool
	running  bool
}

func newAgentRow(a *city.Agent) agentRow {
	r := agentRow{
		name: a.Name, shown: plain(a.Name), state: city.State(plain(string(a.State))), why: plain(reason(a)),
		pool: a.Pool, rig: a.Rig, provider: a.Provider, since: a.Since,
		restarts: a.Restarts, crashes: a.Crashes, pid: a.PID, exit: a.Exit, session: a.Session, usage: a.Usage, drain: a.Drain, next: a.Next, idle: a.IdleTimeout, frozen: a.Frozen,
		drifted: len(a.Drift) > 0, running: a.Running,
	}
	if a.Until != nil {
		r.until = *a.Until
	}
	switch {
	case r.frozen:
		r.why = "frozen: a signal has stopped it, nothing goes on until it is continued"
	case r.drifted:
		r.why = "a restart is held back: " + plain(strings.Join(a.Drift, ", "))
	case a.Description != "" && (a.State == city.Running || r.why == ""):
		r.why = plain(a.Description)
	}
	return r
}

// reason is why an agent is in its state; that it is declared somewhere goes without saying in a list.
func reason(a *city.Agent) string {
	if a.Pool != "" && a.Reason == "member of pool "+a.Pool {
		return ""
	}
	place, ok := strings.CutPrefix(a.Reason, "declared at ")
	if !ok {
		return a.Reason
	}
	if _, err := strconv.Atoi(place[strings.LastIndexByte(place, ':')+1:]); err != nil {
		return a.Reason
	}
	return ""
}

// attached reports whether somebody works in its terminal.
func (r *agentRow) attached() bool { return r.session != nil && r.session.Attached }

// patient is how long an agent may wait for another one, or drain without a deadline, before somebody should look at it.
const patient = 10 * time.Minute

// attention reports whether a person should look at it.
func (r *agentRow) attention(now time.Time) bool {
	switch r.state {
	case city.Failed, city.Quarantined, city.Backoff:
		return true
	case city.Waiting:
		return now.Sub(r.since) >= patient
	case city.Draining:
		return r.until.IsZero() && now.Sub(r.since) >= patient
	}
	return r.frozen || r.drifted || r.state.Urgency() == 0
}

// rank orders rows: what needs a person first, then by name as a person counts.
func rank(a, b *agentRow) int {
	if d := a.state.Urgency() - b.state.Urgency(); d != 0 {
		return d
	}
	return city.CompareNames(a.name, b.name)
}

// roster is the city's agents in the order of the lists. The order is kept still while the person works in it; agents
// keep their place, new ones come in where they belong.
type roster struct {
	rows     []agentRow // in the order shown
	version  uint64     // grows when rows change
	measured bool       // some agent's use is known
}

// update takes a snapshot's agents. With still set the known ones keep their order.
func (r *roster) update(agents []city.Agent, still bool) {
	r.version++
	r.measured = false
	place := make(map[string]int, len(r.rows))
	for i := range r.rows {
		place[r.rows[i].name] = i
	}
	rows := make([]agentRow, 0, len(agents))
	var fresh []agentRow
	for i := range agents {
		row := newAgentRow(&agents[i])
		r.measured = r.measured || row.usage != nil
		if _, known := place[row.name]; still && !known {
			fresh = append(fresh, row)
		} else {
			rows = append(rows, row)
		}
	}
	if !still {
		slices.SortFunc(rows, func(a, b agentRow) int { return rank(&a, &b) })
		r.rows = rows
		return
	}
	slices.SortFunc(rows, func(a, b agentRow) int { return place[a.name] - place[b.name] })
	for _, row := range fresh {
		at := slices.IndexFunc(rows, func(o agentRow) bool { return rank(&row, &o) < 0 })
		if at < 0 {
			at = len(rows)
		}
		rows = slices.Insert(rows, at, row)
	}
	r.rows = rows
}

// find returns the row of an agent, nil if there is none.
func (r *roster) find(name string) *agentRow {
	for i := range r.rows {
		if r.rows[i].name == name {
			return &r.rows[i]
		}
	}
	return nil
}

func (r *roster) len() int { return len(r.rows) }

func (r *roster) id(i int) string { return r.rows[i].name }

// under is the agent under a list's cursor, nil if the list is empty.
func (r *roster) under(l *list) *agentRow {
	if i := l.under(r); i >= 0 {
		return &r.rows[i]
	}
	return nil
}
