package beads

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Patch describes a change to a bead. Fields that are nil or empty have no effect.
type Patch struct {
	Title    *string   `json:"title,omitempty"`
	Status   *Status   `json:"status,omitempty"`
	Type     *string   `json:"type,omitempty"`
	Priority *Priority `json:"priority,omitempty"`
	// "" removes the assignee, and reopens work in progress unless Status is set
	Assignee    *string   `json:"assignee,omitempty"`
	ParentID    *string   `json:"parent_id,omitempty"`
	Ref         *string   `json:"ref,omitempty"`
	Needs       *[]string `json:"needs,omitempty"` // replaces all needs
	Description *string   `json:"description,omitempty"`
	// an existing label keeps its position
	AddLabels    []string          `json:"add_labels,omitempty"`
	RemoveLabels []string          `json:"remove_labels,omitempty"`
	SetMetadata  map[string]string `json:"set_metadata,omitempty"` // "" removes a key
	// the patch fails with ErrConflict if the bead has a different revision
	IfRev *uint64 `json:"if_rev,omitempty"`
}

// Closing returns the patch that closes a bead.
func Closing() Patch { return Patch{Status: new(StatusClosed)} }

// Apply returns the patched bead. A patch without effect keeps the revision. The store must check that newly linked
// beads exist.
func (p Patch) Apply(b Bead, now time.Time) (Bead, error) {
	if p.IfRev != nil && *p.IfRev != b.Rev {
		return Bead{}, Conflict("bead %s was changed in the meantime (revision %d, not %d); "+
			"read it again", b.ID, b.Rev, *p.IfRev)
	}
	if p.Status != nil && !p.Status.Valid() {
		return Bead{}, &Invalid{"bead " + b.ID, "status", "cannot become " +
			quote(string(*p.Status)) + ": use open, in_progress or closed"}
	}
	n := b.Clone()
	set(&n.Title, p.Title)
	set(&n.Status, p.Status)
	set(&n.Type, p.Type)
	set(&n.Priority, p.Priority)
	set(&n.Assignee, p.Assignee)
	set(&n.ParentID, p.ParentID)
	set(&n.Ref, p.Ref)
	set(&n.Description, p.Description)
	if p.Needs != nil {
		n.Needs = slices.Clone(*p.Needs)
	}
	if p.Status == nil && p.Assignee != nil && n.Assignee == "" && b.Assignee != "" &&
		n.Status == StatusInProgress {
		n.Status = StatusOpen
	}
	n.Labels = slices.DeleteFunc(n.Labels, func(l string) bool {
		return slices.ContainsFunc(p.RemoveLabels, func(r string) bool {
			return strings.TrimSpace(r) == l
		})
	})
	n.Labels = append(n.Labels, p.AddLabels...)
	if n.Metadata == nil {
		n.Metadata = map[string]string{}
	}
	if b.Status == StatusClosed && n.Status != StatusClosed {
		delete(n.Metadata, CloseReason)
	}
	maps.Copy(n.Metadata, p.SetMetadata)
	if now = normalTime(now); now.Before(b.UpdatedAt) { // the system clock was set back
		now = b.UpdatedAt
	}
	if n.Status == StatusClosed && b.Status != StatusClosed {
		n.ClosedAt = &now
	}
	n = normalize(n)
	if n.equalContent(b) {
		return b.Clone(), nil
	}
	n.UpdatedAt = now
	n.Rev++
	if err := Check(n); err != nil {
		return Bead{}, named(err, "bead "+b.ID)
	}
	return n, nil
}

func set[T any](to *T, v *T) {
	if v != nil {
		*to = *v
	}
}

func named(err error, which string) error {
	if i, ok := err.(*Invalid); ok && i.Which == "" {
		return &Invalid{Which: which, Field: i.Field, Reason: i.Reason}
	}
	return err
}
