// Package beads defines work: tasks, their assignees, their dependencies and their results. Subpackages implement the
// stores: sqlite is the embedded store, bd and script call other programs, and fake is for tests. All stores pass the
// suite in package beadstest.
//
// A bead is never changed in place. A store returns copies, applies a Patch, and counts revisions.
package beads

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"gcity/internal/suggest"
)

// Bead is one piece of work. A bead from a store is normalized (see Prepare) and belongs to the caller.
type Bead struct {
	// "<prefix>-<number>", or an ID that the caller, an import or another program chose
	ID     string `json:"id"`
	Title  string `json:"title"`
	Status Status `json:"status"`
	// DefaultType, TypeMolecule, or a type that the caller chose
	Type     string   `json:"type"`
	Priority Priority `json:"priority"`
	Assignee string   `json:"assignee,omitempty"`
	ParentID string   `json:"parent_id,omitempty"`
	// the formula or formula step from which the bead was created
	Ref string `json:"ref,omitempty"`
	// IDs of beads that must be closed first; see Ready
	Needs       []string          `json:"needs,omitempty"`
	Description string            `json:"description,omitempty"`
	Labels      []string          `json:"labels,omitempty"` // in the order in which they were added
	Metadata    map[string]string `json:"metadata,omitempty"`
	CreatedAt   time.Time         `json:"created_at"`
	UpdatedAt   time.Time         `json:"updated_at"`
	// set if and only if Status is StatusClosed
	ClosedAt *time.Time `json:"closed_at,omitempty"`
	// starts at 1 and increases with each change; some stores use a hash of the content
	Rev uint64 `json:"rev"`
}

// Types with a special meaning. Callers may also use other types.
const (
	DefaultType  = "task"
	TypeMolecule = "molecule" // the root of a molecule, with the steps as children
)

// CloseReason is the metadata key for the reason a bead was closed. Reopening the bead removes the key.
const CloseReason = "close_reason"

// PartlyCreated is the CloseReason of beads that a store closed because it could not create all beads of a batch.
const PartlyCreated = "only partly created"

// Status is the progress of a bead.
type Status string

// The valid statuses.
const (
	StatusOpen       Status = "open"
	StatusInProgress Status = "in_progress"
	StatusClosed     Status = "closed"
)

// Valid reports whether s is a valid status.
func (s Status) Valid() bool {
	return s == StatusOpen || s == StatusInProgress || s == StatusClosed
}

// Unclosed returns all statuses except closed.
func Unclosed() []Status { return []Status{StatusOpen, StatusInProgress} }

// StatusOf converts another tool's status. known is true if gcity has a status with the same name.
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

// Clone returns a deep copy of the bead.
func (b Bead) Clone() Bead {
	b.Needs = slices.Clone(b.Needs)
	b.Labels = slices.Clone(b.Labels)
	b.Metadata = maps.Clone(b.Metadata)
	if b.ClosedAt != nil {
		b.ClosedAt = new(*b.ClosedAt)
	}
	return b
}

// Same reports whether two normalized beads are equal except for their revisions.
func (b Bead) Same(o Bead) bool {
	closed := b.ClosedAt == o.ClosedAt || b.ClosedAt != nil && o.ClosedAt != nil &&
		b.ClosedAt.Equal(*o.ClosedAt)
	return closed && b.equalContent(o) && b.CreatedAt.Equal(o.CreatedAt) &&
		b.UpdatedAt.Equal(o.UpdatedAt)
}

func (b Bead) equalContent(o Bead) bool {
	return b.ID == o.ID && b.Title == o.Title && b.Status == o.Status && b.Type == o.Type &&
		b.Priority == o.Priority &&
		b.Assignee == o.Assignee && b.ParentID == o.ParentID && b.Ref == o.Ref &&
		b.Description == o.Description &&
		slices.Equal(b.Needs, o.Needs) && slices.Equal(b.Labels, o.Labels) &&
		maps.Equal(b.Metadata, o.Metadata)
}

// Store stores beads. Its methods may be called concurrently, even by several processes. All methods respect the
// context's deadline. A failed read returns an error, never an empty result. A successful write survives a power
// failure.
type Store interface {
	// Get returns the bead with this ID, or ErrNotFound.
	Get(ctx context.Context, id string) (Bead, error)
	// List returns beads, newest first by CreatedAt. For equal times, the most recently written bead comes first.
	// Unreadable records are omitted; see Auditor.
	List(ctx context.Context, q Query) ([]Bead, error)
	// Create writes a new bead. The store sets the times and Rev, and the ID if it is empty. Create fails with *Invalid
	// if the bead is invalid, and with ErrConflict if the ID is taken.
	Create(ctx context.Context, b Bead) (Bead, error)
	// Update applies a patch and returns the result. A patch that changes nothing succeeds and keeps the revision.
	// Update fails with ErrNotFound, with *Invalid, or with ErrConflict if Patch.IfRev does not match.
	Update(ctx context.Context, id string, p Patch) (Bead, error)
}

// Optional abilities of stores. Callers use a type assertion.
type (
	// Batcher creates all given beads, or none. It returns the new beads in the same order. A bead's ID may be a
	// "$name", which Needs and ParentID in the batch can refer to; the store replaces it with an ID. Each bead is a
	// nanosecond newer than the previous one.
	Batcher interface {
		CreateAll(ctx context.Context, all []Bead) ([]Bead, error)
	}

	// Counter counts the beads that match a query. It ignores the query's Limit and Before.
	Counter interface {
		Count(ctx context.Context, q Query) (int, error)
	}

	// ShareCounter counts matching beads by assignee and labels. It ignores the query's Limit and Before.
	ShareCounter interface {
		Tally(ctx context.Context, q Query) ([]Share, error)
	}

	// Purger removes the beads that match the query and were closed before the given time, with all their descendants.
	// It keeps a bead if a descendant is open or was closed at or after that time. It ignores the query's Status,
	// Ready, Before and Limit. It returns the number of removed beads. Other beads no longer wait for a removed bead.
	Purger interface {
		Purge(ctx context.Context, q Query, before time.Time) (int, error)
	}

	// Versioner returns a number that changes with every change by any process. The call is cheap. A store that has
	// never been written to has version 0.
	Versioner interface {
		Version(ctx context.Context) (uint64, error)
	}

	// Prober makes the smallest possible write to check whether the store is writable. It does not change visible data.
	Prober interface {
		Probe(ctx context.Context) error
	}

	// Restorer writes all given beads, or none, and keeps their IDs, times and revisions. Merge resolves conflicts with
	// existing beads. Links to missing beads are allowed.
	Restorer interface {
		Restore(ctx context.Context, all []Bead) (Restored, error)
	}

	// CallLimiter returns the timeout for one call, for stores that run another program.
	CallLimiter interface {
		CallLimit() time.Duration
	}

	// UndoLimiter returns how long Create (n is 1) or CreateAll of n beads may take to close the created beads after a
	// failure, also after its context has ended, for stores without transactions.
	UndoLimiter interface {
		UndoLimit(n int) time.Duration
	}

	// Auditor lists the records that this program cannot read.
	Auditor interface {
		Unreadable(ctx context.Context) ([]Unreadable, error)
	}

	// Salvager reads a damaged store. It returns the readable beads in the order of List, and the other records. why is
	// the error of List. If why has another cause than damage, Salvage returns it.
	Salvager interface {
		Salvage(ctx context.Context, why error) ([]Bead, []Unreadable, error)
	}
)

// Share is the number of beads with a certain assignee and certain labels.
type Share struct {
	Assignee string
	Labels   []string
	N        int
}

// Unreadable is a record that this program cannot read. The store keeps it.
type Unreadable struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
	// as far as they can be read
	ParentID string `json:"parent_id,omitempty"`
	Closed   bool   `json:"closed,omitempty"`
}

// Errors that callers distinguish. An *Invalid is an error in the request. Any other error is a failure of the store.
var (
	ErrNotFound   = errors.New("not found")
	ErrConflict   = errors.New("conflict with the current state")
	ErrUnreadable = errors.New("this version of gcity cannot read the record")
)

// NotFound returns an ErrNotFound for the bead with this ID.
func NotFound(id string) error { return suggest.NoSuch(suggest.Bead, id).As(ErrNotFound) }

type conflict string

// Conflict returns an ErrConflict with the given message.
func Conflict(format string, args ...any) error { return conflict(fmt.Sprintf(format, args...)) }

func (c conflict) Error() string { return string(c) }

// Is reports whether target is ErrConflict.
func (c conflict) Is(target error) bool { return target == ErrConflict }
