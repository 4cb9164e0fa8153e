package panel

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"gcity/beads"
	"gcity/city"
	"gcity/tui/widget"
)

type workState string

const (
	workBusy    workState = "in progress"
	workOpen    workState = "open"
	WorkBlocked workState = "blocked" // it waits for other work or a gate
	WorkClosed  workState = "closed"  // closed today
)

func (s workState) urgency() int {
	return slices.Index([]workState{workBusy, workOpen, WorkBlocked, WorkClosed}, s)
}

// WorkRow is a bead ready to be drawn. Its strings are sanitized, but not those in Bead.
type WorkRow struct {
	Bead  beads.Bead
	Shown string
	State workState
	Rig   string
	Pool  string
	Gate  string
	Parts int // unclosed parts
	id    string
	owner string // its assignee or, if it has none, its pool
}

func (r *WorkRow) Key() string { return r.Bead.ID }

// PoolOf returns the pool of a bead, or "".
func PoolOf(b *beads.Bead) string {
	for _, l := range b.Labels {
		if name, ok := strings.CutPrefix(l, city.PoolLabel); ok {
			return name
		}
	}
	return ""
}

// ready contains the IDs of the ready beads. They are requested only if unclosed might lack beads; nil = unknown.
func workRows(s *city.Snapshot, unclosed, closed []beads.Bead, ready map[string]bool) []WorkRow {
	gates, parts, known := city.GatesIn(unclosed), map[string]int{}, map[string]bool{}
	for i := range unclosed {
		known[unclosed[i].ID] = true
		parts[unclosed[i].ParentID]++
	}
	rows := make([]WorkRow, 0, len(unclosed)+len(closed))
	for _, all := range [][]beads.Bead{unclosed, closed} {
		for i := range all {
			b := &all[i]
			if b.Type == city.GateType {
				continue
			}
			r := WorkRow{Bead: *b, Shown: widget.Plain(b.Title), id: widget.Plain(b.ID),
				State: workOpen, Rig: widget.Plain(rigOfBead(s, b.ID)),
				Pool:  widget.Plain(PoolOf(b)),
				Parts: parts[b.ID], owner: widget.Plain(b.Assignee)}
			if r.owner == "" && r.Pool != "" {
				r.owner = "pool " + r.Pool
			}
			gate, gated := gates.Block(*b)
			if gated {
				r.Gate = "gate " + widget.Plain(gate.ID) + " " + widget.Plain(gate.Title)
			}
			needs := slices.ContainsFunc(b.Needs, func(id string) bool { return known[id] })
			switch {
			case b.Status == beads.StatusClosed:
				r.State = WorkClosed
			case b.Status == beads.StatusInProgress:
				r.State = workBusy
			case gated || needs || ready != nil && len(b.Needs) > 0 && !ready[b.ID]:
				r.State = WorkBlocked
			}
			rows = append(rows, r)
		}
	}
	return rows
}

func rigOfBead(s *city.Snapshot, id string) string {
	if s == nil {
		return ""
	}
	prefix := id
	if i := strings.LastIndexByte(id, '-'); i >= 0 {
		prefix = id[:i]
	}
	if r := widget.First(s.Rigs, func(r *city.Rig) bool { return r.Prefix == prefix }); r != nil {
		return r.Name
	}
	return ""
}

// Attention reports whether a gate blocks the bead.
func (r *WorkRow) Attention() bool { return r.Gate != "" }

func (r *WorkRow) matches(t *widget.Term, _ time.Time) bool {
	switch t.Field {
	case "state":
		return t.Begins(string(r.State))
	case "rig":
		return t.Begins(r.Rig)
	case "pool":
		return t.BeginsName(r.Pool)
	case "assignee", "by":
		return t.BeginsName(r.Bead.Assignee)
	case "type":
		return t.Begins(r.Bead.Type)
	case "name":
		return t.Begins(r.Bead.ID)
	case "":
		return t.In(r.Shown) || !t.Fuzzy && (t.In(string(r.State)) || t.In(r.id) ||
			t.In(r.owner) || t.In(r.Rig) || t.In(r.Gate))
	}
	return false
}

func workSorts(time.Time) []widget.SortKey[*WorkRow] {
	urgent := func(a, b *WorkRow) int { return beads.ByUrgency(a.Bead, b.Bead) }
	return []widget.SortKey[*WorkRow]{
		{Name: "state", Desc: true, Cmp: func(a, b *WorkRow) int {
			if a.State == WorkClosed && b.State == WorkClosed {
				return b.closed().Compare(a.closed())
			}
			return cmp.Or(cmp.Compare(a.State.urgency(), b.State.urgency()), urgent(a, b))
		}},
		{Name: "age", Cmp: func(a, b *WorkRow) int {
			return b.Bead.CreatedAt.Compare(a.Bead.CreatedAt)
		}},
		{Name: "prio", Cmp: urgent},
		{Name: "assignee", Cmp: func(a, b *WorkRow) int {
			if (a.owner == "") != (b.owner == "") {
				return cmp.Compare(b.owner, a.owner)
			}
			return cmp.Or(city.CompareNames(a.owner, b.owner), urgent(a, b))
		}},
		{Name: "id", Cmp: func(a, b *WorkRow) int { return city.CompareNames(a.id, b.id) }},
		{Name: "title", Cmp: func(a, b *WorkRow) int {
			return widget.CompareText(a.Shown, b.Shown)
		}},
		{Name: "rig", Cmp: func(a, b *WorkRow) int {
			return cmp.Or(city.CompareNames(a.Rig, b.Rig), urgent(a, b))
		}},
	}
}

func (r *WorkRow) closed() time.Time {
	if r.Bead.ClosedAt == nil {
		return time.Time{}
	}
	return *r.Bead.ClosedAt
}

func (r *WorkRow) since() time.Time {
	if r.State == WorkClosed {
		return r.closed()
	}
	return r.Bead.CreatedAt
}

// BeadCopies returns the values that can be copied from a bead.
func BeadCopies(b *beads.Bead) []Copied {
	all := []Copied{{"id", b.ID}, {"title", b.Title}, {"description", b.Description},
		{"assignee", b.Assignee}}
	if raw, err := json.Marshal(b); err == nil {
		all = append(all, Copied{"bead as JSON", string(raw)})
	}
	return all
}
