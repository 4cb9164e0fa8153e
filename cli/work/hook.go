package work

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gcity/agent"
	"gcity/beads"
	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/config"
	"gcity/internal/shell"
	"gcity/internal/suggest"
)

const queryLimit = 30 * time.Second

// HookCommand returns the hook command.
func HookCommand(e *env.Env) *cobra.Command {
	var inject bool
	var format string
	c := &cobra.Command{
		Use: "hook [AGENT]", Short: "Show an agent's work; exit 0 if there is some, 1 if not",
		Long: `hook prints an agent's work. If the agent has a work_query, hook runs that shell
command in the agent's folder and prints its output. Otherwise it prints the agent's
beads that are in progress or, if there are none, those that are ready, with their
ready steps. If the agent has no such beads, it prints the ready and unassigned beads
of its pool.
Exit codes:

  0  there is work
  1  no work was found
  2  invalid command line, or unknown agent
  3  unknown, because the work cannot be read

--inject is for an agent's hook files: it prints the work as text for a model, prints
nothing if it finds no work, and always exits 0. With --hook-format, the output makes
the model continue with the work instead of ending its turn. It includes unread mail if
the program cannot get mail at another time. It is empty if a hook has already continued
the turn, and if it contained the same work before. A draining agent gets no new work.
Its session gets the request to finish once for each drain, also in a continued turn.`,
		Example:           "  gc hook || sleep 60",
		ValidArgsFunction: env.Complete(e, suggest.Agent),
		RunE: func(cmd *cobra.Command, args []string) error {
			w, err := workOf(cmd.Context(), e, args)
			switch {
			case err != nil && inject:
				fmt.Fprintln(e.Err, "gcity: "+output.SafeText(err.Error()))
				if w == nil || format == "" {
					return nil
				}
				w.Text, w.Items = "", nil // a draining agent still gets the request to finish
				return continueTurn(cmd.Context(), e, w, format)
			case err != nil:
				return env.AsUndetermined(err)
			case inject:
				if format != "" {
					return continueTurn(cmd.Context(), e, w, format)
				}
				_, err = io.WriteString(e.Out, w.reminder())
				return err
			}
			return printWork(e, w)
		},
	}
	c.Flags().BoolVar(&inject, "inject", false, "print text for a model; always exit 0")
	hookFormat(c, &format)
	env.DefaultsToSelf(c)
	return c
}

type foundWork struct {
	Agent string       `json:"agent"`
	Text  string       `json:"text,omitempty"`
	Items []beads.Bead `json:"items"`
	gates city.Gates
}

func (w *foundWork) none() bool { return w.Text == "" && len(w.Items) == 0 }

func workOf(ctx context.Context, e *env.Env, args []string) (*foundWork, error) {
	name, err := e.Self(args)
	if err != nil {
		return nil, err
	}
	dir, err := e.CityDir()
	if err != nil {
		return nil, err
	}
	c, err := folder.LoadCity(dir)
	if err != nil {
		return workInForce(ctx, e, dir, name, err)
	}
	w, err := env.WantOf(folder.Plan(c, dir), name)
	if err != nil {
		return workInForce(ctx, e, dir, name, err)
	}
	out := &foundWork{Agent: w.Name, Items: []beads.Bead{}}
	if line := queryOf(c, w); line != "" {
		out.Text, err = runQuery(ctx, c, w, line)
		return out, err
	}
	l, err := e.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer l.Close()
	ctx, cancel := context.WithTimeout(ctx, queryLimit)
	defer cancel()
	return out, out.find(ctx, l, w)
}

type explainer interface {
	Explain(ctx context.Context, name string) (string, error)
}

// workInForce gets an agent's work from the controller. It is used if the configuration is invalid or lacks the agent;
// the parameter instead is the error that says so. workInForce returns that error if the controller does not respond or
// lacks the agent, too.
func workInForce(ctx context.Context, e *env.Env, dir, name string, instead error) (*foundWork,
	error) {
	near, closeNear, err := e.Dial(dir)
	if err != nil {
		return nil, instead
	}
	defer closeNear()
	g, err := env.FindAgent(ctx, near, name)
	if err != nil {
		return nil, instead
	}
	if c, ok := near.(explainer); ok {
		if text, err := c.Explain(ctx, g.Name); err == nil &&
			strings.Contains(text, "\n  work_query = ") {
			return &foundWork{Agent: g.Name}, errors.Join(instead,
				fmt.Errorf("%s has a work_query, which can only be read from a valid "+
					"configuration file", g.Name))
		}
	}
	ctx, cancel := context.WithTimeout(ctx, queryLimit)
	defer cancel()
	out := &foundWork{Agent: g.Name}
	return out, out.find(ctx, near, &agent.Want{Name: g.Name, Pool: g.Pool})
}

func queryOf(c *config.City, w *agent.Want) string {
	for i := range c.Agents {
		if c.Agents[i].Qualified() == w.Declared {
			return c.Agents[i].WorkQuery
		}
	}
	return ""
}

// runQuery runs a work_query and returns its output, or "" if it found no work. A command that fails without output,
// such as grep without matches, has found no work.
func runQuery(ctx context.Context, c *config.City, w *agent.Want, line string) (string, error) {
	if err := folder.Trusted(c.Path, c).ErrFor("agent " + w.Declared); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, queryLimit,
		fmt.Errorf("the command did not finish within %s", queryLimit))
	defer cancel()
	env := append(slices.Clip(w.Spec.Env), "GC_RUN="+c.Path+":"+rand.Text())
	got, err := shell.Run(ctx, shell.Line{Text: line, Dir: w.Spec.Dir, Env: env, Split: true})
	if err != nil {
		return "", fmt.Errorf("the work_query of %s: %w", w.Name, err)
	}
	text, said := strings.TrimSpace(string(got.Stdout)), strings.TrimSpace(string(got.Output))
	if got.Code != 0 && said != "" {
		return "", fmt.Errorf("the work_query of %s failed with exit code %d: %s", w.Name, got.Code,
			said)
	}
	if text == "[]" || text == "null" {
		text = ""
	}
	return text, nil
}

func (w *foundWork) find(ctx context.Context, c city.Control, want *agent.Want) (err error) {
	if w.Items, err = workFor(ctx, c, want); err == nil {
		w.gates, err = city.GatesFor(ctx, c.Beads, w.Items)
	}
	return err
}

func workFor(ctx context.Context, c city.Control, w *agent.Want) ([]beads.Bead, error) {
	mine := beads.Query{Assignee: w.Name, NotType: city.NotWork(), Limit: -1}
	begun, ready, pool := mine, mine, mine
	begun.Status, ready.Ready = []beads.Status{beads.StatusInProgress}, true
	queries := []beads.Query{begun, ready}
	if w.Pool != "" {
		pool.Assignee, pool.Ready, pool.Labels = "", true, []string{city.PoolLabel + w.Pool}
		queries = append(queries, pool)
	}
	for i, q := range queries {
		found, err := c.Beads(ctx, q)
		if err != nil {
			return nil, err
		}
		if i == 2 {
			found = slices.DeleteFunc(found, func(b beads.Bead) bool { return b.Assignee != "" })
		}
		if len(found) == 0 {
			continue
		}
		slices.SortStableFunc(found, beads.ByUrgency)
		if i == 2 {
			return found, nil
		}
		steps, err := city.StepsOf(ctx, c.Beads, w.Name)
		return append(found, steps...), err
	}
	return []beads.Bead{}, nil
}

func printWork(e *env.Env, w *foundWork) error {
	var err error
	switch {
	case e.JSON:
		err = e.WriteJSON(w)
	case w.Text != "":
		e.Sayf("%s", shown(e, w.Text))
	case !w.none():
		err = writeBeads(e, w.Items, w.gates)
	}
	if err == nil && w.none() {
		return exit.Quietly(exit.CodeFailed)
	}
	return err
}

func shown(e *env.Env, text string) string {
	if e.OutTTY {
		return output.SafeText(text)
	}
	return text
}

const injectLimit = 10

func (w *foundWork) reminder() string {
	if w.none() {
		return ""
	}
	// another member of the pool might claim the work first
	text, contested := w.Text, len(w.Items) > 0 && w.Items[0].Assignee == ""
	for i, b := range w.Items {
		if i == injectLimit {
			text += fmt.Sprintf("and %d more; run `gc hook` to see them\n", len(w.Items)-i)
			break
		}
		text += output.SafeLine(fmt.Sprintf("- %s (%s): %s", b.ID, b.Status, b.Title)) + "\n"
	}
	if text = strings.TrimRight(text, "\n"); w.Text == "" {
		claim := "`gc bead update ID --claim --assignee " + w.Agent + "`"
		if contested {
			claim += ". If that fails, another agent has claimed it: leave it, and run `gc hook` " +
				"to check again"
		}
		text += "\nRead one with `gc bead show ID`. Claim it with " + claim +
			". When your work is done, close it with `gc bead close ID`, and run `gc hook` " +
			"to see whether there is more."
	}
	return "<system-reminder>\nThere is work for you.\n" + text + "\n</system-reminder>\n"
}
