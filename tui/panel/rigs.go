package panel

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/city"
	"gcity/tui/widget"
)

type rigState string

const (
	rigBroken    rigState = "broken"
	rigTroubled  rigState = "troubled"
	rigStarting  rigState = "starting" // no agent is running yet
	rigRunning   rigState = "running"
	rigIdle      rigState = "idle"
	rigSuspended rigState = "suspended"
)

// 0 is the most urgent
func (s rigState) urgency() int {
	all := []rigState{rigBroken, rigTroubled, rigStarting, rigRunning, rigIdle, rigSuspended}
	return slices.Index(all, s)
}

// RigRow is a rig ready to be drawn. The fields of the row itself are sanitized, but not those of the snapshot's rig.
type RigRow struct {
	*city.Rig
	Shown   string
	Path    string
	Prefix  string
	Source  string
	State   rigState
	Problem string   // why its folder cannot be used
	counts  []string // agents by state, most urgent first: "2 running"
}

func newRigRow(s *city.Snapshot, r *city.Rig, agents []*AgentRow, now time.Time) RigRow {
	row := RigRow{Rig: r, Shown: widget.Plain(r.Name), Path: widget.Plain(r.Path),
		Prefix: widget.Plain(r.Prefix), Source: widget.Plain(r.Source), State: rigIdle,
		Problem: widget.Plain(r.Problem)}
	states, urgent := map[city.State]int{}, false
	for _, a := range agents {
		if a.Rig == r.Name {
			states[a.State]++
			urgent = urgent || a.Attention(now)
		}
	}
	for _, s := range city.States {
		row.counts = widget.AppendCount(row.counts, states[s], string(s))
	}
	switch {
	case row.Problem != "":
		row.State = rigBroken
	case r.Suspended || s.Suspended:
		row.State = rigSuspended
	case urgent:
		row.State = rigTroubled
	case r.Running > 0:
		row.State = rigRunning
	case states[city.Starting]+states[city.Waiting] > 0:
		row.State = rigStarting
	}
	return row
}

func (r *RigRow) Key() string { return r.Name }

// Attention reports whether the rig needs attention.
func (r *RigRow) Attention() bool { return r.State == rigBroken || r.State == rigTroubled }

// AgentsText returns the numbers of the rig's agents by state.
func (r *RigRow) AgentsText() string {
	if len(r.counts) == 0 {
		return "no agents"
	}
	return strings.Join(r.counts, ", ")
}

// WorkText returns the number of the rig's unfinished beads.
func (r *RigRow) WorkText() string {
	if r.Work == nil {
		return "not counted"
	}
	text := strconv.Itoa(r.Work.Open) + " open"
	if r.Work.InProgress > 0 {
		text += ", " + strconv.Itoa(r.Work.InProgress) + " in progress"
	}
	return text
}

func (r *RigRow) unfinished() int {
	if r.Work == nil {
		return 0
	}
	return r.Work.Open + r.Work.InProgress
}

func (r *RigRow) matches(t *widget.Term, _ time.Time) bool {
	switch t.Field {
	case "state":
		return t.Begins(string(r.State))
	case "rig", "name":
		return t.Begins(r.Name)
	case "":
		return t.In(r.Shown) || !t.Fuzzy && (t.In(string(r.State)) || t.In(r.Path) ||
			t.In(r.Prefix) || t.In(r.AgentsText()) || t.In(r.Problem))
	}
	return false
}

func rigSorts(time.Time) []widget.SortKey[*RigRow] {
	return []widget.SortKey[*RigRow]{
		{Name: "state", Desc: true, Cmp: func(a, b *RigRow) int {
			return cmp.Compare(a.State.urgency(), b.State.urgency())
		}},
		{Name: "name"},
		{Name: "run", Desc: true, Cmp: widget.GreatestFirst(func(r *RigRow) int {
			return r.Running
		})},
		{Name: "agents", Desc: true, Cmp: widget.GreatestFirst(func(r *RigRow) int {
			return r.Agents
		})},
		{Name: "work", Desc: true, Cmp: widget.GreatestFirst((*RigRow).unfinished)},
		{Name: "prefix", Cmp: func(a, b *RigRow) int {
			return widget.CompareText(a.Prefix, b.Prefix)
		}},
		{Name: "path", Cmp: func(a, b *RigRow) int { return widget.CompareText(a.Path, b.Path) }},
	}
}
