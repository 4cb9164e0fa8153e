package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"gcity/beads"
	"gcity/city"
)

// undoLimit is how long taking work back may take that could not be handed out.
const undoLimit = 20 * time.Second

// takeBack closes what was made for work that could not be handed out, and adds to the reason what became of it.
func (out *Slung) takeBack(ctx context.Context, req city.SlingRequest, why error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit) // it may have failed because its time was over
	defer cancel()
	var gone, left []string
	for i := len(out.made) - 1; i >= 0; i-- {
		m := out.made[i]
		if err := m.undo(ctx, req, out); err != nil {
			left = append(left, fmt.Sprintf("%s was made for it and is still there (%v): `gcity bead close %s --steps` takes it away", m.id, err, m.id))
			continue
		}
		gone = append(gone, m.id)
	}
	text := why.Error()
	if len(gone) > 0 {
		text += "; what was made for it is closed again: " + strings.Join(gone, ", ")
	}
	for _, l := range left {
		text += "; " + l
	}
	e := &city.Error{Code: city.Unavailable, Message: text}
	if was, ok := errors.AsType[*city.Error](city.WorkError(why)); ok {
		e.Code, e.Details = was.Code, was.Details
	}
	return e
}

// undo closes it with all that is below it, the lowest first, and lets the bead go that was to be done by it.
func (m made) undo(ctx context.Context, req city.SlingRequest, out *Slung) error {
	root, err := m.store.Get(ctx, m.id)
	if err != nil {
		return err
	}
	line := []beads.Bead{root}
	for i := 0; i < len(line); i++ {
		steps, err := m.store.List(ctx, beads.Query{Parent: line[i].ID, Limit: -1})
		if err != nil {
			return err
		}
		line = append(line, steps...)
	}
	p := beads.Closing()
	p.SetMetadata = map[string]string{beads.CloseReason: "taken back: it could not be handed out"}
	var closed beads.Bead
	for i := len(line) - 1; i >= 0; i-- {
		if line[i].Status == beads.StatusClosed {
			closed = line[i]
		} else if closed, err = m.store.Update(ctx, line[i].ID, p); err != nil {
			return err
		}
	}
	out.tell(root, closed, req)
	if m.of == "" {
		return nil
	}
	was, err := m.store.Get(ctx, m.of)
	if err != nil || was.Metadata[city.MoleculeKey] != m.id {
		return err
	}
	now, err := m.store.Update(ctx, m.of, beads.Patch{SetMetadata: map[string]string{city.MoleculeKey: m.was}})
	if err != nil {
		return err
	}
	out.tell(was, now, req)
	return nil
}

// tell notes the event of a change, if it is one.
func (out *Slung) tell(was, now beads.Bead, req city.SlingRequest) {
	if e := city.BeadEvent(&was, now, req.By, req.Depth); e.Type != "" {
		out.Events = append(out.Events, e)
	}
}
