// Package beads is work: tasks, their owners, their dependencies and their results. It has the values, the
// interface of stores, and the decisions that need no store. The stores are in the folders below: sqlite is the
// embedded one, fake is for tests, and beadstest is the suite that all stores pass.
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

// Bead is one piece of work. A bead that comes from a store is tidy (see Prepare), and the caller's own.
type Bead struct {
	// "<prefix>-<number>", or whatever an import brought along
	ID     string `json:"id"`
	Title  string `json:"title"`
	Status Status `json:"status"`
	// DefaultType, TypeMolecule, or anything of the caller's
	Type     string   `json:"type"`
	Priority Priority `json:"priority"`
	Assignee string   `json:"assignee,omitempty"`
	ParentID string   `json:"parent_id,omitempty"`
	// what it was made from: a formula, a step of it
	Ref         string            `json:"ref,omitempty"`
	Needs       []string          `json:"needs,omitempty"` // ids; see Ready for when a need is met
	Description string            `json:"description,omitempty"`
	Labels      []string          `json:"labels,omitempty"` // in the order in which they were added
	Metadata    map[string]string `json:"metadata,omitempty"`
	CreatedAt   time.Time         `json:"created_at"`
	UpdatedAt   time.Time         `json:"updated_at"`
	// set exactly while Status is StatusClosed
	ClosedAt *time.Time `json:"closed_at,omitempty"`
	// 1 when created, one more for each change; or one for each content
	Rev uint64 `json:"rev"`
}

// Types with a meaning here. Any other word will do as well.
const (
	DefaultType  = "task"
	TypeMolecule = "molecule" // the root of a molecule: its steps are its children
)

// CloseReason is the key of the metadata that says why a bead was closed. It goes when the bead is opened again.
const CloseReason = "close_reason"

// Status is how far a bead has come.
type Status string

// There are no others: what a foreign tool says is mapped by StatusOf.
const (
	StatusOpen       Status = "open"
	StatusInProgress Status = "in_progress"
	StatusClosed     Status = "closed"
)

// Valid reports whether s is one of the three.
func (s Status) Valid() bool {
	return s == StatusOpen || s == StatusInProgress || s == StatusClosed
}

// StatusOf maps the status of another tool; known reports whether it means the same here.
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

// Clone returns a copy that shares nothing with b.
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

// Same reports whether two tidy beads say the same; their revisions may differ.
func (b Bead) Same(o Bead) bool {
	closed := b.ClosedAt == o.ClosedAt || b.ClosedAt != nil && o.ClosedAt != nil &&
		b.ClosedAt.Equal(*o.ClosedAt)
	return closed && b.sameSave(o) && b.CreatedAt.Equal(o.CreatedAt) &&
		b.UpdatedAt.Equal(o.UpdatedAt)
}

// sameSave is Same without the times.
func (b Bead) sameSave(o Bead) bool {
	return b.ID == o.ID && b.Title == o.Title && b.Status == o.Status && b.Type == o.Type &&
		b.Priority == o.Priority &&
		b.Assignee == o.Assignee && b.ParentID == o.ParentID && b.Ref == o.Ref &&
		b.Description == o.Description &&
		slices.Equal(b.Needs, o.Needs) && slices.Equal(b.Labels, o.Labels) &&
		maps.Equal(b.Metadata, o.Metadata)
}

// Store keeps beads. Every method may be called from several goroutines, and several processes may use one store at
// once. All obey the context's deadline. An error means that nothing is known: a read that fails never looks empty.
// A write has succeeded when it would survive a power cut.
type Store interface {
	// Get fails with ErrNotFound for an unknown id.
	Get(ctx context.Context, id string) (Bead, error)
	// List returns the newest first: by CreatedAt, of one instant the one that was written later. Records that this
	// program cannot read are left out; see Auditor.
	List(ctx context.Context, q Query) ([]Bead, error)
	// Create writes a new bead. The times, Rev and, if it is empty, ID are the store's to give. It fails with *Invalid
	// if the bead cannot be kept as it is, and with ErrConflict if the ID is taken.
	Create(ctx context.Context, b Bead) (Bead, error)
	// Update changes what the patch says, and returns the result. A patch that changes nothing succeeds and leaves
	// the revision alone: closing twice is closing. It fails with ErrNotFound, *Invalid, or ErrConflict if the bead
	// is not at the revision that the patch is for.
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

	// Counter counts what List would find without its Limit and Before.
	Counter interface {
		Count(ctx context.Context, q Query) (int, error)
	}

	// Tallier counts what List would find without its Limit and Before, by assignee and labels, in any order.
	Tallier interface {
		Tally(ctx context.Context, q Query) ([]Share, error)
	}

	// Purger removes, together with everything below them, the beads that match the query and were closed before that
	// time; not where anything below is still unclosed, or was closed later. The query's Status, Ready, Before and
	// Limit do not matter. It returns how many beads are gone. Beads that need a removed one have this need met.
	Purger interface {
		Purge(ctx context.Context, q Query, before time.Time) (int, error)
	}

	// Versioner returns a number that changes with every change by any process. It costs one lookup, whatever the
	// size of the store. A store into which nothing was ever written has version 0.
	Versioner interface {
		Version(ctx context.Context) (uint64, error)
	}

	// Prober reports whether the store can be written now, by the smallest possible write. It changes no visible
	// data, but may create what a first write would create.
	Prober interface {
		Probe(ctx context.Context) error
	}

	// Restorer takes beads with their ids, times and revisions as they stand, all or none; see Merge for what becomes
	// of those that are there already. Needs and parents may be unknown.
	Restorer interface {
		Restore(ctx context.Context, all []Bead) (Restored, error)
	}

	// Patient returns the time limit of one call of a store that calls another program. The default is less.
	Patient interface {
		CallLimit() time.Duration
	}

	// Auditor names the records that this program cannot read and therefore leaves alone.
	Auditor interface {
		Aside(ctx context.Context) ([]Aside, error)
	}
)

// Share is how many beads have the same assignee and the same labels.
type Share struct {
	Assignee string
	Labels   []string
	N        int
}

// Aside is a record that is kept but not understood, written by a newer program or by hand.
type Aside struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
}

// Errors that callers decide on; stores wrap them with the bead and the cause. Anything else that is not *Invalid is
// trouble with the store itself.
var (
	ErrNotFound = errors.New("no such bead")
	ErrConflict = errors.New("in conflict with what is there")
	ErrAside    = errors.New("the record cannot be read by this version of gcity")
)
