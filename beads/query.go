package beads

import (
	"slices"
	"strings"
)

// Query says which beads. The zero value: the newest of all.
type Query struct {
	Status   []Status // any of these; none given: any
	Labels   []string // all of these; a store may walk the first one, so the rarest goes first
	Type     string   // "" = any, as below
	NotType  []string // none of these
	Assignee string
	Assigned bool   // only beads with an assignee
	Parent   string // the id of the parent
	Ref      string
	Ready    bool // only open beads without open needs
	// only those that List has after the bead of this id, for the next page; ErrNotFound if it is gone
	Before string
	Limit  int // 0 = DefaultLimit, negative = all
}

// DefaultLimit is the length of a list without a limit.
const DefaultLimit = 100

// Most is the limit as a number: negative means all.
func (q Query) Most() int {
	if q.Limit == 0 {
		return DefaultLimit
	}
	return q.Limit
}

// Check refuses a query that can only be a mistake.
func (q Query) Check() error {
	for _, s := range q.Status {
		if !s.Valid() {
			return &Invalid{Field: "status", Reason: quote(string(s)) +
				" is not one of open, in_progress, closed"}
		}
	}
	return nil
}

// Match reports whether a query selects a bead, as far as the bead alone decides. It ignores Before, Limit, and the
// needs for Ready.
func (q Query) Match(b Bead) bool {
	is := func(want, have string) bool { return want == "" || want == have }
	for _, l := range q.Labels {
		if !slices.Contains(b.Labels, l) {
			return false
		}
	}
	return (len(q.Status) == 0 || slices.Contains(q.Status, b.Status)) &&
		(!q.Ready || b.Status == StatusOpen) &&
		(!q.Assigned || b.Assignee != "") &&
		is(q.Type, b.Type) && !slices.Contains(q.NotType, b.Type) &&
		is(q.Assignee, b.Assignee) && is(q.Parent, b.ParentID) && is(q.Ref, b.Ref)
}

// ByUrgency orders beads for workers: the most urgent first, and among these the oldest. It is for
// slices.SortStableFunc.
func ByUrgency(a, b Bead) int {
	if a.Priority != b.Priority {
		return int(a.Priority - b.Priority)
	}
	if c := a.CreatedAt.Compare(b.CreatedAt); c != 0 {
		return c
	}
	return strings.Compare(a.ID, b.ID)
}
