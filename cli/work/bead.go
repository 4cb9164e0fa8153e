package work

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gcity/beads"
	"gcity/city"
	"gcity/cli/depot"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/cli/workstore"
	"gcity/describe"
	"gcity/mail"
)

// BeadCommand returns the bead command.
func BeadCommand(e *env.Env) *cobra.Command {
	c := env.Group("bead", "Create, list and change beads (work items)",
		beadCreate(e), beadList(e), beadShow(e), beadReady(e), beadUpdate(e), beadClose(e),
		beadExport(e), beadImport(e),
		beadBackup(e), beadRestore(e))
	c.Long = `bead reads and changes the beads (work items) of a city and its rigs, with or
without a controller. They are stored in .beads folders. The default is the city's
store. --rig selects a rig's store, as do BEADS_DIR and GC_RIG, which are set for
agents. "list" and "ready" read all stores with --all. An ID is looked up first in
the store with its prefix, then in the others. A bead's parent, children and needs
are in the same store as the bead.

A title is one line of at most 500 bytes, a description at most 256 KiB. Put text
that begins with "-" after "--". A bead has at most 100 labels, 1000 needs and 256
metadata keys.`
	return c
}

type beadFilter struct {
	beads.Query
	status []string
	all    bool
}

func (f *beadFilter) flags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringSliceVar(&f.Labels, "label", nil, "only beads with this label; if repeated, "+
		"all must match")
	flags.StringVar(&f.Type, "type", "", "only beads of this type")
	flags.StringVar(&f.Assignee, "assignee", "", "only beads assigned to this agent or user")
	flags.StringVar(&f.Parent, "parent", "", "only the steps of this bead")
	flags.BoolVar(&f.all, "all", false, "list the work of the city and all its rigs")
	f.Limit = beads.DefaultLimit
	flags.VarP(env.Number(&f.Limit, 0), "limit", "n", "list at most this many beads; 0 = all")
}

func (f *beadFilter) query() (beads.Query, error) {
	q := f.Query
	q.Limit = cmp.Or(q.Limit, -1)
	for _, s := range f.status {
		if !beads.Status(s).Valid() {
			return q, exit.Usage("invalid --status %s: use open, in_progress or closed", s)
		}
		q.Status = append(q.Status, beads.Status(s))
	}
	if q.Type == "" && len(q.Labels) == 0 {
		q.NotType = []string{workstore.TypeRun, mail.Type}
	}
	return q, q.Check()
}

func beadList(e *env.Env) *cobra.Command {
	var f beadFilter
	var c *cobra.Command
	c = depot.WithWork(e, &cobra.Command{
		Use: "list", Short: "List beads, newest first",
		Aliases: []string{"ls"},
		Long: `list prints beads of any status, newest first. It leaves out messages and the records
of automation runs unless you select a type or a label. To list those, use "gcity
automation history" and "gcity mail".`,
		Example: "  gcity bead list --status open,in_progress\n  gcity bead list --label " +
			"pool:worker --limit 0 --json",
	}, false, func(ctx context.Context, d *depot.Store, _ []string) error {
		q, err := f.query()
		if err != nil {
			return err
		}
		return depot.WithAll(e, c, d, f.all,
			func(d *depot.Store) error { return printBeads(ctx, e, d, q, nil) })
	})
	c.Flags().StringSliceVar(&f.status, "status", nil,
		"only beads with this status: open, in_progress or closed; if repeated, any may match")
	f.flags(c)
	return c
}

func beadReady(e *env.Env) *cobra.Command {
	var f beadFilter
	var c *cobra.Command
	c = depot.WithWork(e, &cobra.Command{
		Use: "ready", Short: "List open beads that are not blocked, most urgent first",
		Long: `ready lists open work that is not blocked, most urgent first. A molecule's steps
belong to the molecule's owner, so they are listed only with --assignee OWNER or with
--parent MOLECULE. Steps of a molecule without an owner are always listed.`,
		Example: `  gc bead ready --assignee "$GC_AGENT" --limit 1`,
	}, false, func(ctx context.Context, d *depot.Store, _ []string) error {
		q, err := f.query()
		if err != nil {
			return err
		}
		q.Ready = true
		if q.Type == "" {
			q.NotType = city.NotWork()
		}
		most := q.MaxResults()
		q.Limit = -1 // the most urgent bead might be old
		urgent := func(d *depot.Store, all []beads.Bead) ([]beads.Bead, int, error) {
			all, err := withSteps(ctx, d, q, all)
			slices.SortStableFunc(all, beads.ByUrgency)
			total := len(all)
			if most >= 0 && total > most {
				all = all[:most]
			}
			return all, total, err
		}
		return depot.WithAll(e, c, d, f.all, func(d *depot.Store) error {
			return printBeads(ctx, e, d, q, urgent)
		})
	})
	f.flags(c)
	return c
}

// withSteps removes the steps of assigned molecules from ready, and adds those of the query's assignee.
func withSteps(ctx context.Context, d *depot.Store, q beads.Query,
	ready []beads.Bead) ([]beads.Bead, error) {
	if q.Parent != "" {
		return ready, nil
	}
	ready, err := city.WithoutAssigned(ctx, d.List, ready)
	if err != nil || q.Assignee == "" {
		return ready, err
	}
	steps, err := city.StepsOf(ctx, d.List, q.Assignee)
	for q.Assignee = ""; len(steps) > 0; steps = steps[1:] {
		if q.Match(steps[0]) {
			ready = append(ready, steps[0])
		}
	}
	return ready, err
}

// printBeads prints the beads that match q, after pick has selected and ordered them. pick may be nil.
func printBeads(ctx context.Context, e *env.Env, d *depot.Store, q beads.Query,
	pick func(*depot.Store, []beads.Bead) ([]beads.Bead, int, error)) error {
	all, err := d.List(ctx, q)
	if err != nil {
		return err
	}
	total := len(all)
	if pick != nil {
		if all, total, err = pick(d, all); err != nil {
			return err
		}
	} else if most := q.MaxResults(); most >= 0 && total >= most {
		if total, err = d.Count(ctx, q); err != nil {
			return err
		}
	}
	if e.JSON {
		shape := output.ListOf(all)
		shape.Total = total
		return e.WriteJSON(shape)
	}
	if len(all) == 0 {
		e.Sayf("%s", emptyList(ctx, d, q))
		return nil
	}
	gates, err := city.GatesFor(ctx, d.List, all)
	if err != nil {
		return err
	}
	if err := writeBeads(e, all, gates); err != nil {
		return err
	}
	if total > len(all) {
		e.Sayf("%s", e.Paint(output.Dim,
			fmt.Sprintf("%d of %d; --limit 0 lists all", len(all), total)))
	}
	return nil
}

func emptyList(ctx context.Context, d *depot.Store, q beads.Query) string {
	_, all := d.Store.(*depot.AllStores)
	place := d.Title()
	if all {
		place = "the city and its rigs"
	}
	work := beads.Query{NotType: []string{workstore.TypeRun, mail.Type}, Limit: 1}
	newest, err := d.List(ctx, work)
	switch {
	case err == nil && len(newest) == 0:
		where := ""
		if !all && d.Rig == "" && len(d.Places) > 1 {
			return "no work in the city yet; `gcity bead list --all` also lists the work of its " +
				"rigs, and `gcity bead create TITLE` creates a bead"
		}
		if d.Rig != "" {
			where = " --rig " + d.Rig
		}
		return fmt.Sprintf("no work in %s yet; create some with `gcity bead create TITLE%s` or "+
			"`gcity formula cook NAME%s`; automations create work too",
			place, where, where)
	case q.Ready:
		return "no work is ready in " + place + "; `gcity bead list` lists all work"
	}
	return "no matching work in " + place
}

func beadShow(e *env.Env) *cobra.Command {
	return depot.WithWork(e, &cobra.Command{Use: "show ID",
		Short: "Show all details of a bead, with its steps and its needs"},
		false, func(ctx context.Context, d *depot.Store, args []string) error {
			b, has, err := depot.Find(ctx, e, d, args[0])
			if err != nil {
				return err
			}
			if e.JSON {
				return e.WriteJSON(b)
			}
			return printBead(ctx, e, has, b)
		})
}

func metadata(given []string) (map[string]string, error) {
	out := map[string]string{}
	for _, kv := range given {
		key, value, ok := strings.Cut(kv, "=")
		if !ok || key == "" {
			return nil, exit.Usage("%q does not have the form KEY=VALUE", kv)
		}
		out[key] = value
	}
	return out, nil
}

func beadExport(e *env.Env) *cobra.Command {
	return depot.WithWork(e, &cobra.Command{
		Use: "export [FILE]", Short: "Write all beads as lines of JSON, in the format of " +
			"`bd export`",
		Long: `export writes every bead, including the records of runs, as one line of JSON in
the format of the command line tool bd, oldest first. It writes to standard output or to a
file. An existing file is replaced only after everything has been written. It lists
records that gcity cannot read and exports the others; the exit code is then 1. An export
of a damaged store does not replace an existing file.`,
	}, false, func(ctx context.Context, d *depot.Store, args []string) error {
		if len(args) == 0 || args[0] == "-" {
			to := &exporting{Writer: e.Out}
			if !e.OutTTY {
				to.progress = e.NewProgress()
				defer to.progress.Clear()
			}
			done, err := beads.Export(ctx, d, to)
			if err != nil {
				return err
			}
			return printOmitted(e, done)
		}
		if e.ReadOnly {
			return env.ReadOnlyError("bead export to a file")
		}
		progress := e.NewProgress()
		done, err := exportTo(ctx, d, args[0], progress)
		progress.Clear()
		if err != nil {
			return err
		}
		err = printOmitted(e, done)
		if e.JSON {
			return errors.Join(err, e.WriteJSON(map[string]any{"file": args[0], "beads": done.Beads,
				"omitted": len(done.Omitted)}))
		}
		e.Sayf("exported %s to %s", describe.Count(done.Beads, "bead"), output.SafeLine(args[0]))
		return err
	})
}

// printOmitted prints the damage that an export found, and the records that it omits. It returns an error if there are
// any.
func printOmitted(e *env.Env, done beads.Exported) error {
	if done.Damage == nil && len(done.Omitted) == 0 {
		return nil
	}
	problem := func(text string) {
		fmt.Fprintln(e.Err, e.Tint(e.ErrTTY, output.Red, "gcity:")+" "+output.SafeLine(text))
	}
	if done.Damage != nil {
		problem(done.Damage.Error())
	}
	for _, u := range done.Omitted {
		problem(fmt.Sprintf("not exported: %s: %s", cmp.Or(u.ID, "a record without an ID"),
			u.Reason))
	}
	return exit.Quietly(exit.CodeFailed)
}

func beadImport(e *env.Env) *cobra.Command {
	var force bool
	c := depot.WithWork(e, &cobra.Command{
		Use: "import FILE", Short: "Read beads from lines of JSON, in the format of `bd export`",
		Long: `import reads beads from a file, or from standard input (-). It replaces an
existing bead if the imported one was updated later. Importing the same file again
changes nothing. It lists lines that it cannot read and imports the others; the
exit code is then 1. If another store of this city already contains one of the beads,
import fails without importing anything; --force imports the beads anyway.`,
	}, true, func(ctx context.Context, d *depot.Store, args []string) error {
		in, closeIn, err := openInput(e, args[0])
		if err != nil {
			return err
		}
		defer closeIn()
		var into beads.Store = d
		if !force {
			into = &guard{a: e, Store: d}
		}
		got, err := beads.Import(ctx, into, in)
		if err != nil {
			return err
		}
		if got.Created+got.Updated > 0 {
			if err := depot.Emit(ctx, e, d.City, imported(d, got, e.Depth())); err != nil {
				return err
			}
		}
		return printImported(e, d, got)
	})
	c.Flags().BoolVar(&force, "force", false, "also import beads that already exist in another "+
		"store of this city")
	return c
}

func printImported(e *env.Env, d *depot.Store, got beads.Imported) error {
	if e.JSON {
		if err := e.WriteJSON(got); err != nil {
			return err
		}
	} else {
		if got.Restored == (beads.Restored{}) && got.Other == 0 && len(got.Problems) == 0 {
			e.Sayf("nothing to import into %s: the input has no beads", d.Title())
			return nil
		}
		e.Sayf("imported into %s: %s", d.Title(), importText(got))
		for _, p := range got.Problems {
			fmt.Fprintln(e.Err, e.Tint(e.ErrTTY, output.Red, "gcity:")+" "+
				output.SafeLine(p.Error()))
		}
	}
	if len(got.Problems) > 0 {
		return exit.Quietly(exit.CodeFailed)
	}
	return nil
}

func importText(got beads.Imported) string {
	text := fmt.Sprintf("%d created, %d updated, %d unchanged", got.Created, got.Updated,
		got.Unchanged)
	for _, more := range []struct {
		n    int
		what string
	}{{got.Kept, "kept because the existing bead is newer"},
		{got.Other, "lines that are not beads"},
		{len(got.Problems), "not imported"}} {
		if more.n > 0 {
			text += fmt.Sprintf(", %d %s", more.n, more.what)
		}
	}
	return text
}
