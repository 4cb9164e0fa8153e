package agents

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/output"
	"gcity/internal/screen"
)

func automationLogs(e *env.Env) *cobra.Command {
	var (
		run    string
		follow bool
	)
	c := forAutomation(e, &cobra.Command{
		Use: "logs NAME [RUN]", Short: "What its newest run printed, or the one that goes prints",
		Long: `logs writes what a run of an automation has printed: the newest run, or the one
of the given record. Of a run that goes that is what is kept so far, and with
--follow the rest as it comes, until it has ended; of one that has ended it is
what the record keeps, the end of it.`,
	}, func(ctx context.Context, n namedAutomation) error {
		ctx, quiet := env.Interruptible(ctx)
		defer quiet()
		id, err := runOf(ctx, e, n, run)
		if err != nil || id == "" {
			return err
		}
		if _, err = showRun(ctx, e, n.l, id, follow); ctx.Err() != nil {
			return nil // somebody has seen enough
		}
		return err
	})
	named := c.RunE
	c.Args = env.Between(1, 2)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			run = args[1]
		}
		return named(cmd, args)
	}
	c.Flags().BoolVarP(&follow, "follow", "f", false, "then what comes, until the run has ended")
	return c
}

// runOf is the run of an automation that is meant: the one of an id, else the newest; "" if there is none, which is
// said.
func runOf(ctx context.Context, e *env.Env, n namedAutomation, id string) (string, error) {
	switch {
	case id == "" && n.item.Last != nil:
		return n.item.Last.ID, nil
	case id == "":
		fmt.Fprintf(e.Err, "%s has never run\n", output.SafeLine(n.item.Name))
		return "", nil
	}
	runs, err := pastRuns(ctx, e, n.l.Dir, n.item.Name, -1)
	if err == nil && !slices.ContainsFunc(runs, func(r city.Run) bool { return r.ID == id }) {
		err = &city.Error{Code: city.NotFound,
			Message: fmt.Sprintf("%s has no run %s; `gcity automation history %s` lists them",
				n.item.Name, id, n.item.Name)}
	}
	return id, err
}

// showRun writes what a run has printed, and with follow what it prints until its end. shown tells whether that was
// anything.
func showRun(ctx context.Context, e *env.Env, c city.Control, run string, follow bool) (shown bool,
	err error) {
	text, missed := runText{to: e.Out}, int64(0)
	for p, broken := range c.RunOutput(ctx, run) {
		missed += p.Dropped
		switch {
		case broken != nil:
			err = broken
		case e.JSON:
			err = e.WriteJSONLine(p)
		default:
			err = text.add(p.Text)
		}
		if err != nil || !follow {
			break
		}
	}
	if ended := text.end(); err == nil {
		err = ended
	}
	if missed > 0 && !e.JSON {
		fmt.Fprintf(e.Err, "%d bytes of what run %s printed are left out: no more than the "+
			"newest is kept for who is slow or comes late\n", missed, output.SafeLine(run))
	}
	return text.shown, err
}

// runText writes the text of a run. It comes clean from a controller, which may be another program than it says.
type runText struct {
	to    io.Writer
	clean screen.Stream
	shown bool
	inner bool // the text so far ends within a line
}

func (t *runText) add(s string) error { return t.write(t.clean.Clean([]byte(s))) }

// end ends the line that the text left open.
func (t *runText) end() error {
	rest := t.clean.End()
	if rest != "" || t.inner {
		rest += "\n"
	}
	return t.write(rest)
}

func (t *runText) write(s string) error {
	if s == "" {
		return nil
	}
	t.shown, t.inner = true, !strings.HasSuffix(s, "\n")
	_, err := io.WriteString(t.to, s)
	return err
}
