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

// slingLimit is how long handing out may take: stores, a formula, and the sling_query of whoever gets it.
const slingLimit = 2 * time.Minute

// slingless is why nothing is handed out by a file that is refused.
const slingless = "whose work becomes whose, and how, is written there: mend the file, or assign " +
	"it with `gcity bead update ID --assignee NAME`"

// slingFlags are what is to be handed out, as it is written on a command line.
type slingFlags struct {
	formula, noFormula, nudge, force, stdin bool

	on, title string
	vars      []string
}

func (f *slingFlags) flags(c *cobra.Command) {
	c.Flags().BoolVarP(&f.formula, "formula", "f", false,
		"what is handed out is a formula: it is cooked, and its root handed out")
	c.Flags().StringVar(&f.on, "on", "",
		"the formula by which the bead is to be done, in place of default_sling_formula")
	c.Flags().BoolVar(&f.noFormula, "no-formula", false,
		"the bead as it is, without default_sling_formula")
	c.Flags().StringVarP(&f.title, "title", "t", "", "title of what the formula makes")
	c.Flags().StringArrayVar(&f.vars, "var", nil,
		"NAME=VALUE of a variable of the formula; may be repeated")
	c.Flags().BoolVar(&f.nudge, "nudge", false,
		"and type a line into the terminal of whoever gets it")
	c.Flags().BoolVar(&f.force, "force", false, "also what is assigned to somebody else")
	c.Flags().BoolVar(&f.force, "reassign", false, "the same")
	c.Flags().BoolVar(&f.stdin, "stdin", false,
		"a new bead from standard input: its first line is the title, the rest its description")
}

// SlingCommand returns the command sling.
func SlingCommand(e *env.Env) *cobra.Command {
	var f slingFlags
	c := &cobra.Command{
		Use:   "sling [TARGET] BEAD|FORMULA|TEXT…",
		Short: "Hand out work: to an agent, a pool or a rig", Args: env.Between(1, 1000),
		Long: `sling makes work somebody's. An agent becomes its assignee; for a pool it is
labelled "pool:NAME", and any member may take it; a rig says by
default_sling_target who gets its work, and without a target the bead's own rig
does. What is handed out is a bead, by its id; a formula, which is cooked for it;
or a text of several words, of which a new bead is made.

An agent with a default_sling_formula does its work by that: the formula is cooked
below the bead. One with a sling_query is given work by that shell line instead.
Closed work, and what somebody else has, is refused.`,
		Example: `  gc sling builder gc-41 --nudge
  gc sling worker 'write a README'
  gc sling yard/builder release -f --var version=1.4`,
		ValidArgsFunction: env.Complete(e, env.KindAgent, env.KindPool, env.KindRig),
	}
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if e.ReadOnly {
			return env.RefusedReadOnly("sling")
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), slingLimit)
		defer cancel()
		l, err := e.Open(ctx)
		if err != nil {
			return err
		}
		defer l.Close()
		all, err := slings(ctx, e, l, f, args)
		if err != nil {
			return folder.NeedsFile(err, slingless)
		}
		var given []city.Receipt
		for _, req := range all {
			r, err := city.Sling(ctx, l, req)
			if err != nil {
				if len(given) > 0 {
					err = errors.Join(receipts(e, given), err)
				}
				return folder.NeedsFile(err, slingless)
			}
			given = append(given, r)
		}
		return receipts(e, given)
	}
	f.flags(c)
	return c
}

// slings are the requests that a command line means.
func slings(ctx context.Context, e *env.Env, l *env.Link, f slingFlags,
	args []string) ([]city.SlingRequest, error) {
	vars, err := metadata(f.vars)
	if err != nil {
		return nil, err
	}
	by := e.Actor()
	if by == "operator" {
		by = ""
	}
	base := city.SlingRequest{Formula: f.on, NoFormula: f.noFormula, Title: f.title, Vars: vars,
		Nudge: f.nudge, By: by, Force: f.force, Depth: e.Depth()}
	what := args
	if len(args) > 1 || f.stdin || f.formula {
		base.Target, what = args[0], args[1:]
	}
	if f.stdin {
		if len(what) > 0 {
			return nil, exit.Usage("%q and --stdin are two things to hand out: give one", what[0])
		}
		return slingInput(e, base)
	}
	if f.formula {
		if len(what) != 1 || f.on != "" || f.noFormula {
			return nil, exit.Usage("--formula goes with a target and one formula: gcity sling " +
				"TARGET FORMULA --formula")
		}
		base.Formula = what[0]
		return []city.SlingRequest{base}, nil
	}
	var out []city.SlingRequest
	for _, w := range what {
		req := base
		if err := slingOne(ctx, e, l, w, &req); err != nil {
			return nil, nobodyAnd(ctx, l, base.Target, err)
		}
		out = append(out, req)
	}
	return out, nil
}

// nobodyAnd puts before what is wrong with the work that nobody is called as the target is, if that is so.
func nobodyAnd(ctx context.Context, l *env.Link, target string, wrong error) error {
	if target == "" || !exit.IsNotFound(wrong) {
		return wrong
	}
	s, err := l.Snapshot(ctx)
	if err != nil {
		return wrong
	}
	to, err := s.Address(target)
	if err == nil && s.ForPeople(to) && !slices.Contains(env.NamesOf(s, env.KindRig), target) {
		err = env.Unknown(s, target, []env.Kind{env.KindAgent, env.KindPool, env.KindRig})
	}
	if err == nil {
		return wrong
	}
	return &city.Error{Code: city.NotFound, Message: err.Error() + "; and " + wrong.Error()}
}

// slingOne finds out what a word stands for: a bead, a formula, or, being several words, the title of a new bead.
func slingOne(ctx context.Context, e *env.Env, l *env.Link, word string,
	req *city.SlingRequest) error {
	if strings.ContainsAny(word, " \t\n") {
		if req.Target == "" {
			return exit.Usage("to whom? gcity sling TARGET %q", word)
		}
		req.Title, req.Description = output.FirstLine(word)
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
	recipes, err := formulaNames(e)
	if err == nil && slices.Contains(recipes, word) && req.Formula == "" {
		req.Formula = word
		return nil
	}
	near := ""
	if meant := suggest.Nearest(word, recipes); meant != "" {
		near = fmt.Sprintf(", did you mean %q?", meant)
	}
	return &city.Error{Code: city.NotFound, Message: fmt.Sprintf(
		"%q is neither a bead nor a formula of the city%s; a formula of a rig needs --formula, "+
			"and a text of several words makes a new bead", word, near)}
}

// formulaNames are those that the city has.
func formulaNames(e *env.Env) ([]string, error) {
	_, all, err := kitchen(e, "")
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	return names, nil
}

// slingInput makes a request of standard input.
func slingInput(e *env.Env, req city.SlingRequest) ([]city.SlingRequest, error) {
	data, err := io.ReadAll(io.LimitReader(e.In, beads.MaxText+1))
	if err != nil {
		return nil, fmt.Errorf("what is to be done cannot be read: %w", err)
	}
	if len(data) > beads.MaxText {
		return nil, exit.Usage("standard input has more than %d KiB, which is the most",
			beads.MaxText>>10)
	}
	first, rest := output.FirstLine(string(data))
	if first == "" {
		return nil, exit.Usage("there is no text on standard input")
	}
	if req.Title == "" {
		req.Title = first
	}
	req.Description = rest
	return []city.SlingRequest{req}, nil
}
