package work

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gcity/beads"
	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/internal/suggest"
)

const slingLimit = 2 * time.Minute

const slingNeedsConfig = "the configuration contains the rules for assigning work; fix the file, " +
	"or assign the work with `gcity bead update ID --assignee NAME`"

type slingFlags struct {
	city.SlingRequest
	isFormula, stdin bool
	vars             []string
}

func (f *slingFlags) flags(c *cobra.Command) {
	flags := c.Flags()
	flags.BoolVarP(&f.isFormula, "formula", "f", false,
		"the argument is a formula: create a molecule from it and assign the molecule")
	flags.StringVar(&f.Formula, "on", "",
		"use this formula for the bead, instead of default_sling_formula")
	flags.BoolVar(&f.NoFormula, "no-formula", false,
		"assign the bead itself, without default_sling_formula")
	flags.StringVarP(&f.Title, "title", "t", "", "title of the molecule or of the new bead")
	flags.StringArrayVar(&f.vars, "var", nil,
		"a formula variable and its value, as NAME=VALUE; may be repeated")
	flags.BoolVar(&f.Nudge, "nudge", false,
		"also notify the assigned agent in its terminal")
	flags.BoolVar(&f.Force, "force", false,
		"assign the work even if it has a different assignee")
	flags.BoolVar(&f.Force, "reassign", false, "the same as --force")
	flags.BoolVar(&f.stdin, "stdin", false,
		"create a bead from standard input; without --title, the first line is its title")
}

// SlingCommand returns the sling command.
func SlingCommand(e *env.Env) *cobra.Command {
	var f slingFlags
	c := &cobra.Command{
		Use:   "sling [TARGET] BEAD|FORMULA|TEXT…",
		Short: "Assign work to an agent, a pool or a rig", Args: slingArgs,
		Long: `sling assigns work. An agent becomes the assignee of the work. For a pool, the work
is labeled "pool:NAME", and any member may claim it. For a rig, the work goes to the
rig's default_sling_target. Without a target, the work goes to the bead's rig. The
work is one of these: the ID of a bead; a formula, from which sling creates a
molecule; or text with several words, from which it creates a bead.

If an agent has a default_sling_formula, sling uses it to create a molecule below the
bead. If the agent has a sling_query, sling runs that shell command instead. sling
fails if the work is closed, or is assigned to a different agent.`,
		Example: `  gc sling builder gc-41 --nudge
  gc sling worker 'write a README'
  gc sling yard/builder release -f --var version=1.4`,
		ValidArgsFunction: env.Complete(e, suggest.Agent, suggest.Pool, suggest.Rig),
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		ctx, cancel := context.WithTimeout(cmd.Context(), slingLimit)
		defer cancel()
		l, err := e.Open(ctx)
		if err != nil {
			return err
		}
		defer l.Close()
		all, err := slings(ctx, e, l, f, args)
		if err != nil {
			return folder.NeedsFile(err, slingNeedsConfig)
		}
		var given []city.Receipt
		for _, req := range all {
			r, err := city.Sling(ctx, l, req)
			if err != nil {
				if len(given) > 0 {
					err = errors.Join(e.Receipts(given), err)
				}
				return folder.NeedsFile(err, slingNeedsConfig)
			}
			given = append(given, r)
		}
		return e.Receipts(given)
	}
	f.flags(c)
	return env.Changes(e, c)
}

func slingArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return exit.Usage("no work given: %s", cmd.UseLine())
	}
	return env.Between(1, 1000)(cmd, args)
}

func slings(ctx context.Context, e *env.Env, l *env.Link, f slingFlags,
	args []string) ([]city.SlingRequest, error) {
	base, what := f.SlingRequest, args
	base.Depth = e.Depth()
	if by := e.Actor(); by != "operator" {
		base.By = by
	}
	var err error
	if base.Vars, err = metadata(f.vars); err != nil {
		return nil, err
	}
	if len(args) > 1 || f.stdin || f.isFormula {
		base.Target, what = args[0], args[1:]
	}
	if f.stdin {
		if len(what) > 0 {
			return nil, exit.Usage("%q and --stdin are mutually exclusive; use only one of them",
				what[0])
		}
		return slingInput(e, base)
	}
	if f.isFormula {
		if len(what) != 1 || f.Formula != "" || f.NoFormula {
			return nil, exit.Usage("--formula needs a target and exactly one formula, without " +
				"--on and --no-formula; run `gcity sling TARGET FORMULA --formula`")
		}
		base.Formula = what[0]
		return []city.SlingRequest{base}, nil
	}
	var out []city.SlingRequest
	for _, w := range what {
		req := base
		if err := slingOne(ctx, e, l, w, &req); err != nil {
			return nil, withTargetError(ctx, l, base.Target, err)
		}
		out = append(out, req)
	}
	return out, nil
}

func withTargetError(ctx context.Context, l *env.Link, target string, wrong error) error {
	if target == "" || !exit.IsNotFound(wrong) {
		return wrong
	}
	s, err := l.Snapshot(ctx)
	if err != nil {
		return wrong
	}
	to, err := s.Address(target)
	if err == nil && s.IsUserAddress(to) && !slices.Contains(s.Names(suggest.Rig), target) {
		err = env.Unknown(s, target, []suggest.Kind{suggest.Agent, suggest.Pool, suggest.Rig})
	}
	if err == nil {
		return wrong
	}
	return city.Errorf(city.NotFound, "%v; and %v", err, wrong)
}

func slingOne(ctx context.Context, e *env.Env, l *env.Link, word string,
	req *city.SlingRequest) error {
	if strings.ContainsAny(word, " \t\n") {
		if req.Target == "" {
			return exit.Usage("no target given; run `gcity sling TARGET %q`", word)
		}
		describeNew(req, word)
		return nil
	}
	_, err := city.GetBead(ctx, l, word)
	switch {
	case err == nil:
		req.Bead = word
		return nil
	case !exit.IsNotFound(err):
		return err
	}
	names, err := formulaNames(e)
	if err == nil && slices.Contains(names, word) && req.Formula == "" {
		req.Formula = word
		return nil
	}
	if req.Target == "" {
		if _, err := l.Resolve(ctx, word, suggest.Agent, suggest.Pool, suggest.Rig); err == nil {
			return exit.Usage("no work given; run `gcity sling %s BEAD|FORMULA|TEXT…`", word)
		}
	}
	return city.Missing(suggest.NotFound(suggest.AnyOf(suggest.Bead, suggest.Formula), word, names).
		Then("to use a rig's formula, add --formula; to create a bead, write at least two words"))
}

func formulaNames(e *env.Env) ([]string, error) {
	_, all, err := formulasOf(e, "")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	return names, nil
}

func slingInput(e *env.Env, req city.SlingRequest) ([]city.SlingRequest, error) {
	data, err := io.ReadAll(io.LimitReader(e.In, beads.MaxText+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read standard input: %w", err)
	}
	if len(data) > beads.MaxText {
		return nil, exit.Usage("standard input is longer than %d KiB; shorten it",
			beads.MaxText>>10)
	}
	text := strings.TrimSpace(string(data))
	if text == "" {
		return nil, exit.Usage("standard input is empty; pipe the text into this command")
	}
	describeNew(&req, text)
	return []city.SlingRequest{req}, nil
}

func describeNew(req *city.SlingRequest, text string) {
	if req.Title != "" {
		req.Description = strings.TrimSpace(text)
		return
	}
	req.Title, req.Description = output.FirstLine(text)
}
