package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"gcity/beads"
	"gcity/city"
)

func beadColour(s beads.Status) string {
	switch s {
	case beads.StatusOpen:
		return ""
	case beads.StatusInProgress:
		return green
	default:
		return dim
	}
}

// writeBeads writes a table of beads in the order given. Those that await one of the gates are marked.
func (a *app) writeBeads(w io.Writer, all []beads.Bead, gates city.Gates) error {
	rows := make([][]cell, 0, len(all))
	for _, b := range all {
		status := cell{string(b.Status), beadColour(b.Status)}
		if _, ok := gates.Block(b); ok {
			status = cell{city.AwaitingGate, yellow}
		}
		rows = append(rows, []cell{
			{b.ID, bold}, status, plainCell(b.Priority.String()), plainCell(b.Type),
			plainCell(b.Assignee), plainCell(a.age(b.UpdatedAt)), {strings.Join(b.Labels, " "), dim}, plainCell(b.Title),
		})
	}
	return a.table(w, a.columns(), []string{"ID", "STATUS", "P", "TYPE", "ASSIGNEE", "CHANGED", "LABELS", "TITLE"}, rows)
}

// tellBead writes what is known of one, what it needs and its steps.
func (a *app) tellBead(ctx context.Context, d *depot, b beads.Bead) error {
	steps, err := d.List(ctx, beads.Query{Parent: b.ID, Limit: -1})
	if err != nil {
		return err
	}
	slices.Reverse(steps) // in the order in which they were made
	a.sayf("%s is %s since %s (%s)", a.paint(bold, safeLine(b.ID)), a.paint(beadColour(b.Status), string(b.Status)),
		a.clock(b.UpdatedAt), a.age(b.UpdatedAt))
	a.sayf("  %s", safeLine(b.Title))
	gates, err := city.GatesFor(ctx, d.List, append(slices.Clone(steps), b))
	if err != nil {
		return err
	}
	if gate, ok := gates.Block(b); ok {
		a.fact("awaits", fmt.Sprintf("gate %s: %s; `gcity bead close %s` opens it", gate.ID, gate.Title, gate.ID))
	}
	a.fact("type", b.Type)
	a.fact("priority", b.Priority.String())
	a.fact("assignee", b.Assignee)
	a.fact("labels", strings.Join(b.Labels, ", "))
	a.fact("made from", b.Ref)
	a.fact("step of", b.ParentID)
	for _, id := range b.Needs {
		need, err := d.Get(ctx, id)
		switch {
		case err == nil:
			a.fact("needs", fmt.Sprintf("%s (%s): %s", id, need.Status, need.Title))
		case errors.Is(err, beads.ErrNotFound):
			a.fact("needs", id+" (gone, which counts as done)")
		default:
			return err
		}
	}
	a.fact("created", a.clock(b.CreatedAt))
	if b.ClosedAt != nil {
		a.fact("closed", a.clock(*b.ClosedAt))
	}
	a.fact("revision", fmt.Sprint(b.Rev))
	a.fact("kept by", d.title())
	for _, key := range slices.Sorted(maps.Keys(b.Metadata)) {
		a.fact(key, b.Metadata[key])
	}
	if b.Description != "" {
		a.sayf("\n%s", safeText(strings.TrimRight(b.Description, "\n")))
	}
	if len(steps) == 0 {
		return nil
	}
	a.sayf("\nsteps")
	if next, ok := beads.Next(steps); ok {
		a.fact("next", next.ID+": "+next.Title)
	}
	return a.writeBeads(a.out, steps, gates)
}
