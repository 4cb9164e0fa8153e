package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gcity/beads"
	"gcity/city"
	"gcity/cli/depot"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/cli/offline"
	"gcity/cli/output"
	"gcity/cli/workstore"
	"gcity/config"
	"gcity/config/edit"
	"gcity/describe"
	"gcity/events"
	"gcity/internal/suggest"
)

func rigAdd(e *env.Env) *cobra.Command {
	var r edit.NewRig
	c := &cobra.Command{
		Use: "add PATH", Short: "Make a project folder a rig, and create its work store",
		Long: `add adds a [[rigs]] table to city.toml, and changes nothing else there. The folder
must exist; a path below the city's folder is written relative to it. add also creates
the rig's work store in the folder's .beads. If the result would be invalid, add fails
and writes nothing. A running controller uses the rig immediately.
An agent works in the rig if its dir is the rig's name.`,
		Example: "  gcity rig add ~/src/shop\n  gcity rig add ../shop --name till --prefix ti " +
			"--suspended",
		RunE: func(cmd *cobra.Command, args []string) error {
			return addRig(cmd.Context(), e, args[0], r)
		},
	}
	flags := c.Flags()
	flags.StringVar(&r.Name, "name", "", "the rig's name (default: the folder's name)")
	flags.StringVar(&r.Prefix, "prefix", "",
		"prefix for the rig's bead IDs (default: derived from the name)")
	flags.StringVar(&r.Topology, "topology", "", "a topology that adds agents to the rig")
	flags.BoolVar(&r.Suspended, "suspended", false, "add the rig suspended: its agents do "+
		"not run until it is resumed")
	return env.Changes(e, c)
}

func rigRemove(e *env.Env) *cobra.Command {
	var yes, force bool
	c := &cobra.Command{
		Use: "remove NAME", Short: "Remove a rig from city.toml; its folder and its work remain",
		Aliases:           []string{"rm"},
		ValidArgsFunction: env.Complete(e, suggest.Rig),
		Long: `remove removes the [[rigs]] table from city.toml, with the patches for its agents and
the overrides for its automations. The folder and its work in .beads remain; if you
add the rig again, its work is available again. If agents are declared for the rig,
remove lists them and fails; --yes removes and stops them too. If work is in
progress there, remove lists it and fails; --force removes the rig anyway and does
not change that work. Comments above a removed table remain.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return removeRig(cmd.Context(), e, args[0], yes, force)
		},
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "also remove the rig's agents")
	c.Flags().BoolVar(&force, "force", false, "remove the rig even if work is in progress "+
		"there; that work is not changed")
	return env.Changes(e, c)
}

type rigEdit struct {
	Rig      string   `json:"rig"`
	Path     string   `json:"path"`
	Prefix   string   `json:"prefix"`
	Agents   []string `json:"agents,omitempty"`
	Message  string   `json:"message"`
	Warnings []string `json:"warnings,omitempty"`
}

func addRig(ctx context.Context, e *env.Env, path string, r edit.NewRig) error {
	dir, err := e.CityDir()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, depot.WorkTimeout)
	defer cancel()
	if path, err = filepath.Abs(path); err != nil {
		return fmt.Errorf("cannot resolve the folder's path: %w", err)
	}
	if r.Path = path; r.Name == "" {
		r.Name = folder.DefaultCityName(filepath.Base(path))
	}
	if below, ok := belowCity(dir, path); ok {
		r.Path = below
	}
	if err := notHeld(ctx, e, dir); err != nil {
		return err
	}
	c, err := edit.AddRig(folder.SourceOf(dir), r)
	if err != nil {
		return folder.AsEdit(err)
	}
	rig := c.Rig(r.Name)
	done := rigEdit{Rig: rig.Name, Path: rig.Path, Prefix: rig.Prefix}
	all := workstore.Places(c)
	at := all[slices.IndexFunc(all, func(p workstore.Place) bool { return p.Rig == rig.Name })]
	failed := depot.ReadyStore(ctx, e, at)
	if failed != nil {
		failed = fmt.Errorf("rig %s is in %s, but its work store cannot be created: %w", rig.Name,
			filepath.Join(dir, "city.toml"), failed)
	} else if at.By.Provider == "" {
		done.Warnings = folder.Exposed(ctx, rig.Path)
	}
	done.Message = fmt.Sprintf("added rig %s: %s; its bead IDs begin with %s-", rig.Name,
		rig.Path, rig.Prefix)
	if rig.Suspended {
		done.Message += "; it is suspended"
	}
	err = rigEdited(ctx, e, dir, events.Event{Type: events.RigAdded, Subject: rig.Name,
		Message: done.Message}, "")
	return errors.Join(failed, err, printRigEdit(e, done))
}

func belowCity(dir, path string) (string, bool) {
	if real, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(real, filepath.Base(path))
	}
	rel, err := filepath.Rel(dir, path)
	return rel, err == nil && rel != "." && filepath.IsLocal(rel)
}

func removeRig(ctx context.Context, e *env.Env, name string, yes, force bool) error {
	dir, err := e.CityDir()
	if err != nil {
		return err
	}
	before, err := folder.LoadCity(dir)
	if err != nil {
		return err
	}
	rig := before.Rig(name)
	if rig == nil {
		return env.UnknownRig(name, workstore.Places(before))
	}
	own, fromTopology := before.RigAgents(rig.Name), before.RigTopologyAgents(rig.Name)
	done := rigEdit{Rig: rig.Name, Path: rig.Path, Prefix: rig.Prefix,
		Agents: slices.Concat(own, fromTopology)}
	if len(done.Agents) > 0 && !yes {
		return hasAgents(rig.Name, own, fromTopology)
	}
	if err := notHeld(ctx, e, dir); err != nil {
		return err
	}
	if !force {
		if err := checkInProgress(ctx, e, before, name); err != nil {
			return err
		}
	}
	after, err := edit.RemoveRig(folder.SourceOf(dir), name, yes)
	if err != nil {
		return folder.AsEdit(err)
	}
	done.Message = fmt.Sprintf("removed rig %s; the folder %s and its work remain", name, rig.Path)
	if n := len(done.Agents); n > 0 {
		done.Message = fmt.Sprintf("removed rig %s and %s (%s); the folder %s and its work remain",
			name,
			describe.Count(n, "agent"), strings.Join(done.Agents, ", "), rig.Path)
	}
	allowed := ""
	if yes {
		allowed = after.Revision
	}
	err = rigEdited(ctx, e, dir, events.Event{Type: events.RigRemoved, Subject: name,
		Message: done.Message}, allowed)
	return errors.Join(err, printRigEdit(e, done))
}

func hasAgents(rig string, declared, fromTopology []string) error {
	all := slices.Concat(declared, fromTopology)
	how := "remove them from city.toml first, or remove them together with the rig"
	if len(declared) == 0 {
		how = "they come from a topology; to stop them and remove the rig, run"
	}
	return city.Errorf(city.Conflict, "rig %s has %s: %s; %s: gcity rig remove %s --yes", rig,
		describe.Count(len(all), "agent"), strings.Join(all, ", "), how, rig)
}

// checkInProgress returns an error if work is in progress in a rig. If the store cannot be read, it prints a warning
// instead, so that the rig can still be removed.
func checkInProgress(ctx context.Context, e *env.Env, c *config.City, rig string) error {
	all := workstore.Places(c)
	s, err := e.Store(all[slices.IndexFunc(all,
		func(p workstore.Place) bool { return p.Rig == rig })])
	if err != nil {
		e.Warn(fmt.Sprintf("cannot check whether work is in progress in rig %s: %v", rig, err))
		return nil
	}
	defer s.Close() // the store was only read, so nothing is lost if Close fails
	ctx, cancel := context.WithTimeout(ctx, depot.WorkTimeout)
	defer cancel()
	const few = 5
	begun, err := s.List(ctx, beads.Query{Status: []beads.Status{beads.StatusInProgress},
		NotType: city.NotWork(), Limit: few + 1})
	if err != nil {
		e.Warn(fmt.Sprintf("cannot check whether work is in progress in rig %s: %v", rig, err))
		return nil
	}
	var said []string
	for _, b := range begun[:min(few, len(begun))] {
		said = append(said, fmt.Sprintf("%s (%s)", b.ID, cmp.Or(b.Assignee, "unassigned")))
	}
	if len(begun) > few {
		said = append(said, "and more")
	}
	if len(said) == 0 {
		return nil
	}
	return city.Errorf(city.Conflict, "work is in progress in rig %s: %s; wait until it is done, "+
		"or reopen it with `gcity bead update %s --status open --assignee \"\"`; --force removes "+
		"the rig and does not change the work", rig, strings.Join(said, ", "), begun[0].ID)
}

// notHeld returns an error while a change is held, because confirming an edit would confirm that change too.
func notHeld(ctx context.Context, e *env.Env, dir string) error {
	near, closeNear, err := e.Dial(dir)
	if exit.IsNotRunning(err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer closeNear()
	s, err := near.Snapshot(ctx)
	if err != nil || s.Config.Held == nil {
		return err
	}
	return city.Errorf(city.Conflict, "nothing was written, because an earlier change to "+
		"city.toml is held: %s; run `gcity reload --confirm` to apply it, or undo it first",
		output.RemovalText(s.Config.Held.Removes, s.Config.Held.Running))
}

// rigEdited makes the controller reload. It confirms a held configuration only if its revision is the allowed one.
// Without a controller, it stops the sessions of a removed rig.
func rigEdited(ctx context.Context, e *env.Env, dir string, ev events.Event, allowed string) error {
	l, err := e.Reach(ctx, dir)
	if err != nil {
		return fmt.Errorf("city.toml was written, but it is unknown whether the controller has "+
			"read it: %w", err)
	}
	defer l.Close()
	if c, ok := l.Control.(*offline.City); ok {
		if ev.Type == events.RigRemoved {
			_, err = c.End(ctx, offline.SuspendableRig(ev.Subject).Includes)
		}
	} else if _, err = l.Do(ctx, city.Reload{}); city.HasCode(err, city.Conflict) && allowed != "" {
		err = confirmHeld(ctx, l, allowed, err)
	}
	if err != nil {
		err = fmt.Errorf("city.toml was written, but the change has not fully taken effect: %w",
			err)
	}
	return errors.Join(err, depot.Emit(ctx, e, dir, ev))
}

func confirmHeld(ctx context.Context, l *env.Link, revision string, why error) error {
	s, err := l.Snapshot(ctx)
	if err != nil || s.Config.Held == nil || !strings.HasPrefix(revision, s.Config.Held.Revision) {
		return why
	}
	_, err = l.Do(ctx, city.Reload{Confirm: true, Revision: s.Config.Held.Revision})
	return err
}

func printRigEdit(e *env.Env, done rigEdit) error {
	if e.JSON {
		return e.WriteJSON(done)
	}
	e.Sayf("%s", output.SafeLine(done.Message))
	for _, w := range done.Warnings {
		e.Warn(w)
	}
	return nil
}
