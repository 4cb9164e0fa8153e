package beads

import (
	"slices"
	"strings"
	"time"
)

// Query selects beads. The zero value selects the newest DefaultLimit beads.
type Query struct {
	Status []Status // any of these statuses; empty = any status
	// only beads with all of these labels; put the rarest label first, for speed
	Labels   []string
	NotLabel string // only beads without this label; "" = any bead
	Type     string // "" = any type that is not in NotType
	NotType  []string
	Assignee string
	Assigned bool // only beads with an assignee
	Parent   string
	Ref      string
	Ready    bool // only open beads without unmet needs
	// only beads closed at this time or later; zero = any
	ClosedSince time.Time
	// only beads created at this time or earlier; zero = any
	CreatedUntil time.Time
	// for paging: ID of the last bead on the previous page; ErrNotFound if that bead no longer exists
	Before string
	Limit  int // maximum number of beads; 0 = DefaultLimit, negative = no limit
}

// DefaultLimit is the maximum length of a list if the query sets no limit.
const DefaultLimit = 100

// MaxResults returns the effective limit. A negative number means no limit.
func (q Query) MaxResults() int {
	if q.Limit == 0 {
		return DefaultLimit
	}
	return q.Limit
}

// Check returns an error for an invalid query.
func (q Query) Check() error {
	for _, s := range q.Status {
		if !s.Valid() {
			return &Invalid{Field: "status", Reason: quote(string(s)) +
				" is not one of open, in_progress, closed"}
		}
	}
	return nil
}

// Match reports whether a query selects a bead. It ignores Before, Limit and unmet needs.
func (q Query) Match(b Bead) bool {
	is := func(want, have string) bool { return want == "" || want == have }
	for _, l := range q.Labels {
		if !slices.Contains(b.Labels, l) {
			return false
		}
	}
	return (len(q.Status) == 0 || slices.Contains(q.Status, b.Status)) &&
		(q.NotLabel == "" || !slices.Contains(b.Labels, q.NotLabel)) &&
		(!q.Ready || b.Status == StatusOpen) &&
		(!q.Assigned || b.Assignee != "") &&
		(q.ClosedSince.IsZero() || b.ClosedAt != nil && !b.ClosedAt.Before(q.ClosedSince)) &&
		(q.CreatedUntil.IsZero() || !b.CreatedAt.After(q.CreatedUntil)) &&
		is(q.Type, b.Type) && !slices.Contains(q.NotType, b.Type) &&
		is(q.Assignee, b.Assignee) && is(q.Parent, b.ParentID) && is(q.Ref, b.Ref)
}

// ByUrgency is a comparison function for sorting: most urgent beads first, and oldest first within a priority.
func ByUrgency(a, b Bead) int {
	if a.Priority != b.Priority {
		return int(a.Priority - b.Priority)
	}
	if c := a.CreatedAt.Compare(b.CreatedAt); c != 0 {
		return c
	}
	return strings.Compare(a.ID, b.ID)
}
