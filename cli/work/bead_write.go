package work

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"

	"github.com/spf13/cobra"

	"gcity/beads"
	"gcity/city"
	"gcity/cli/depot"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/describe"
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
		Use: "create TITLE", Short: "Create a bead",
		Example: `  gcity bead create "document the provider" --label pool:worker --priority 1
  gc bead create "fix the retry test" --parent gc-12 --needs gc-13,gc-14 --json
  gc bead create "build fails" --description-file - <log.txt
  gc bead create -- "--force is not documented"`,
	}, true, func(ctx context.Context, d *depot.Store, args []string) error {
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
			return elsewhere(ctx, e, d, err, linked{b.Needs, b.ParentID})
		}
		if announced {
			return errors.Join(depot.Repeated(e, made),
				printSettledConvoys(ctx, e, d, beads.Bead{}, made))
		}
		warnPools(e, d, b.Labels)
		warnAssignee(e, d, b.Assignee)
		return errors.Join(changed(ctx, e, d, events.BeadCreated, made),
			printSettledConvoys(ctx, e, d, beads.Bead{}, made))
	})
	depot.Operation(e, c)
	flags := c.Flags()
	flags.StringVar(&b.Type, "type", beads.DefaultType, "the type of work, in one word")
	flags.StringSliceVar(&b.Labels, "label", nil, "a label; pool:NAME assigns the work "+
		"to that pool")
	flags.StringVar(&b.Assignee, "assignee", "", "assign the bead to this agent or user")
	flags.StringVar(&b.ParentID, "parent", "",
		"the ID of the parent; the new bead becomes a step of it")
	flags.StringVar(&b.Description, "description", "", "the details, at most 256 KiB")
	flags.StringVar(&file, "description-file", "",
		"read the description from this file; - is standard input")
	flags.StringVar(&priority, "priority", "", "priority from 0 (most urgent) to 4; the "+
		"default is 2")
	flags.StringSliceVar(&b.Needs, "needs", nil, "the ID of a bead that must be done first; "+
		"may be repeated")
	flags.StringArrayVar(&set, "set", nil, "a metadata entry KEY=VALUE; may be repeated")
	return c
}

func changed(ctx context.Context, e *env.Env, d *depot.Store, kind string, b beads.Bead) error {
	if e.JSON {
		if err := e.WriteJSON(b); err != nil {
			return err
		}
	} else {
		what := map[string]string{events.BeadCreated: "created", events.BeadUpdated: "updated",
			events.BeadClosed: "closed"}[kind]
		e.Sayf("%s %s: %s", what, e.Bold(b.ID),
			output.SafeLine(b.Title))
	}
	return depot.ReportChange(ctx, e, d, kind, b)
}

func changedBead(ctx context.Context, e *env.Env, d *depot.Store, old, b beads.Bead) error {
	changes := city.ChangeText(&old, b)
	if e.JSON || changes == "" {
		return changed(ctx, e, d, events.BeadUpdated, b)
	}
	e.Sayf("%s: %s", output.SafeLine(changes), output.SafeLine(b.Title))
	return depot.ReportChange(ctx, e, d, events.BeadUpdated, b)
}

type patchFlags struct {
	title, status, kind, priority, assignee, parent, description, file string

	needs, add, remove, set []string
	rev                     uint64
	claim                   bool
}

func (f *patchFlags) flags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVar(&f.title, "title", "", "the new title")
	flags.StringVar(&f.status, "status", "", "the new status: open, in_progress or closed")
	flags.StringVar(&f.kind, "type", "", "the new type")
	flags.StringVar(&f.priority, "priority", "", "priority from 0 (most urgent) to 4")
	flags.StringVar(&f.assignee, "assignee", "", "assign the bead to this agent or user; "+
		"empty removes the assignee, and reopens the bead if it is in progress")
	flags.StringVar(&f.parent, "parent", "",
		"the ID of the new parent; empty removes the parent")
	flags.StringVar(&f.description, "description", "", "the new description")
	flags.StringVar(&f.file, "description-file", "",
		"read the new description from this file; - is standard input")
	flags.StringSliceVar(&f.needs, "needs", nil,
		"all beads that must be done first; replaces the previous list")
	flags.StringSliceVar(&f.add, "label", nil, "add a label")
	flags.StringSliceVar(&f.remove, "remove-label", nil, "remove a label")
	flags.StringArrayVar(&f.set, "set", nil,
		"a metadata entry KEY=VALUE; an empty value removes the key")
	flags.BoolVar(&f.claim, "claim", false,
		"assign the bead to yourself (or to --assignee) and set it to in_progress; fails if it "+
			"has a different assignee")
	flags.Var(env.Number(&f.rev, 0), "if-rev", "change the bead only if this is its current "+
		"revision (rev in --json)")
}

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
			return p, exit.Usage("invalid --status %s: use open, in_progress or closed", f.status)
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
		Use: "update ID", Short: "Change only the given fields of a bead",
		Example: `  gc bead update gc-12 --claim             # fails if another agent has it
  gc bead update gc-12 --assignee ""       # gives up the work, and reopens it`,
	}
	c = depot.WithWork(e, c, true, func(ctx context.Context, d *depot.Store, args []string) error {
		if f.claim {
			if flag := firstChanged(c, "if-rev"); flag != "" {
				return exit.Usage("--claim cannot be combined with other changes; use --%s in a "+
					"separate update", flag)
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
		if firstChanged(c, "assignee") == "" {
			return exit.Usage("no change given; see `gcity bead update --help`")
		}
		if p.Status != nil && *p.Status == beads.StatusClosed {
			if err := checkSteps(ctx, e, d, args[0], nil); err != nil {
				return err
			}
		}
		warnPools(e, d, f.add)
		warnAssignee(e, d, f.assignee)
		return patchBead(ctx, e, d, args[0], p)
	})
	f.flags(c)
	depot.Operation(e, c)
	return c
}

// firstChanged returns the first flag that the user gave, of those that change a field of a bead and the flag more. It
// returns "" if the user gave none of them.
func firstChanged(c *cobra.Command, more string) string {
	for _, flag := range []string{
		"title", "status", "type", "priority", "parent", "description", "description-file", "needs",
		"label", "remove-label", "set", more,
	} {
		if c.Flags().Changed(flag) {
			return flag
		}
	}
	return ""
}

func patchBead(ctx context.Context, e *env.Env, d *depot.Store, id string, p beads.Patch) error {
	old, has, err := depot.Find(ctx, e, d, id)
	if err != nil {
		return err
	}
	if p.Status != nil && *p.Status == beads.StatusClosed && old.Status == beads.StatusClosed {
		p.SetMetadata = maps.Clone(p.SetMetadata) // the caller uses it for other beads too
		delete(p.SetMetadata, beads.CloseReason)
	}
	return patchFound(ctx, e, has, old, p)
}

func patchFound(ctx context.Context, e *env.Env, has *depot.Store, old beads.Bead,
	p beads.Patch) error {
	closes := p.Status != nil && *p.Status == beads.StatusClosed
	kind := events.BeadUpdated
	if closes && (old.Status != beads.StatusClosed || depot.WasClosed(e, old)) {
		kind = events.BeadClosed
	}
	switch done, err := depot.WasReported(ctx, e, has, kind, old.ID); {
	case err != nil:
		return err
	case done:
		return errors.Join(depot.Repeated(e, old), retryConvoyClose(ctx, e, has, old))
	}
	if closes && old.Status != beads.StatusClosed {
		p = depot.MarkClosed(e, p)
	}
	b, err := update(ctx, e, has, &old, p)
	if err != nil {
		var links linked
		if p.Needs != nil {
			links.needs = *p.Needs
		}
		if p.ParentID != nil {
			links.parent = *p.ParentID
		}
		return elsewhere(ctx, e, has, err, links)
	}
	switch {
	case b.Rev == old.Rev && e.Op != "" && (!closes || kind == events.BeadClosed):
		// an earlier attempt made this change, but its event might be missing
		if err := changed(ctx, e, has, kind, b); err != nil {
			return err
		}
		return retryConvoyClose(ctx, e, has, b)
	case b.Rev == old.Rev:
		return e.Result(b, "%s %s: %s", e.Bold(b.ID), unchanged(e, b, p), output.SafeLine(b.Title))
	case b.Status == beads.StatusClosed && old.Status != beads.StatusClosed:
		err = changed(ctx, e, has, events.BeadClosed, b)
	default:
		err = changedBead(ctx, e, has, old, b)
	}
	if err != nil && e.Op != "" {
		return err // the repetition also closes the convoy
	}
	return errors.Join(err, printSettledConvoys(ctx, e, has, old, b))
}

// retryConvoyClose closes the convoy of a closed bead if an earlier attempt was interrupted and left it open.
func retryConvoyClose(ctx context.Context, e *env.Env, has *depot.Store, b beads.Bead) error {
	was := b
	was.Status = beads.StatusOpen
	return printSettledConvoys(ctx, e, has, was, b)
}

// update applies a patch. If an earlier attempt of the current operation has already made the change, the bead no
// longer has the revision that the patch requires. In this case, update sets *old to the current bead and returns it.
func update(ctx context.Context, e *env.Env, has *depot.Store, old *beads.Bead,
	p beads.Patch) (beads.Bead, error) {
	b, err := has.Update(ctx, old.ID, p)
	if e.Op == "" || p.IfRev == nil || !errors.Is(err, beads.ErrConflict) {
		return b, err
	}
	latest, failed := has.Get(ctx, old.ID)
	if failed != nil {
		return b, err
	}
	p.IfRev = nil
	if now, failed := p.Apply(latest, latest.UpdatedAt); failed != nil || now.Rev != latest.Rev {
		return b, err
	}
	*old = latest
	return latest, nil
}

func unchanged(e *env.Env, b beads.Bead, p beads.Patch) string {
	if p.Status == nil || b.ClosedAt == nil {
		return "already has these values"
	}
	text := fmt.Sprintf("was already closed at %s", e.Clock(*b.ClosedAt))
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
		Use: "close ID…", Short: "Close beads that are done or dropped; closing one again has " +
			"no effect",
		Args: env.Between(1, beads.MaxNeeds),
		Long: `close closes beads that are done or dropped. It fails for a molecule with open steps:
--steps closes the steps too, and --force leaves them open. Other beads are closed
without changing their steps, and close prints how many are still open. Wisps, which
automations and sling create, are removed only after their steps are closed too.`,
	}, true, func(ctx context.Context, d *depot.Store, args []string) error {
		p := beads.Closing()
		if reason != "" {
			p.SetMetadata = map[string]string{beads.CloseReason: reason}
		}
		for _, id := range args {
			if steps || force {
				break
			}
			if err := checkSteps(ctx, e, d, id, args); err != nil {
				return err
			}
		}
		var all depot.Changes
		for _, id := range args {
			if steps && !all.Add(closeSteps(ctx, e, d, id, p)) ||
				steps && !force && !all.Add(checkSteps(ctx, e, d, id, nil)) ||
				!all.Add(patchBead(ctx, e, d, id, p)) ||
				!steps && !all.Add(warnOpenSteps(ctx, e, d, id)) {
				break
			}
		}
		return all.Err()
	})
	depot.Operation(e, c)
	flags := c.Flags()
	flags.BoolVar(&steps, "steps", false, "also close open steps, and their steps")
	flags.BoolVar(&force, "force", false, "close a molecule even if its steps are open, and "+
		"leave them open")
	flags.StringVar(&reason, "reason", "", "the reason, stored in the bead's metadata")
	return c
}

type exporting struct {
	io.Writer
	progress *env.Progress // nil if not shown
	beads    int
}

func (x *exporting) Write(p []byte) (int, error) {
	x.beads += bytes.Count(p, []byte("\n"))
	if x.progress != nil {
		x.progress.Show(fmt.Sprintf("exporting: %s written", describe.Count(x.beads, "bead")))
	}
	return x.Writer.Write(p)
}

func exportTo(ctx context.Context, d *depot.Store, file string,
	progress *env.Progress) (done beads.Exported, err error) {
	if err := d.CheckOutput(file); err != nil {
		return done, err
	}
	var all bytes.Buffer
	done, err = beads.Export(ctx, d, &exporting{Writer: &all, progress: progress})
	if err != nil {
		return done, err
	}
	if done.Damage != nil {
		// an existing file might be a complete export from before the damage
		if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
			return done, fmt.Errorf("%w; %s already exists and was not replaced, because the new "+
				"export may be incomplete: export to a new file", done.Damage, file)
		}
	}
	if err := disk.Replace(file, all.Bytes(), 0o600); err != nil {
		return done, fmt.Errorf("cannot write the export: %w", disk.Named(err))
	}
	return done, nil
}

func openInput(e *env.Env, name string) (io.Reader, func(), error) {
	if name == "-" {
		return e.In, func() {}, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read the import: %w", err)
	}
	return f, func() { _ = f.Close() }, nil
}

// imported returns one event for all beads, because separate events could start thousands of automation runs.
func imported(d *depot.Store, got beads.Imported, depth int) events.Event {
	payload, err := json.Marshal(struct {
		Rig string `json:"rig,omitempty"`
		beads.Restored
		Depth int `json:"depth,omitempty"`
	}{d.Rig, got.Restored, depth})
	if err != nil {
		payload = nil // cannot happen
	}
	return events.Event{Type: events.BeadImported, Message: importText(got), Payload: payload}
}
