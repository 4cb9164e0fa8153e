package env

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"gcity/agent"
	"gcity/automation"
	"gcity/city"
	"gcity/cli/folder"
	"gcity/internal/deadline"
	"gcity/internal/suggest"
)

// CompleteWithin limits how long a completion takes.
var CompleteWithin = 200 * time.Millisecond

// Complete completes a command's first argument with names of the given kinds.
func Complete(e *Env, kinds ...suggest.Kind) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return NamesFor(cmd.Context(), e, CompleteWithin, kinds), cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteWith completes the first argument with names of kind k, and the second with the given words.
func CompleteWith(e *Env, k suggest.Kind, second ...string) cobra.CompletionFunc {
	first := Complete(e, k)
	return func(cmd *cobra.Command, args []string, typed string) ([]string,
		cobra.ShellCompDirective) {
		if len(args) == 1 {
			return second, cobra.ShellCompDirectiveNoFileComp
		}
		return first(cmd, args, typed)
	}
}

// NamesFor returns the names of all objects of the given kinds, or nil if it cannot read them within limit.
func NamesFor(ctx context.Context, e *Env, limit time.Duration, kinds []suggest.Kind) []string {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	s, _ := deadline.Within(ctx, 0, func() *city.Snapshot { return completionSnapshot(ctx, e) })
	if s == nil {
		return nil
	}
	var names []string
	for _, k := range kinds {
		names = append(names, s.Names(k)...)
	}
	slices.SortFunc(names, city.CompareNames)
	return slices.Compact(names)
}

func completionSnapshot(ctx context.Context, e *Env) *city.Snapshot {
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
		if k := folder.LoadConfigCache(dir); k != nil {
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
	for _, r := range agent.Rigs(c) {
		s.Rigs = append(s.Rigs, city.Rig{Name: r.Name})
	}
	for i := range c.Watchdogs {
		s.Watchdogs = append(s.Watchdogs, city.Watchdog{Name: c.Watchdogs[i].Qualified()})
	}
	found, _ := folder.ScanFor(&automation.Scanner{}, c, e.Now())
	for _, d := range found.Automations {
		s.Automations = append(s.Automations, city.Automation{Name: d.Scoped()})
	}
	return s
}

// Offer is like Complete, but completes a flag's value.
func Offer(e *Env, kinds ...suggest.Kind) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return NamesFor(cmd.Context(), e, CompleteWithin, kinds), cobra.ShellCompDirectiveNoFileComp
	}
}

// CompleteFiles lets the shell complete file names.
func CompleteFiles(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// CompleteDirs lets the shell complete only the names of folders.
func CompleteDirs(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}
