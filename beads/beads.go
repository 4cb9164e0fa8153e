// Package beads defines work: tasks, their assignees, their dependencies and their results. It has the values, the
// interface of stores, and the decisions that need no store. The stores are packages below it: sqlite is the
// embedded store, fake is for tests, and beadstest is the test suite that all stores pass.
//
// A bead is never changed in place: a store returns copies, accepts a Patch, and counts the revisions.
package beads

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"
)

// Bead is one piece of work. A bead that a store returns is normalized (see Prepare) and belongs to the caller.
type Bead struct {
	// "<prefix>-<number>", or the ID of an imported bead
	ID     string `json:"id"`
	Title  string `json:"title"`
	Status Status `json:"status"`
	// DefaultType, TypeMolecule, or a type that the caller chose
	Type     string   `json:"type"`
	Priority Priority `json:"priority"`
	Assignee string   `json:"assignee,omitempty"`
	ParentID string   `json:"parent_id,omitempty"`
	// what it was created from: a formula, or a step of a formula
	Ref string `json:"ref,omitempty"`
	// IDs of beads that must be closed first, see Ready
	Needs       []string          `json:"needs,omitempty"`
	Description string            `json:"description,omitempty"`
	Labels      []string          `json:"labels,omitempty"` // in the order in which they were added
	Metadata    map[string]string `json:"metadata,omitempty"`
	CreatedAt   time.Time         `json:"created_at"`
	UpdatedAt   time.Time         `json:"updated_at"`
	// set exactly while Status is StatusClosed
	ClosedAt *time.Time `json:"closed_at,omitempty"`
	// starts at 1 and increases with each change; some stores use a hash of the content
	Rev uint64 `json:"rev"`
}

// Types with a special meaning. All other types are also valid.
const (
	DefaultType  = "task"
	TypeMolecule = "molecule" // the root of a molecule: its steps are its children
)

// CloseReason is the metadata key for why a bead was closed. It is removed when the bead is reopened.
const CloseReason = "close_reason"

// Status is the progress of a bead.
type Status string

// These are all valid values. StatusOf maps the statuses of other tools to them.
const (
	StatusOpen       Status = "open"
	StatusInProgress Status = "in_progress"
	StatusClosed     Status = "closed"
)

// Valid reports whether s is one of the three statuses.
func (s Status) Valid() bool {
	return s == StatusOpen || s == StatusInProgress || s == StatusClosed
}

// StatusOf maps the status of another tool. known reports whether that status is one of the three.
func StatusOf(foreign string) (s Status, known bool) {
	switch foreign {
	case "hooked":
		return StatusInProgress, false
	case "tombstone", "done":
		return StatusClosed, false
	}
	if s = Status(foreign); s.Valid() {
		return s, true
	}
	return StatusOpen, false
}

// Clone returns a deep copy.
func (b Bead) Clone() Bead {
	b.Needs = slices.Clone(b.Needs)
	b.Labels = slices.Clone(b.Labels)
	b.Metadata = maps.Clone(b.Metadata)
	if b.ClosedAt != nil {
		at := *b.ClosedAt
		b.ClosedAt = &at
	}
	return b
}

// Same reports whether two normalized beads are equal except for their revisions.
func (b Bead) Same(o Bead) bool {
	closed := b.ClosedAt == o.ClosedAt || b.ClosedAt != nil && o.ClosedAt != nil &&
		b.ClosedAt.Equal(*o.ClosedAt)
	return closed && b.sameSave(o) && b.CreatedAt.Equal(o.CreatedAt) &&
		b.UpdatedAt.Equal(o.UpdatedAt)
}

// sameSave reports whether two beads are equal except for their times and revisions.
func (b Bead) sameSave(o Bead) bool {
	return b.ID == o.ID && b.Title == o.Title && b.Status == o.Status && b.Type == o.Type &&
		b.Priority == o.Priority &&
		b.Assignee == o.Assignee && b.ParentID == o.ParentID && b.Ref == o.Ref &&
		b.Description == o.Description &&
		slices.Equal(b.Needs, o.Needs) && slices.Equal(b.Labels, o.Labels) &&
		maps.Equal(b.Metadata, o.Metadata)
}

// Store stores beads. Its methods may be called concurrently, and several processes may use one store at the same
// time. All methods respect the context's deadline. A read that fails returns an error and never an empty result. A
// write that has succeeded survives a power failure.
type Store interface {
	// Get returns a bead. It fails with ErrNotFound if the ID is unknown.
	Get(ctx context.Context, id string) (Bead, error)
	// List returns beads, newest first: by CreatedAt, and for equal times the one that was written later first. It
	// omits records that this program cannot read; see Auditor.
	List(ctx context.Context, q Query) ([]Bead, error)
	// Create writes a new bead. The store sets the times, Rev and, if it is empty, the ID. Create fails with
	// *Invalid if the bead is invalid, and with ErrConflict if the ID is taken.
	Create(ctx context.Context, b Bead) (Bead, error)
	// Update applies a patch and returns the result. A patch that changes nothing succeeds and does not change the
	// revision; closing a closed bead is such a patch. Update fails with ErrNotFound, with *Invalid, or with
	// ErrConflict if the bead is not at the revision in the patch.
	Update(ctx context.Context, id string, p Patch) (Bead, error)
}

// Optional abilities of stores. A caller uses a type assertion and reports a missing ability.
type (
	// Batcher creates several beads, or none if one of them cannot be created. The result has the same order. In
	// the batch, the Needs and the ParentID of any bead can refer to a bead with the ID "$name"; the store replaces
	// such names by IDs. Each bead is created a nanosecond after the previous one.
	Batcher interface {
		CreateAll(ctx context.Context, all []Bead) ([]Bead, error)
	}

	// Counter counts the beads that List would return without Limit and Before.
	Counter interface {
		Count(ctx context.Context, q Query) (int, error)
	}

	// Tallier counts the beads that List would return without Limit and Before, grouped by assignee and labels, in
	// any order.
	Tallier interface {
		Tally(ctx context.Context, q Query) ([]Share, error)
	}

	// Purger removes the beads that match the query and were closed before a time, with all their descendants. It
	// does not remove a bead with a descendant that is not closed or was closed later. It ignores the query's
	// Status, Ready, Before and Limit. It returns the number of removed beads. A need for a removed bead counts as
	// met.
	Purger interface {
		Purge(ctx context.Context, q Query, before time.Time) (int, error)
	}

	// Versioner returns a number that changes with every change by any process. It costs one lookup, whatever the
	// size of the store. A store that was never written to has version 0.
	Versioner interface {
		Version(ctx context.Context) (uint64, error)
	}

	// Prober checks whether the store can be written now, with the smallest possible write. It changes no visible
	// data, but may create files that the first write would create.
	Prober interface {
		Probe(ctx context.Context) error
	}

	// Restorer writes beads with their IDs, times and revisions unchanged, all or none. Merge decides about beads
	// that the store has already. Needs and parents may be unknown.
	Restorer interface {
		Restore(ctx context.Context, all []Bead) (Restored, error)
	}

	// Patient returns the timeout of one call, for a store that calls another program. The default timeout is
	// shorter.
	Patient interface {
		CallLimit() time.Duration
	}

	// Auditor lists the records that this program cannot read and therefore does not change.
	Auditor interface {
		Aside(ctx context.Context) ([]Aside, error)
	}
)

// Share is the number of beads with the same assignee and the same labels.
type Share struct {
	Assignee string
	Labels   []string
	N        int
}

// Aside is a record that this program cannot read, written by a newer version or by hand. The store keeps it.
type Aside struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// Errors that callers distinguish. Stores wrap them with the bead and the cause. Any other error that is not an
// *Invalid is a failure of the store itself.
var (
	ErrNotFound = errors.New("no such bead")
	ErrConflict = errors.New("in conflict with the current state")
	ErrAside    = errors.New("the record cannot be read by this version of gcity")
)
