package env

import (
	"context"
	"math"
	"strings"

	"github.com/spf13/cobra"

	"gcity/cli/exit"
	"gcity/internal/suggest"
)

// Group returns a command that only has subcommands. Its Annotations map an unknown subcommand to advice on what to run
// instead.
func Group(use, short string, below ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exit.Usage("%s needs a subcommand: %s", cmd.Name(),
					strings.Join(names(cmd), ", "))
			}
			missing := suggest.NoSuch(suggest.Command, cmd.Name()+" "+args[0])
			if how := cmd.Annotations[args[0]]; how != "" {
				return missing.Then(how)
			}
			return missing.Near(Nearest(cmd, args[0])).
				Then("run `" + cmd.CommandPath() + " --help` to see all")
		},
	}
	c.AddCommand(below...)
	return c
}

// Nearest returns the subcommand of c that word most likely means, or "" if none is near.
func Nearest(c *cobra.Command, word string) string {
	return suggest.NearestCommand(word, names(c), func(name string) bool {
		switch name {
		case "check", "cities", "count", "doctor", "events", "explain", "help", "history", "inbox",
			"list", "logs", "peek", "plan", "ready", "show", "status", "thread", "version", "why":
			return true
		}
		return false
	})
}

func names(c *cobra.Command) []string {
	var out []string
	for _, s := range c.Commands() {
		if s.IsAvailableCommand() {
			out = append(out, s.Name())
		}
	}
	return out
}

// TextOnly makes c reject --json and hides the flag in its help, because c prints only text.
func TextOnly(e *Env, c *cobra.Command) *cobra.Command {
	c.Flags().BoolVar(&e.JSON, "json", false, "")
	_ = c.Flags().MarkHidden("json")
	run := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if e.JSON {
			return exit.Usage("%s prints only text: remove --json", cmd.CommandPath())
		}
		return run(cmd, args)
	}
	return c
}

// Runs returns a RunE that calls run. It is for commands without arguments.
func (e *Env) Runs(run func(context.Context, *Env) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), e) }
}

// Changes makes a command fail with --read-only, before it does anything else. Its RunE must already be set.
func Changes(e *Env, c *cobra.Command) *cobra.Command {
	run := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if e.ReadOnly {
			return ReadOnlyError(strings.TrimPrefix(cmd.CommandPath(), "gcity "))
		}
		return run(cmd, args)
	}
	return c
}

// ArgsInUse is a validator that rejects arguments that are not in the command's Use line. Arguments in brackets are
// optional, and "…" allows any number of them.
func ArgsInUse(cmd *cobra.Command, args []string) error {
	words := strings.Fields(cmd.Use)[1:]
	least, most := 0, len(words)
	for _, w := range words {
		if !strings.HasPrefix(w, "[") {
			least++
		}
	}
	if strings.Contains(cmd.Use, "…") {
		most = math.MaxInt
	}
	return Between(least, most)(cmd, args)
}

// Between returns a validator that accepts lo to hi arguments. It rejects any other number with a usage error.
func Between(lo, hi int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < lo {
			missing := strings.Fields(cmd.Use)[1:]
			missing = missing[min(len(args), len(missing)):min(lo, len(missing))]
			verb := "is"
			if len(missing) > 1 {
				verb = "are"
			}
			return exit.Usage("%s %s missing: %s", strings.Join(missing, " and "), verb,
				cmd.UseLine())
		}
		if len(args) > hi {
			return exit.Usage("unexpected argument %q: %s", args[hi], cmd.UseLine())
		}
		return nil
	}
}
