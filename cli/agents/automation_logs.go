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
	"gcity/internal/screen"
	"gcity/internal/suggest"
)

func automationLogs(e *env.Env) *cobra.Command {
	var (
		run    string
		follow bool
	)
	c := forAutomation(e, &cobra.Command{
		Use: "logs NAME [RUN]", Short: "Print the output of an automation's newest run",
		Long: `logs prints the output of a run: the newest run, or the run with the ID RUN.
While the run is in progress, logs prints its output so far; with --follow it also
prints new output until the run ends. After the run has ended, only the last part of
its output is stored, and logs prints that part.`,
	}, func(ctx context.Context, n namedAutomation) error {
		ctx, quiet := env.Interruptible(ctx)
		defer quiet()
		id, err := runOf(ctx, e, n, run)
		if err != nil || id == "" {
			return err
		}
		shown, err := showRun(ctx, e, n.l, id, follow)
		switch {
		case ctx.Err() != nil:
			return nil // interrupted by the user
		case err == nil && !shown && !e.JSON:
			return sayNoRunOutput(ctx, e, n, id)
		}
		return err
	})
	named := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			run = args[1]
		}
		return named(cmd, args)
	}
	c.Flags().BoolVarP(&follow, "follow", "f", false, "print new output until the run ends")
	return c
}

func sayNoRunOutput(ctx context.Context, e *env.Env, n namedAutomation, id string) error {
	runs, err := pastRuns(ctx, e, n.l.Dir, n.item.Name, -1)
	if err != nil {
		return err
	}
	text := fmt.Sprintf("run %s of %s has no output", id, n.item.Name)
	if i := slices.IndexFunc(runs, func(r city.Run) bool { return r.ID == id }); i >= 0 &&
		runs[i].Made != "" {
		text += fmt.Sprintf(": it created %s from a formula; `gcity bead show %s` shows that work",
			runs[i].Made, runs[i].Made)
	}
	e.Note(text)
	return nil
}

func runOf(ctx context.Context, e *env.Env, n namedAutomation, id string) (string, error) {
	switch {
	case id == "" && n.item.Last != nil:
		return n.item.Last.ID, nil
	case id == "" && n.item.LastUnknown:
		return "", city.Errorf(city.Unavailable, "the latest run of %s is unknown, because the "+
			"records of earlier runs have not been read; see `gcity status`", n.item.Name)
	case id == "":
		e.Note(n.item.Name + " has never run")
		return "", nil
	}
	runs, err := pastRuns(ctx, e, n.l.Dir, n.item.Name, -1)
	if err == nil && !slices.ContainsFunc(runs, func(r city.Run) bool { return r.ID == id }) {
		err = suggest.NoSuch(suggest.Run, id).Then("run `gcity automation history " +
			n.item.Name + "` to see all")
	}
	return id, err
}

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
		e.Note(fmt.Sprintf("skipped %d bytes of output from run %s, because only the newest part "+
			"is stored", missed, run))
	}
	return text.shown, err
}

// runText removes control sequences from a run's output, because another program might own the controller's socket.
type runText struct {
	to    io.Writer
	clean screen.Stream
	shown bool
	inner bool // the output so far does not end with a newline
}

func (t *runText) add(s string) error { return t.write(t.clean.Clean([]byte(s))) }

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
