package work

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"gcity/beads"
	"gcity/city"
	"gcity/cli/depot"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/events"
	"gcity/internal/disk"
)

func beadCreate(e *env.Env) *cobra.Command {
	var (
		b        beads.Bead
		priority string
		set      []string
		file     string
	)
	c := depot.WithWork(e, &cobra.Command{
		Use: "create TITLE", Short: "Make a piece of work", Args: env.Exactly(1),
		Example: `  gcity bead create "document the exec provider" --label pool:worker --priority 1
  gc bead create "fix the retry test" --parent gc-12 --needs gc-13,gc-14 --json
  gc bead create "what broke" --description-file - <log.txt
  gc bead create -- "--force is not documented"`,
	}, true, func(ctx context.Context, d *depot.Depot, args []string) error {
		var err error
		if b.Title = args[0]; priority != "" {
			if b.Priority, err = beads.ParsePriority(priority); err != nil {
				return exit.Usage("--priority: %v", err)
			}
		}
		if b.Metadata, err = metadata(set); err != nil {
			return err
		}
		if file != "" {
			if b.Description, err = textOf(e, file, b.Description != ""); err != nil {
				return err
			}
		}
		made, announced, err := depot.CreateOnce(ctx, e, d, b)
		if err != nil {
			return elsewhere(ctx, e, d, err, append(b.Needs, b.ParentID))
		}
		if announced {
			return depot.Repeated(e, made)
		}
		return changed(ctx, e, d, events.BeadCreated, made)
	})
	depot.Operation(e, c)
	c.Flags().StringVar(&b.Type, "type", beads.DefaultType, "what it is, in a word")
	c.Flags().StringSliceVar(&b.Labels, "label", nil, "a label; pool:NAME is work for that pool")
	c.Flags().StringVar(&b.Assignee, "assignee", "", "who is to do it")
	c.Flags().StringVar(&b.ParentID, "parent", "", "the id of what it is a step of")
	c.Flags().StringVar(&b.Description, "description", "", "as long as it has to be, to 256 KiB")
	c.Flags().StringVar(&file, "description-file", "",
		"the description is in this file; - is standard input")
	c.Flags().StringVar(&priority, "priority", "", "0, the most urgent, to 4; the usual one is 2")
	c.Flags().StringSliceVar(&b.Needs, "needs", nil, "the id of what has to be done before")
	c.Flags().StringArrayVar(&set, "set", nil, "KEY=VALUE of its metadata")
	return c
}

// changed says what became of a bead: to the caller, then to the city. The first is not held up by the second.
func changed(ctx context.Context, e *env.Env, d *depot.Depot, kind string, b beads.Bead) error {
	if e.JSON {
		if err := e.WriteJSON(b); err != nil {
			return err
		}
	} else {
		what := map[string]string{events.BeadCreated: "created", events.BeadUpdated: "updated",
			events.BeadClosed: "closed"}[kind]
		e.Sayf("%s %s: %s", what, e.Paint(output.Bold, output.SafeLine(b.ID)),
			output.SafeLine(b.Title))
	}
	return depot.Announce(ctx, e, d, kind, b)
}

// reworked is changed for what is there already, where more can be said of it than that it is changed.
func reworked(ctx context.Context, e *env.Env, d *depot.Depot, old, b beads.Bead) error {
	deed := city.Deed(&old, b)
	if e.JSON || deed == "" {
		return changed(ctx, e, d, events.BeadUpdated, b)
	}
	e.Sayf("%s: %s", output.SafeLine(deed), output.SafeLine(b.Title))
	return depot.Announce(ctx, e, d, events.BeadUpdated, b)
}

// patchFlags are a change as a person writes it.
type patchFlags struct {
	title, status, kind, priority, assignee, parent, description, file string

	needs, add, remove, set []string
	rev                     uint64
	claim                   bool
}

func (f *patchFlags) flags(c *cobra.Command) {
	c.Flags().StringVar(&f.title, "title", "", "another title")
	c.Flags().StringVar(&f.status, "status", "", "open, in_progress or closed")
	c.Flags().StringVar(&f.kind, "type", "", "another type")
	c.Flags().StringVar(&f.priority, "priority", "", "0, the most urgent, to 4")
	c.Flags().StringVar(&f.assignee, "assignee", "", "who is to do it; empty = nobody")
	c.Flags().StringVar(&f.parent, "parent", "", "what it is a step of; empty = nothing")
	c.Flags().StringVar(&f.description, "description", "", "another description")
	c.Flags().StringVar(&f.file, "description-file", "",
		"another description, from this file; - is standard input")
	c.Flags().StringSliceVar(&f.needs, "needs", nil,
		"all that has to be done before, in place of what was there")
	c.Flags().StringSliceVar(&f.add, "label", nil, "a label more")
	c.Flags().StringSliceVar(&f.remove, "remove-label", nil, "a label less")
	c.Flags().StringArrayVar(&f.set, "set", nil,
		"KEY=VALUE of its metadata; an empty value takes the key away")
	c.Flags().BoolVar(&f.claim, "claim", false,
		"take it for yourself, or for --assignee, and begin; refused if another has it")
	c.Flags().Uint64Var(&f.rev, "if-rev", 0, "only if it is at this revision (rev in --json)")
}

// patch is the change of those flags that were given.
func (f *patchFlags) patch(given func(flag string) bool) (beads.Patch, error) {
	p := beads.Patch{AddLabels: f.add, RemoveLabels: f.remove}
	for flag, field := range map[string]struct {
		value string
		to    **string
	}{
		"title": {f.title, &p.Title}, "type": {f.kind, &p.Type},
		"assignee": {f.assignee, &p.Assignee},
		"parent":   {f.parent, &p.ParentID}, "description": {f.description, &p.Description},
	} {
		if given(flag) {
			*field.to = &field.value
		}
	}
	if given("status") {
		if !beads.Status(f.status).Valid() {
			return p, exit.Usage("--status %s: it is open, in_progress or closed", f.status)
		}
		p.Status = new(beads.Status(f.status))
	}
	if given("priority") {
		level, err := beads.ParsePriority(f.priority)
		if err != nil {
			return p, exit.Usage("--priority: %v", err)
		}
		p.Priority = &level
	}
	if given("needs") {
		p.Needs = &f.needs
	}
	if given("if-rev") {
		p.IfRev = &f.rev
	}
	var err error
	p.SetMetadata, err = metadata(f.set)
	return p, err
}

func beadUpdate(e *env.Env) *cobra.Command {
	var f patchFlags
	c := &cobra.Command{
		Use: "update ID", Short: "Change what the flags name, and nothing else",
		Args: env.Exactly(1),
		Example: `  gc bead update gc-12 --claim             # yours now; only one claim succeeds
  gc bead update gc-12 --assignee ""       # it is nobody's`,
	}
	c = depot.WithWork(e, c, true, func(ctx context.Context, d *depot.Depot, args []string) error {
		if f.claim {
			if err := claimsOnly(c); err != nil {
				return err
			}
			return claim(ctx, e, d, args[0], f.assignee)
		}
		if f.file != "" {
			text, err := textOf(e, f.file, c.Flags().Changed("description"))
			if err != nil {
				return err
			}
			f.description = text
		}
		p, err := f.patch(func(flag string) bool {
			return c.Flags().Changed(flag) || flag == "description" && f.file != ""
		})
		if err != nil {
			return err
		}
		if c.Flags().NFlag() == 0 || onlyWhere(c) {
			return exit.Usage("nothing is to be changed: gcity bead update ID --status … " +
				"(see --help)")
		}
		if p.Status != nil && *p.Status == beads.StatusClosed {
			if err := refuseOpen(ctx, e, d, args[0], nil); err != nil {
				return err
			}
		}
		return patchBead(ctx, e, d, args[0], p)
	})
	f.flags(c)
	depot.Operation(e, c)
	return c
}

// onlyWhere reports whether the flags that were given say where and how, but not what to change.
func onlyWhere(c *cobra.Command) bool {
	for _, flag := range []string{
		"title", "status", "type", "priority", "assignee", "parent", "description",
		"description-file", "needs", "label", "remove-label", "set",
	} {
		if c.Flags().Changed(flag) {
			return false
		}
	}
	return true
}

// patchBead changes a bead and tells of it. What changes nothing is no event.
func patchBead(ctx context.Context, e *env.Env, d *depot.Depot, id string, p beads.Patch) error {
	old, has, closeOther, err := depot.Find(ctx, e, d, id)
	if err != nil {
		return err
	}
	defer closeOther()
	return patchFound(ctx, e, has, old, p)
}

// patchFound is patchBead for a bead as it was found.
func patchFound(ctx context.Context, e *env.Env, has *depot.Depot, old beads.Bead,
	p beads.Patch) error {
	switch done, err := depot.Announced(ctx, e, has, old.ID); {
	case err != nil:
		return err
	case done:
		return depot.Repeated(e, old)
	}
	b, err := has.Update(ctx, old.ID, p)
	if err != nil {
		var links []string
		if p.Needs != nil {
			links = *p.Needs
		}
		if p.ParentID != nil {
			links = append(slices.Clone(links), *p.ParentID)
		}
		return elsewhere(ctx, e, has, err, links)
	}
	switch {
	case b.Rev == old.Rev && e.Op != "": // it was done before, and its event is missing
		return changed(ctx, e, has, eventOf(b), b)
	case b.Rev == old.Rev:
		if e.JSON {
			return e.WriteJSON(b)
		}
		e.Sayf("%s %s: %s", e.Paint(output.Bold, output.SafeLine(b.ID)), unchanged(e, b, p),
			output.SafeLine(b.Title))
		return nil
	case b.Status == beads.StatusClosed && old.Status != beads.StatusClosed:
		if err := changed(ctx, e, has, events.BeadClosed, b); err != nil {
			return err
		}
		return tellClosedConvoy(ctx, e, has, old, b)
	}
	if err := reworked(ctx, e, has, old, b); err != nil {
		return err
	}
	return tellClosedConvoy(ctx, e, has, old, b)
}

// eventOf is the type of the event that tells how a bead is now.
func eventOf(b beads.Bead) string {
	if b.Status == beads.StatusClosed {
		return events.BeadClosed
	}
	return events.BeadUpdated
}

// unchanged says of a bead that a change has found as it was to be.
func unchanged(e *env.Env, b beads.Bead, p beads.Patch) string {
	if p.Status == nil || b.ClosedAt == nil {
		return "is already like that"
	}
	text := fmt.Sprintf("is closed already, since %s", e.Clock(*b.ClosedAt))
	if b.Assignee != "" {
		text += ", assigned to " + output.SafeLine(b.Assignee)
	}
	if why := b.Metadata[beads.CloseReason]; why != "" {
		text += fmt.Sprintf(" (%s)", output.SafeLine(why))
	}
	return text
}

func beadClose(e *env.Env) *cobra.Command {
	var (
		reason       string
		steps, force bool
	)
	c := depot.WithWork(e, &cobra.Command{
		Use: "close ID…", Short: "Say that it is done, or not to be done; closing again " +
			"is harmless", Args: env.Between(1, beads.MaxNeeds),
		Long: `close says that work is done, or is not to be done. A molecule with open steps is
refused: --steps closes them with it, --force leaves them open. The steps of other
work stay as they are, and what is open of them is told. Wisps, which are what
automations have made, are cleared away only when their steps are closed too.`,
	}, true, func(ctx context.Context, d *depot.Depot, args []string) error {
		p := beads.Closing()
		if reason != "" {
			p.SetMetadata = map[string]string{beads.CloseReason: reason}
		}
		for _, id := range args {
			if steps || force {
				break
			}
			if err := refuseOpen(ctx, e, d, id, args); err != nil {
				return err
			}
		}
		for _, id := range args {
			if steps {
				if err := closeSteps(ctx, e, d, id, p); err != nil {
					return err
				}
			}
			if err := patchBead(ctx, e, d, id, p); err != nil {
				return err
			}
			if err := tellOpenSteps(ctx, e, d, id); err != nil {
				return err
			}
		}
		return nil
	})
	depot.Operation(e, c)
	c.Flags().BoolVar(&steps, "steps", false, "its open steps too, and theirs")
	c.Flags().BoolVar(&force, "force", false, "also a molecule whose steps are open: they stay so")
	c.Flags().StringVar(&reason, "reason", "", "why, kept in its metadata")
	return c
}

// exportTo writes all beads into a file, in one step.
func exportTo(ctx context.Context, d *depot.Depot, file string) (int, error) {
	var all bytes.Buffer
	n, err := beads.Export(ctx, d, &all)
	if err != nil {
		return 0, err
	}
	if err := disk.Replace(file, all.Bytes(), 0o600); err != nil {
		return 0, fmt.Errorf("cannot write the export: %w", err)
	}
	return n, nil
}

// openInput opens a file, or standard input for "-".
func openInput(e *env.Env, name string) (io.Reader, func(), error) {
	if name == "-" {
		return e.In, func() {}, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read what is to be imported: %w", err)
	}
	return f, func() { _ = f.Close() }, nil // it was only read
}

// imported is the event of an import: one for all beads, lest thousands begin thousands of runs.
func imported(d *depot.Depot, got beads.Imported, depth int) events.Event {
	payload, err := json.Marshal(struct {
		Rig string `json:"rig,omitempty"`
		beads.Restored
		Depth int `json:"depth,omitempty"`
	}{d.Rig, got.Restored, depth})
	if err != nil {
		payload = nil // numbers and a name are always JSON
	}
	return events.Event{Type: events.BeadImported, Message: importText(got), Payload: payload}
}
