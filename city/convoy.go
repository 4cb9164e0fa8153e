package city

import (
	"context"
	"errors"
	"fmt"

	"gcity/beads"
)

// Progress is how far the beads of a convoy have come.
type Progress struct {
	Closed int `json:"closed"`
	Total  int `json:"total"`
}

// Done reports whether there is nothing left to do, and was something.
func (p Progress) Done() bool { return p.Total > 0 && p.Closed == p.Total }

func (p Progress) String() string { return fmt.Sprintf("%d of %d closed", p.Closed, p.Total) }

// ProgressOf counts the children of a convoy, as a store lists them.
func ProgressOf(children []beads.Bead) Progress {
	p := Progress{Total: len(children)}
	for _, b := range children {
		if b.Status == beads.StatusClosed {
			p.Closed++
		}
	}
	return p
}

// CloseConvoy closes the convoy in which, by a change to one of its beads, nothing is open any more, and gives it
// as it was and as it is: the bead was closed, or came closed to it, or was the last that was open and belongs to
// it no longer. Not ok: there is nothing to close.
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
	patch := beads.Closing()
	patch.SetMetadata = map[string]string{beads.CloseReason: "all of it is done: " + p.String()}
	now, err = store.Update(ctx, was.ID, patch)
	return was, now, err == nil && now.Rev != was.Rev, err
}
