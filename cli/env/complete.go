package env

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"gcity/automation"
	"gcity/city"
	"gcity/cli/folder"
)

// CompleteWithin is how long a shell waits for names at most, because the user waits for the shell.
var CompleteWithin = 200 * time.Millisecond

// Complete offers the names of things as a command's first argument. Names that are not known in time are left out.
func Complete(e *Env, kinds ...Kind) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return NamesFor(cmd.Context(), e, CompleteWithin, kinds), cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteWith offers names as a command's first argument, and these words as its second.
func CompleteWith(e *Env, k Kind, second ...string) cobra.CompletionFunc {
	first := Complete(e, k)
	return func(cmd *cobra.Command, args []string, typed string) ([]string,
		cobra.ShellCompDirective) {
		if len(args) == 1 {
			return second, cobra.ShellCompDirectiveNoFileComp
		}
		return first(cmd, args, typed)
	}
}

// NamesFor looks up names, for as long as a shell waits. A slower search ends with the process.
func NamesFor(ctx context.Context, e *Env, limit time.Duration, kinds []Kind) []string {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	seen := make(chan *city.Snapshot, 1)
	go func() { seen <- glance(ctx, e) }()
	var s *city.Snapshot
	select {
	case s = <-seen:
	case <-ctx.Done():
	}
	if s == nil {
		return nil
	}
	var names []string
	for _, k := range kinds {
		names = append(names, NamesOf(s, k)...)
	}
	slices.SortFunc(names, city.CompareNames)
	return slices.Compact(names)
}

// glance returns the current city for its names: from the controller, or from the files alone, nil if neither can
// be read.
func glance(ctx context.Context, e *Env) *city.Snapshot {
	dir, err := e.CityDir()
	if err != nil {
		return nil
	}
	if near, closeNear, err := e.Dial(dir); err == nil {
		defer closeNear()
		if s, err := near.Snapshot(ctx); err == nil {
			return s
		}
		return nil
	}
	c, err := folder.LoadCity(dir)
	if err != nil {
		if k := folder.KnownAt(dir); k != nil {
			return k.Snapshot(dir)
		}
		return nil
	}
	s := &city.Snapshot{}
	for _, w := range folder.Plan(c, dir) {
		s.Agents = append(s.Agents, city.Agent{Name: w.Name})
	}
	for _, p := range folder.PoolPlan(c, dir) {
		s.Pools = append(s.Pools, city.Pool{Name: p.Name})
	}
	for _, r := range folder.RigPlan(c) {
		s.Rigs = append(s.Rigs, city.Rig{Name: r.Name})
	}
	found, _ := folder.ScanFor(&automation.Scanner{}, c, e.Now())
	for _, d := range found.Automations {
		s.Automations = append(s.Automations, city.Automation{Name: d.Scoped()})
	}
	return s
}

// Offer is Complete for the value of a flag.
func Offer(e *Env, kinds ...Kind) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return NamesFor(cmd.Context(), e, CompleteWithin, kinds), cobra.ShellCompDirectiveNoFileComp
	}
}

// FilesToo lets the shell complete file names.
func FilesToo(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// DirsAlone lets the shell complete only names of folders.
func DirsAlone(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}
