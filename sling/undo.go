package sling

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/beads"
	"gcity/city"
)

const undoLimit = 20 * time.Second

func (out *Result) undo(ctx context.Context, req city.SlingRequest, why error) error {
	// do not use the request's deadline, which might have expired
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoLimit)
	defer cancel()
	var gone, left []string
	for i := len(out.created) - 1; i >= 0; i-- {
		m := out.created[i]
		if err := m.undo(ctx, req, out); err != nil {
			left = append(left, fmt.Sprintf("%s was created for this request and could not be "+
				"closed (%v); close it with `gcity bead close %s --steps`", m.root.ID, err,
				m.root.ID))
			continue
		}
		gone = append(gone, m.root.ID)
	}
	text := why.Error()
	if len(gone) > 0 {
		text += "; the beads created for this request were closed: " +
			strings.Join(gone, ", ")
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

// taken returns how a bead was taken between two versions, or "" if it was not; as is the earlier version. A
// sling_query can fail after it has assigned the work.
func taken(as, now beads.Bead) string {
	newPool := func(l string) bool {
		return strings.HasPrefix(l, city.PoolLabel) && !slices.Contains(as.Labels, l)
	}
	switch {
	case now.Status == beads.StatusInProgress && as.Status != beads.StatusInProgress:
		return "in progress"
	case now.Assignee != "" && now.Assignee != as.Assignee:
		return "assigned to " + now.Assignee
	case slices.ContainsFunc(now.Labels, newPool):
		return "assigned to a pool"
	}
	return ""
}

// latest reads the created beads again, parents before children, and the bead that the molecule belongs to. It fails if
// an agent or pool has taken one of them.
func (m createdBeads) latest(ctx context.Context) (line []beads.Bead, of beads.Bead, err error) {
	root, err := m.store.Get(ctx, m.root.ID)
	if err == nil && m.of.ID != "" {
		of, err = m.store.Get(ctx, m.of.ID)
	}
	if err != nil {
		return nil, of, err
	}
	line = []beads.Bead{root}
	for i := 0; i < len(line); i++ {
		steps, err := m.store.List(ctx, beads.Query{Parent: line[i].ID, Limit: -1})
		if err != nil {
			return nil, of, err
		}
		line = append(line, steps...)
	}
	for i, b := range append(slices.Clone(line), of) {
		as := beads.Bead{} // steps are created without an assignee
		switch i {
		case 0:
			as = m.root
		case len(line):
			as = m.of
			// another molecule has replaced this one, so the bead is not checked
			if of.Metadata[city.MoleculeKey] != m.root.ID {
				continue
			}
		}
		if how := taken(as, b); how != "" {
			return nil, of, fmt.Errorf("%s is already %s", b.ID, how)
		}
	}
	return line, of, nil
}

func (m createdBeads) undo(ctx context.Context, req city.SlingRequest, out *Result) error {
	line, was, err := m.latest(ctx)
	if err != nil {
		return err
	}
	p := beads.Closing()
	p.SetMetadata = map[string]string{beads.CloseReason: "closed because it could not be " +
		"assigned"}
	var closed beads.Bead
	for i := len(line) - 1; i >= 0; i-- {
		if line[i].Status == beads.StatusClosed {
			closed = line[i]
		} else if closed, err = m.store.Update(ctx, line[i].ID, p); err != nil {
			return err
		}
	}
	out.recordChange(line[0], city.Located{Bead: closed, Rig: m.rig}, req)
	if was.ID == "" || was.Metadata[city.MoleculeKey] != m.root.ID {
		return nil
	}
	now, err := m.store.Update(ctx, was.ID, beads.Patch{
		SetMetadata: map[string]string{city.MoleculeKey: m.of.Metadata[city.MoleculeKey]}})
	if err != nil {
		return err
	}
	out.recordChange(was, city.Located{Bead: now, Rig: m.rig}, req)
	return nil
}

func (out *Result) recordChange(was beads.Bead, now city.Located, req city.SlingRequest) {
	if e := city.BeadEvent(&was, now, req.By, req.Depth); e.Type != "" {
		out.Events = append(out.Events, e)
	}
}
