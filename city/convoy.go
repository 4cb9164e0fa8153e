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

// ConvoyChange is a convoy or a molecule before and after SettleConvoys has closed or reopened it.
type ConvoyChange struct{ Was, Now beads.Bead }

// SettleConvoys closes a convoy if a change to a bead has left it without open beads, and reopens a closed convoy or
// molecule if the change has given it an open bead. It then does the same for the parent of the convoy or molecule.
// child is zero for a new bead. An unreadable bead counts as open unless its status is closed.
func SettleConvoys(ctx context.Context, store beads.Store, child, changed beads.Bead) (
	out []ConvoyChange, err error) {
	settle := func(id string, opened bool) {
		if id == "" || err != nil {
			return
		}
		var c *ConvoyChange
		if c, err = settleConvoy(ctx, store, id, opened); c == nil {
			return
		}
		out = append(out, *c)
		if err == nil {
			var more []ConvoyChange
			more, err = SettleConvoys(ctx, store, c.Was, c.Now)
			out = append(out, more...)
		}
	}
	was, now := child.Status != beads.StatusClosed, changed.Status != beads.StatusClosed
	moved := child.ParentID != changed.ParentID
	if moved || was != now {
		settle(changed.ParentID, now)
	}
	if moved && was {
		settle(child.ParentID, false)
	}
	return out, err
}

// convoyAttempts limits the changes to a convoy while other processes change its beads.
const convoyAttempts = 4

// settleConvoy reads a convoy again after it has changed it. If another process adds a bead at the same time, this
// process sees the bead, or the other one sees that the convoy is closed.
func settleConvoy(ctx context.Context, store beads.Store, id string, opened bool) (c *ConvoyChange,
	err error) {
	for range convoyAttempts {
		b, err := store.Get(ctx, id)
		molecule := b.Type == beads.TypeMolecule && opened
		if errors.Is(err, beads.ErrNotFound) || err == nil && b.Type != ConvoyType && !molecule {
			return c, nil
		}
		if err != nil {
			return c, err
		}
		closed := b.Status == beads.StatusClosed
		if c != nil {
			c.Now = b
		} else if closed != opened {
			return nil, nil
		}
		var p Progress
		done := false // a molecule is closed only on request
		if !molecule {
			p, done, err = convoyDone(ctx, store, id)
		}
		if err != nil || done == closed {
			return c, err
		}
		patch := beads.Patch{Status: new(beads.StatusOpen), IfRev: &b.Rev}
		if done {
			patch.Status = new(beads.StatusClosed)
			patch.SetMetadata = map[string]string{
				beads.CloseReason: "all beads are closed: " + p.String()}
		}
		now, err := store.Update(ctx, id, patch)
		switch {
		case errors.Is(err, beads.ErrConflict):
		case err != nil:
			return c, err
		case molecule: // not read again, because a user may close it at any time
			return &ConvoyChange{Was: b, Now: now}, nil
		case c == nil:
			c = &ConvoyChange{Was: b, Now: now}
		default:
			c.Now = now
		}
	}
	return c, nil
}

func convoyDone(ctx context.Context, store beads.Store, id string) (Progress, bool, error) {
	children, err := store.List(ctx, beads.Query{Parent: id, Limit: -1})
	p := ProgressOf(children)
	if err != nil || !p.Done() {
		return p, false, err
	}
	lost, err := UnreadableSteps(ctx, store, id)
	return p, err == nil && len(lost) == 0, err
}
