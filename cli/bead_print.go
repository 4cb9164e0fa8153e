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
	"gcity/cli/output"
)

func beadColour(s beads.Status) string {
	switch s {
	case beads.StatusOpen:
		return ""
	case beads.StatusInProgress:
		return output.Green
	default:
		return output.Dim
	}
}

// writeBeads writes a table of beads in the order given. Those that await one of the gates are marked.
func (a *app) writeBeads(w io.Writer, all []beads.Bead, gates city.Gates) error {
	rows := make([][]output.Cell, 0, len(all))
	for _, b := range all {
		status := output.Tinted(string(b.Status), beadColour(b.Status))
		if _, ok := gates.Block(b); ok {
			status = output.Tinted(city.AwaitingGate, output.Yellow)
		}
		rows = append(rows, []output.Cell{
			output.Tinted(b.ID, output.Bold), status, output.Plain(b.Priority.String()),
			output.Plain(b.Type),
			output.Plain(b.Assignee), output.Plain(a.Age(b.UpdatedAt)),
			output.Tinted(strings.Join(b.Labels, " "), output.Dim), output.Plain(b.Title),
		})
	}
	return a.Table(w, a.Columns(), []string{"ID", "STATUS", "P", "TYPE", "ASSIGNEE", "CHANGED",
		"LABELS", "TITLE"}, rows)
}

// tellBead writes what is known of one, what it needs and its steps.
func (a *app) tellBead(ctx context.Context, d *depot, b beads.Bead) error {
	steps, err := d.List(ctx, beads.Query{Parent: b.ID, Limit: -1})
	if err != nil {
		return err
	}
	slices.Reverse(steps) // in the order in which they were made
	a.Sayf("%s is %s since %s (%s)", a.Paint(output.Bold, output.SafeLine(b.ID)),
		a.Paint(beadColour(b.Status), string(b.Status)),
		a.Clock(b.UpdatedAt), a.Age(b.UpdatedAt))
	a.Sayf("  %s", output.SafeLine(b.Title))
	gates, err := city.GatesFor(ctx, d.List, append(slices.Clone(steps), b))
	if err != nil {
		return err
	}
	if gate, ok := gates.Block(b); ok {
		a.Fact("awaits", fmt.Sprintf("gate %s: %s; `gcity bead close %s` opens it", gate.ID,
			gate.Title, gate.ID))
	}
	a.Fact("type", b.Type)
	a.Fact("priority", b.Priority.String())
	a.Fact("assignee", b.Assignee)
	a.Fact("labels", strings.Join(b.Labels, ", "))
	a.Fact("made from", b.Ref)
	a.Fact("step of", b.ParentID)
	for _, id := range b.Needs {
		need, err := d.Get(ctx, id)
		switch {
		case err == nil:
			a.Fact("needs", fmt.Sprintf("%s (%s): %s", id, need.Status, need.Title))
		case errors.Is(err, beads.ErrNotFound):
			a.Fact("needs", id+" (gone, which counts as done)")
		default:
			return err
		}
	}
	a.Fact("created", a.Clock(b.CreatedAt))
	if b.ClosedAt != nil {
		a.Fact("closed", a.Clock(*b.ClosedAt))
	}
	a.Fact("revision", fmt.Sprint(b.Rev))
	a.Fact("kept by", d.title())
	for _, key := range slices.Sorted(maps.Keys(b.Metadata)) {
		a.Fact(key, b.Metadata[key])
	}
	if b.Description != "" {
		a.Sayf("\n%s", output.SafeText(strings.TrimRight(b.Description, "\n")))
	}
	if len(steps) == 0 {
		return nil
	}
	a.Sayf("\nsteps")
	if next, ok := beads.Next(steps); ok {
		a.Fact("next", next.ID+": "+next.Title)
	}
	return a.writeBeads(a.Out, steps, gates)
}
