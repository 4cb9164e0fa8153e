package work

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gcity/beads"
	"gcity/city"
	"gcity/cli/depot"
	"gcity/cli/env"
	"gcity/cli/output"
)

func beadColor(s beads.Status) string {
	switch s {
	case beads.StatusOpen:
		return ""
	case beads.StatusInProgress:
		return output.Green
	default:
		return output.Dim
	}
}

func writeBeads(e *env.Env, all []beads.Bead, gates city.Gates) error {
	table := output.NewTable("ID", "STATUS", "P", "TYPE", "ASSIGNEE", "CHANGED", "LABELS", "TITLE")
	for _, b := range all {
		status := output.Tinted(string(b.Status), beadColor(b.Status))
		if _, ok := gates.Block(b); ok {
			status = output.Tinted(city.AwaitingGate, output.Yellow)
		}
		table.Add(output.Tinted(b.ID, output.Bold), status, b.Priority, b.Type, b.Assignee,
			e.Age(b.UpdatedAt), output.Tinted(strings.Join(b.Labels, " "), output.Dim), b.Title)
	}
	table.Shrink(slices.Index(table.Head, "LABELS"), e.Columns())
	return e.Table(table)
}

func printBead(ctx context.Context, e *env.Env, d *depot.Store, b beads.Bead) error {
	steps, err := d.List(ctx, beads.Query{Parent: b.ID, Limit: -1})
	if err != nil {
		return err
	}
	slices.Reverse(steps)
	e.Sayf("%s: %s, last changed %s (%s ago)", e.Bold(b.ID),
		e.Paint(beadColor(b.Status), string(b.Status)),
		e.Clock(b.UpdatedAt), e.Age(b.UpdatedAt))
	e.Sayf("  %s", output.SafeLine(b.Title))
	gates, err := city.GatesFor(ctx, d.List, append(slices.Clone(steps), b))
	if err != nil {
		return err
	}
	if gate, ok := gates.Block(b); ok {
		e.Fact("awaits", fmt.Sprintf("gate %s: %s; `gcity bead close %s` opens it", gate.ID,
			gate.Title, gate.ID))
	}
	e.Fact("type", b.Type)
	e.Fact("priority", b.Priority.String())
	e.Fact("assignee", b.Assignee)
	e.Fact("labels", strings.Join(b.Labels, ", "))
	e.Fact("created from", b.Ref)
	e.Fact("step of", b.ParentID)
	for _, id := range b.Needs {
		need, err := d.Get(ctx, id)
		switch {
		case err == nil:
			e.Fact("needs", fmt.Sprintf("%s (%s): %s", id, need.Status, need.Title))
		case errors.Is(err, beads.ErrNotFound):
			e.Fact("needs", id+" (deleted, counts as done)")
		case errors.Is(err, beads.ErrUnreadable):
			e.Fact("needs", id+" (cannot be read)")
		default:
			return err
		}
	}
	e.Fact("created", e.Clock(b.CreatedAt))
	if b.ClosedAt != nil {
		e.Fact("closed", e.Clock(*b.ClosedAt))
	}
	e.Fact("revision", fmt.Sprint(b.Rev))
	e.Fact("stored in", d.Title())
	for _, key := range slices.Sorted(maps.Keys(b.Metadata)) {
		e.Fact(key, b.Metadata[key])
	}
	if b.Description != "" {
		e.Sayf("\n%s", output.SafeText(strings.TrimRight(b.Description, "\n")))
	}
	if len(steps) == 0 {
		return nil
	}
	e.Sayf("\nsteps")
	if next, ok := beads.Next(steps); ok {
		e.Fact("next", next.ID+": "+next.Title)
	}
	return writeBeads(e, steps, gates)
}
