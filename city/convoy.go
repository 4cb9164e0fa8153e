package city

import (
	"context"
	"errors"
	"fmt"

	"gcity/beads"
)

// Progress counts the beads in a convoy and the closed ones among them.
type Progress struct {
	Closed int `json:"closed"`
	Total  int `json:"total"`
}

// Done reports whether the convoy has beads and all of them are closed.
func (p Progress) Done() bool { return p.Total > 0 && p.Closed == p.Total }

func (p Progress) String() string { return fmt.Sprintf("%d of %d closed", p.Closed, p.Total) }

// ProgressOf returns the progress of a convoy with these children.
func ProgressOf(children []beads.Bead) Progress {
	p := Progress{Total: len(children)}
	for _, b := range children {
		if b.Status == beads.StatusClosed {
			p.Closed++
		}
	}
	return p
}

// CloseConvoy closes a convoy if a change to a bead has left it without open beads. An unreadable bead counts as open
// unless its status is closed. ok is false if CloseConvoy closed nothing.
func CloseConvoy(ctx context.Context, store beads.Store, child, changed beads.Bead) (was,
	now beads.Bead, ok bool, err error) {
	id, moved := changed.ParentID, child.ParentID != changed.ParentID
	switch {
	case changed.Status == beads.StatusClosed && (moved || child.Status != beads.StatusClosed):
	case moved && child.Status != beads.StatusClosed:
		id = child.ParentID
	default:
		id = ""
	}
	if id == "" {
		return was, now, false, nil
	}
	was, err = store.Get(ctx, id)
	if errors.Is(err, beads.ErrNotFound) || err == nil &&
		(was.Type != ConvoyType || was.Status == beads.StatusClosed) {
		return was, now, false, nil
	}
	if err != nil {
		return was, now, false, err
	}
	children, err := store.List(ctx, beads.Query{Parent: was.ID, Limit: -1})
	if err != nil {
		return was, now, false, err
	}
	p := ProgressOf(children)
	if !p.Done() {
		return was, now, false, nil
	}
	if lost, err := UnreadableSteps(ctx, store, was.ID); err != nil || len(lost) > 0 {
		return was, now, false, err
	}
	patch := beads.Closing()
	patch.SetMetadata = map[string]string{beads.CloseReason: "all beads are closed: " + p.String()}
	now, err = store.Update(ctx, was.ID, patch)
	return was, now, err == nil && now.Rev != was.Rev, err
}
