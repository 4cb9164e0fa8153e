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
	"gcity/describe"
	"gcity/events"
)

func rigAdd(e *env.Env) *cobra.Command {
	var r folder.NewRig
	c := &cobra.Command{
		Use: "add PATH", Short: "Make a project folder a rig, and its store of work ready",
		Args: env.Exactly(1),
		Long: `add writes a [[rigs]] table into city.toml, and changes nothing else there. The
folder has to exist; one below the city's is written relative to it. What the
configuration would refuse is refused, and nothing is written. Then the rig's work
is made ready, in the folder .beads of the project. A controller that runs takes
the rig up at once. Agents whose dir is the rig's name work there.`,
		Example: "  gcity rig add ~/src/shop\n  gcity rig add ../shop --name till --prefix ti " +
			"--suspended",
		RunE: func(cmd *cobra.Command,
			args []string) error {
			return addRig(cmd.Context(), e, args[0], r)
		},
	}
	c.Flags().StringVar(&r.Name, "name", "", "the rig's name (else the folder's)")
	c.Flags().StringVar(&r.Prefix, "prefix", "",
		"what the ids of its work begin with (else made from the name)")
	c.Flags().StringVar(&r.Topology, "topology", "", "the topology that brings its agents")
	c.Flags().BoolVar(&r.Suspended, "suspended", false, "no agent runs there until it is resumed")
	return c
}

func rigRemove(e *env.Env) *cobra.Command {
	var yes, force bool
	c := &cobra.Command{
		Use: "remove NAME", Short: "Take it out of city.toml; the folder and its work stay",
		Args: env.Exactly(1), Aliases: []string{"rm"},
		ValidArgsFunction: env.Complete(e, env.KindRig),
		Long: `remove takes the [[rigs]] table out of city.toml, with the patches of its agents
and the overrides of its automations. The folder stays as it is, its work in .beads
too: a rig that is added again has it again. While agents are declared for the rig,
remove says which; with --yes it takes them out as well, and ends them. While work
is in progress there it refuses, and says what: --force leaves that as it is.
Comments that stand above a table stay.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return removeRig(cmd.Context(), e,
				args[0], yes, force)
		},
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "its agents too")
	c.Flags().BoolVar(&force, "force", false, "also while work is in progress there: it stays so")
	return c
}

// rigEdit is what an edit of the rigs did.
type rigEdit struct {
	Rig      string   `json:"rig"`
	Path     string   `json:"path"`
	Prefix   string   `json:"prefix"`
	Agents   []string `json:"agents,omitempty"` // that went with it
	Message  string   `json:"message"`
	Warnings []string `json:"warnings,omitempty"`
}

// addRig declares a rig and makes its store ready.
func addRig(ctx context.Context, e *env.Env, path string, r folder.NewRig) error {
	if e.ReadOnly {
		return env.RefusedReadOnly("rig add")
	}
	dir, err := e.CityDir()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, depot.WorkTimeout)
	defer cancel()
	if path, err = filepath.Abs(path); err != nil {
		return fmt.Errorf("cannot tell where the folder is: %w", err)
	}
	if r.Path = path; r.Name == "" {
		r.Name = folder.InventName(filepath.Base(path))
	}
	if below, ok := belowCity(dir, path); ok {
		r.Path = below
	}
	if err := notHeld(ctx, e, dir); err != nil {
		return err
	}
	c, err := folder.DeclareRig(dir, r)
	if err != nil {
		return folder.AsEdit(err)
	}
	rig := c.Rig(r.Name)
	done := rigEdit{Rig: rig.Name, Path: rig.Path, Prefix: rig.Prefix}
	all := workstore.Places(c)
	at := all[slices.IndexFunc(all, func(p workstore.Place) bool { return p.Rig == rig.Name })]
	failed := depot.ReadyStore(ctx, e, at)
	if failed != nil {
		failed = fmt.Errorf("the rig %s is in %s, but its work is not ready: %w", rig.Name,
			filepath.Join(dir, "city.toml"), failed)
	} else if at.By.Provider == "" {
		done.Warnings = folder.Exposed(ctx, rig.Path)
	}
	done.Message = fmt.Sprintf("added rig %s: %s, its work begins with %s-", rig.Name, rig.Path,
		rig.Prefix)
	if rig.Suspended {
		done.Message += "; it is suspended"
	}
	err = rigEdited(ctx, e, dir, events.Event{Type: events.RigAdded, Subject: rig.Name,
		Message: done.Message}, "")
	return errors.Join(failed, err, tellRigEdit(e, done))
}

// belowCity gives a path as it is from a city's folder, if it is below that.
func belowCity(dir, path string) (string, bool) {
	if real, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(real, filepath.Base(path))
	}
	rel, err := filepath.Rel(dir, path)
	return rel, err == nil && rel != "." && filepath.IsLocal(rel)
}

// removeRig takes a rig out of the configuration, with its agents if that is wanted.
func removeRig(ctx context.Context, e *env.Env, name string, yes, force bool) error {
	if e.ReadOnly {
		return env.RefusedReadOnly("rig remove")
	}
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
	done := rigEdit{Rig: rig.Name, Path: rig.Path, Prefix: rig.Prefix,
		Agents: append(before.RigAgents(rig.Name), before.RigBrought(rig.Name)...)}
	if len(done.Agents) > 0 && !yes {
		return staying(rig.Name, before.RigAgents(rig.Name), before.RigBrought(rig.Name))
	}
	if err := notHeld(ctx, e, dir); err != nil {
		return err
	}
	if !force {
		if err := begunIn(ctx, e, before, name); err != nil {
			return err
		}
	}
	after, err := folder.UndeclareRig(dir, name, yes)
	if err != nil {
		return folder.AsEdit(err)
	}
	done.Message = fmt.Sprintf("removed rig %s; %s and its work stay", name, rig.Path)
	if n := len(done.Agents); n > 0 {
		done.Message = fmt.Sprintf("removed rig %s and %s (%s); %s and its work stay", name,
			describe.Count(n, "agent"), strings.Join(done.Agents, ", "), rig.Path)
	}
	allowed := ""
	if yes {
		allowed = after.Revision
	}
	err = rigEdited(ctx, e, dir, events.Event{Type: events.RigRemoved, Subject: name,
		Message: done.Message}, allowed)
	return errors.Join(err, tellRigEdit(e, done))
}

// staying says which agents keep a rig from being removed: those that are declared for it, and those that its
// topologies bring.
func staying(rig string, declared, brought []string) error {
	all := slices.Concat(declared, brought)
	how := "take them out of city.toml before, or have them taken out with it"
	if len(declared) == 0 {
		how = "a topology brings them, so they end with the rig"
	}
	return &city.Error{Code: city.Conflict,
		Message: fmt.Sprintf("rig %s has %s: %s; %s: gcity rig remove %s --yes",
			rig, describe.Count(len(all), "agent"), strings.Join(all, ", "), how, rig)}
}

// begunIn refuses to take away a rig with work in progress: who does it would be told to leave it, and nobody would see
// it any more. A store that cannot be read keeps no rig.
func begunIn(ctx context.Context, e *env.Env, c *config.City, rig string) error {
	all := workstore.Places(c)
	s, err := e.Store(all[slices.IndexFunc(all,
		func(p workstore.Place) bool { return p.Rig == rig })])
	if err != nil {
		e.Warn(fmt.Sprintf("whether work is in progress in rig %s cannot be told: %v", rig, err))
		return nil
	}
	defer s.Close() // nothing was written
	ctx, cancel := context.WithTimeout(ctx, depot.WorkTimeout)
	defer cancel()
	const few = 5
	begun, err := s.List(ctx, beads.Query{Status: []beads.Status{beads.StatusInProgress},
		NotType: city.NotWork(), Limit: few + 1})
	if err != nil {
		e.Warn(fmt.Sprintf("whether work is in progress in rig %s cannot be told: %v", rig, err))
		return nil
	}
	var said []string
	for _, b := range begun[:min(few, len(begun))] {
		said = append(said, fmt.Sprintf("%s (%s)", b.ID, cmp.Or(b.Assignee, "nobody's")))
	}
	if len(begun) > few {
		said = append(said, "and more")
	}
	if len(said) == 0 {
		return nil
	}
	return &city.Error{Code: city.Conflict,
		Message: fmt.Sprintf("work is in progress in rig %s: %s; let it come to its end, or give "+
			"it back with "+
			"`gcity bead update %s --status open --assignee \"\"`; --force removes the rig and "+
			"leaves it as it is", rig, strings.Join(said, ", "), begun[0].ID)}
}

// notHeld refuses to write into a file that a running controller holds back: what is written would not be in force, and
// the confirmation of one would let in the other.
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
	return &city.Error{Code: city.Conflict,
		Message: "city.toml is held and not in force, so nothing was written into it: " +
			output.Loss(s.Config.Held.Removes, s.Config.Held.Running) +
			"; `gcity reload --confirm` lets it in, or change it back first"}
}

// rigEdited has the city take up what was written, and tells it what that was. Without a controller it ends what still
// works in a rig that is gone. A configuration that is held because of what it removes is let in, if it is the revision
// that is allowed.
func rigEdited(ctx context.Context, e *env.Env, dir string, ev events.Event, allowed string) error {
	l, err := e.Reach(ctx, dir)
	if err != nil {
		return fmt.Errorf("it is written, but whether the city has taken it up is not known: %w",
			err)
	}
	defer l.Close()
	if beside, ok := l.Control.(*offline.Aside); ok {
		if ev.Type == events.RigRemoved {
			_, err = beside.End(ctx, offline.OfRig(ev.Subject).Of)
		}
	} else if _, err = l.Do(ctx, city.Reload{}); exit.HasCode(err, city.Conflict) && allowed != "" {
		err = confirmHeld(ctx, l, allowed, err)
	}
	if err != nil {
		err = fmt.Errorf("city.toml is written, but: %w", err)
	}
	return errors.Join(err, depot.Emit(ctx, e, dir, ev))
}

// confirmHeld lets a configuration in that is held, if it is the one of this revision.
func confirmHeld(ctx context.Context, l *env.Link, revision string, why error) error {
	s, err := l.Snapshot(ctx)
	if err != nil || s.Config.Held == nil || !strings.HasPrefix(revision, s.Config.Held.Revision) {
		return why
	}
	_, err = l.Do(ctx, city.Reload{Confirm: true, Revision: s.Config.Held.Revision})
	return err
}

// tellRigEdit says what was done.
func tellRigEdit(e *env.Env, done rigEdit) error {
	if e.JSON {
		return e.WriteJSON(done)
	}
	e.Sayf("%s", output.SafeLine(done.Message))
	for _, w := range done.Warnings {
		e.Warn(w)
	}
	return nil
}
