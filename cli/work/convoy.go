package work

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"gcity/beads"
	"gcity/city"
	"gcity/cli/depot"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/cli/workstore"
	"gcity/describe"
	"gcity/events"
)

// ConvoyCommand returns the convoy command.
func ConvoyCommand(e *env.Env) *cobra.Command {
	c := env.Group("convoy", "Group work and follow its progress",
		convoyCreate(e), convoyAdd(e), convoyList(e), convoyStatus(e), convoyClose(e))
	c.Long = `A convoy is a bead that groups others, which are its children. Its progress is the
number of closed children. It closes automatically when the last child is closed, and
reopens when a child is reopened. A convoy and its beads must be in the same store.`
	return c
}

type convoyShape struct {
	beads.Bead
	Progress city.Progress `json:"progress"`
	Children []beads.Bead  `json:"children,omitempty"`
}

func convoyCreate(e *env.Env) *cobra.Command {
	return depot.WithWork(e, &cobra.Command{
		Use: "create NAME [BEAD…]", Short: "Create a convoy, and add beads to it",
		Args:    env.Between(1, beads.MaxNeeds),
		Example: "  gcity convoy create 'release 1.4' gc-12 gc-15",
	}, true, func(ctx context.Context, d *depot.Store, args []string) error {
		at := d
		if len(args) > 1 {
			var err error
			if _, at, err = depot.Find(ctx, e, d, args[1]); err != nil {
				return err
			}
		}
		if err := joinable(ctx, e, at, "", args[1:]); err != nil {
			return err
		}
		made, err := at.Create(ctx, beads.Bead{Title: args[0], Type: city.ConvoyType})
		if err != nil {
			return err
		}
		var all depot.Changes
		if all.Add(depot.ReportChange(ctx, e, at, events.BeadCreated, made)) {
			all.Add(addToConvoy(ctx, e, at, made, args[1:]))
		}
		return all.Err()
	})
}

func convoyAdd(e *env.Env) *cobra.Command {
	return depot.WithWork(e, &cobra.Command{Use: "add CONVOY BEAD…", Short: "Add beads to a convoy",
		Args: env.Between(2, beads.MaxNeeds)}, true,
		func(ctx context.Context, d *depot.Store, args []string) error {
			b, at, err := convoy(ctx, e, d, args[0])
			if err != nil {
				return err
			}
			if b.Status == beads.StatusClosed {
				return city.Errorf(city.Conflict, "convoy %s is already closed: create a new "+
					"one, or reopen it with `gcity bead update %s --status open`", b.ID, b.ID)
			}
			if err := joinable(ctx, e, at, b.ID, args[1:]); err != nil {
				return err
			}
			return addToConvoy(ctx, e, at, b, args[1:])
		})
}

func convoy(ctx context.Context, e *env.Env, d *depot.Store, id string) (beads.Bead, *depot.Store,
	error) {
	b, at, err := depot.Find(ctx, e, d, id)
	if err == nil && b.Type != city.ConvoyType {
		err = city.Errorf(city.Invalid, "%s is not a convoy, but a %s; `gcity convoy list` lists "+
			"the convoys", id, b.Type)
	}
	return b, at, err
}

func joinable(ctx context.Context, e *env.Env, d *depot.Store, convoy string, ids []string) error {
	for _, id := range ids {
		b, err := d.Get(ctx, id)
		if errors.Is(err, beads.ErrNotFound) {
			if _, p, findErr := owned(ctx, e, d, []string{id}); findErr == nil && p != nil {
				return exit.Usage("%s is in the store of %s, but the convoy is in the store of "+
					"%s; create a convoy in the bead's store", id,
					p.Title(), d.Title())
			}
		}
		switch {
		case err != nil:
			return err
		case b.ID == convoy || b.Type == city.ConvoyType:
			return exit.Usage("%s", describe.ConvoyItself(id))
		case b.ParentID != "" && b.ParentID != convoy:
			return city.Errorf(city.Conflict, "%s is already a step of %s: add the parent "+
				"instead, or remove the step from it with `gcity bead update %s --parent ''`", id,
				b.ParentID, id)
		}
	}
	return nil
}

func addToConvoy(ctx context.Context, e *env.Env, d *depot.Store, convoy beads.Bead,
	ids []string) error {
	var before, now beads.Bead
	var all depot.Changes
	for _, id := range ids {
		was, err := d.Get(ctx, id)
		if err != nil {
			return errors.Join(all.Err(), err)
		}
		b, err := d.Update(ctx, id, beads.Patch{ParentID: &convoy.ID})
		if err != nil {
			return errors.Join(all.Err(), err)
		}
		if b.Rev == was.Rev {
			continue
		}
		if !all.Add(depot.ReportChange(ctx, e, d, events.BeadUpdated, b)) {
			return all.Err()
		}
		if now.ID == "" || now.Status == beads.StatusClosed { // an open bead keeps the convoy open
			before, now = was, b
		}
	}
	// after the loop, because inside it the convoy could close before all beads are added
	if _, err := settleConvoys(ctx, e, d, before, now); !all.Add(err) {
		return all.Err()
	}
	convoy, err := d.Get(ctx, convoy.ID)
	if err == nil {
		err = printConvoy(ctx, e, d, convoy)
	}
	return errors.Join(all.Err(), err)
}

func children(ctx context.Context, d *depot.Store, id string) ([]beads.Bead, error) {
	all, err := d.List(ctx, beads.Query{Parent: id, Limit: -1})
	slices.Reverse(all)
	return all, err
}

func printConvoy(ctx context.Context, e *env.Env, d *depot.Store, b beads.Bead) error {
	all, err := children(ctx, d, b.ID)
	if err != nil {
		return err
	}
	p := city.ProgressOf(all)
	if e.JSON {
		return e.WriteJSON(convoyShape{b, p, all})
	}
	e.Sayf("convoy %s: %s (%s, %s)", e.Bold(b.ID),
		output.SafeLine(b.Title), e.Paint(beadColor(b.Status), string(b.Status)), p)
	if b.Status != beads.StatusClosed && p.Done() {
		lost, err := city.UnreadableSteps(ctx, d, b.ID)
		if err != nil {
			return err
		}
		for _, u := range lost {
			e.Sayf("  %s cannot be read and counts as open: %s", output.SafeLine(u.ID),
				output.SafeLine(u.Reason))
		}
	}
	if len(all) == 0 {
		return nil
	}
	gates, err := city.GatesFor(ctx, d.List, all)
	if err != nil {
		return err
	}
	return writeBeads(e, all, gates)
}

func convoyStatus(e *env.Env) *cobra.Command {
	return depot.WithWork(e, &cobra.Command{Use: "status [CONVOY]",
		Short: "Show the progress of a convoy, or of all open ones"},
		false,
		func(ctx context.Context, d *depot.Store, args []string) error {
			if len(args) == 0 {
				return printConvoys(ctx, e, d, false)
			}
			b, at, err := convoy(ctx, e, d, args[0])
			if err != nil {
				return err
			}
			return printConvoy(ctx, e, at, b)
		})
}

func convoyList(e *env.Env) *cobra.Command {
	var all bool
	c := depot.WithWork(e, &cobra.Command{Use: "list",
		Short:   "List open convoys of the city and its rigs with their progress",
		Aliases: []string{"ls"}}, false,
		func(ctx context.Context, d *depot.Store, _ []string) error {
			return printConvoys(ctx, e, d, all)
		})
	c.Flags().BoolVarP(&all, "all", "a", false, "also list closed convoys")
	return c
}

func printConvoys(ctx context.Context, e *env.Env, d *depot.Store, closed bool) error {
	q := beads.Query{Type: city.ConvoyType, Limit: -1}
	if !closed {
		q.Status = []beads.Status{beads.StatusOpen, beads.StatusInProgress}
	}
	out := []convoyShape{}
	for _, p := range d.Places {
		found, err := convoysOf(ctx, e, d, p, q)
		if err != nil {
			return fmt.Errorf("cannot read the convoys of %s: %w", p.Title(), err)
		}
		out = append(out, found...)
	}
	if e.JSON {
		return e.WriteJSON(output.ListOf(out))
	}
	if len(out) == 0 {
		e.Sayf("no open convoys; run `gcity convoy create NAME BEAD…` to create one")
		return nil
	}
	table := output.NewTable("ID", "STATUS", "PROGRESS", "CHANGED", "TITLE")
	for _, s := range out {
		table.Add(output.Tinted(s.ID, output.Bold),
			output.Tinted(string(s.Status), beadColor(s.Status)), s.Progress, e.Age(s.UpdatedAt),
			s.Title)
	}
	return e.Table(table)
}

func convoysOf(ctx context.Context, e *env.Env, d *depot.Store, p workstore.Place,
	q beads.Query) (out []convoyShape, err error) {
	s, err := d.At(e, p)
	if err != nil {
		return nil, err
	}
	found, err := s.List(ctx, q)
	if err != nil {
		return nil, err
	}
	for _, b := range found {
		all, err := s.List(ctx, beads.Query{Parent: b.ID, Limit: -1})
		if err != nil {
			return nil, err
		}
		out = append(out, convoyShape{Bead: b, Progress: city.ProgressOf(all)})
	}
	return out, nil
}

func convoyClose(e *env.Env) *cobra.Command {
	var force bool
	c := depot.WithWork(e, &cobra.Command{Use: "close CONVOY",
		Short: "Close a convoy without changing its beads"}, true,
		func(ctx context.Context, d *depot.Store, args []string) error {
			b, at, err := convoy(ctx, e, d, args[0])
			if err != nil {
				return err
			}
			all, err := children(ctx, at, b.ID)
			if err != nil {
				return err
			}
			if p := city.ProgressOf(all); p.Closed < p.Total && !force &&
				b.Status != beads.StatusClosed {
				return city.Errorf(city.Conflict, "convoy %s is not finished (%s); --force "+
					"closes it anyway", b.ID, p)
			}
			return patchBead(ctx, e, at, b.ID, beads.Closing())
		})
	c.Flags().BoolVar(&force, "force", false, "close the convoy even if some of its beads are open")
	return c
}

func settleConvoys(ctx context.Context, e *env.Env, d *depot.Store, was, b beads.Bead) (
	[]city.ConvoyChange, error) {
	changes, err := city.SettleConvoys(ctx, d, was, b)
	all := []error{err}
	for _, c := range changes {
		kind := city.BeadEvent(&c.Was, city.Located{Bead: c.Now}, "", 0).Type
		all = append(all, depot.ReportChange(ctx, e, d, kind, c.Now))
	}
	return changes, errors.Join(all...)
}

func printSettledConvoys(ctx context.Context, e *env.Env, d *depot.Store, was, b beads.Bead) error {
	changes, err := settleConvoys(ctx, e, d, was, b)
	for _, c := range changes {
		switch closed := c.Now.Status == beads.StatusClosed; {
		case e.JSON || c.Now.Status == c.Was.Status:
		case closed:
			e.Sayf("closed convoy %s (%s), because all its beads are closed",
				e.Bold(c.Now.ID), output.SafeLine(c.Now.Title))
		default:
			e.Sayf("reopened %s %s (%s), because %s is open",
				c.Now.Type, e.Bold(c.Now.ID), output.SafeLine(c.Now.Title), b.ID)
		}
	}
	return err
}
