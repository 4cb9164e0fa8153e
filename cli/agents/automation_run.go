package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gcity/beads"
	"gcity/city"
	"gcity/cli/depot"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/events"
	"gcity/internal/deadline"
)

// ExitTimedOut is the exit code of `automation run --wait` after a timeout. timeout(1) uses the same code.
const ExitTimedOut = 124

func automationRun(e *env.Env) *cobra.Command {
	var (
		wait bool
		most time.Duration
		c    *cobra.Command
	)
	timed := func() bool { return c.Flags().Changed("timeout") }
	c = forUnreadAutomation(e, &cobra.Command{
		Use: "run NAME", Short: "Run an automation now, even if its gate is closed",
		Long: `run starts a run of an automation even if its gate is closed. The controller reads
the automation's file first. The run is recorded like any other. It needs a running
controller. With --wait it prints the run's output as it arrives, waits for the run to
end, and exits with the run's exit code: 124 if it was killed at its timeout, 1 if it
failed without an exit code. If a run fails and is retried (retry in its file), --wait
reports the failure and waits for the last attempt.`,
	}, func(ctx context.Context, n namedAutomation, err error) error {
		switch {
		case err != nil && (!n.l.Live || !city.HasCode(err, city.NotFound)):
			return err
		case !n.l.Live:
			return n.l.NoController("cannot run " + n.item.Name)
		case most <= 0:
			return exit.Usage("--timeout must be greater than 0")
		case timed() && !wait:
			return exit.Usage("--timeout is the time limit of --wait: add --wait")
		}
		fire := city.Fire{Automation: n.item.Name, By: e.Actor()}
		if !wait {
			ctx, cancel := context.WithTimeout(ctx, queueTimeout)
			defer cancel()
			r, err := Fire(ctx, e, n.l, fire)
			if err != nil {
				return err
			}
			return e.Receipt(r)
		}
		ctx, cancel := context.WithTimeout(ctx, most)
		defer cancel()
		return runAndWait(ctx, e, n, fire)
	})
	c.Flags().BoolVarP(&wait, "wait", "w", false,
		"wait until the run ends, and exit with its exit code")
	c.Flags().DurationVar(&most, "timeout", time.Hour, "with --wait: wait at most this long")
	return env.Changes(e, c)
}

const queueTimeout = 3 * time.Minute

func automationStop(e *env.Env) *cobra.Command {
	return env.Changes(e, forAutomation(e, &cobra.Command{
		Use: "stop NAME", Short: "Stop an automation's current run and all its processes",
		Long: `stop stops an automation's current run and every process that the run has
started. The run counts as failed ("ended by …") and is not retried. If another
run is queued, that run starts next.`,
	}, func(ctx context.Context, n namedAutomation) error {
		if !n.l.Live {
			return n.l.NoController("cannot stop a run of " + n.item.Name)
		}
		return e.Do(ctx, n.l, city.EndRun{Automation: n.item.Name, By: e.Actor()})
	}))
}

// Fire requests a manual run and returns when the run has started or is queued. An interrupt cancels a waiting request.
func Fire(ctx context.Context, e *env.Env, l *env.Link, what city.Fire) (city.Receipt, error) {
	ctx, quiet := env.Interruptible(ctx)
	defer quiet()
	done := env.InBackground(ctx, func(ctx context.Context) {
		reportQueued(ctx, e, l, what.Automation)
	})
	r, err := l.Do(ctx, what)
	done()
	switch {
	case err == nil || ctx.Err() == nil:
		return r, err
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return r, fmt.Errorf("%s did not run: it was still queued at the timeout because of the "+
			"limit on concurrent runs, so the request was canceled; see `gcity automation list`",
			what.Automation)
	}
	return r, fmt.Errorf("%s did not run: the command was interrupted while its request was "+
		"queued, so the request was canceled", what.Automation)
}

func reportQueued(ctx context.Context, e *env.Env, l *env.Link, name string) {
	if !deadline.Pause(ctx, time.Second) {
		return
	}
	s, err := l.Snapshot(ctx)
	if err != nil {
		return // the request itself fails with the same error
	}
	if i, ok := s.Automation(name); ok && i.State == city.AutomationDue {
		e.Note(fmt.Sprintf("%s is due: %s; ctrl-c cancels the request", name,
			output.SafeLine(i.Reason)))
	}
}

func runAndWait(ctx context.Context, e *env.Env, n namedAutomation, fire city.Fire) error {
	ctx, quiet := env.Interruptible(ctx)
	defer quiet()
	r, err := Fire(ctx, e, n.l, fire)
	if err != nil {
		return err
	}
	seq, id := n.s.Seq, ""
	if r.Bead != nil {
		id = r.Bead.ID
	} else {
		e.Note(r.Message)
		if id, seq, err = nextRunOf(ctx, n.l, fire.Automation, seq); err != nil {
			return fmt.Errorf("the queued run of %s did not start: %w; see `gcity automation "+
				"history %s`", fire.Automation, err, fire.Automation)
		}
	}
	for {
		shown := e.JSON // with --json, stdout contains only the record
		if !shown {
			if shown, err = showRun(ctx, e, n.l, id, true); err != nil && ctx.Err() == nil {
				fmt.Fprintf(e.Err, "cannot print the rest of the output from run %s: %s\n", id,
					output.SafeText(err.Error()))
			}
		}
		end, err := waitForRun(ctx, n.l, id, seq)
		if err != nil {
			return stoppedWaiting(err, fire.Automation, id)
		}
		run, err := record(ctx, e, n.l.Dir, fire.Automation, id)
		if err != nil {
			return err
		}
		if end.Again == nil {
			return printRun(e, run, shown)
		}
		e.Note(fmt.Sprintf("%s: run %s: %s; retry in %s (%d of %d)", run.Automation, id,
			output.SafeLine(ranText(run)),
			output.Span(max(0, end.Again.At.Sub(e.Now()))), end.Again.Try, end.Again.Of))
		if id, seq, err = nextRunOf(ctx, n.l, fire.Automation, end.seq); err != nil {
			return stoppedWaiting(err, fire.Automation, run.ID)
		}
	}
}

// record waits until the record is closed, because the run's last event can arrive before that.
func record(ctx context.Context, e *env.Env, dir, name, id string) (*city.Run, error) {
	ctx, cancel := context.WithTimeout(ctx, depot.WorkTimeout)
	defer cancel()
	for {
		// the run has just ended, so it is among the newest
		runs, err := pastRuns(ctx, e, dir, name, beads.DefaultLimit)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(runs, func(run city.Run) bool { return run.ID == id })
		if i < 0 {
			return nil, fmt.Errorf("run %s of %s has ended, but its record no longer exists", id,
				name)
		}
		if runs[i].Outcome != "" {
			return &runs[i], nil
		}
		if !deadline.Pause(ctx, 20*time.Millisecond) {
			return nil, fmt.Errorf("run %s of %s has ended, but its record was not closed; see "+
				"`gcity automation history %s`", id, name, name)
		}
	}
}

type runEvent struct {
	Run   string `json:"run"`
	Again *struct {
		Try int       `json:"try"`
		Of  int       `json:"of"`
		At  time.Time `json:"at"`
	} `json:"again"` // set if the run failed and will be retried
}

type end struct {
	runEvent
	seq uint64
}

func waitForRun(ctx context.Context, c city.Control, id string, seq uint64) (end, error) {
	return awaitRun(ctx, c, seq, func(e events.Event, about runEvent) bool {
		return about.Run == id && (e.Type == events.AutomationCompleted ||
			e.Type == events.AutomationFailed)
	})
}

func nextRunOf(ctx context.Context, c city.Control, name string, seq uint64) (string, uint64,
	error) {
	next, err := awaitRun(ctx, c, seq, func(e events.Event, about runEvent) bool {
		return about.Run != "" && e.Type == events.AutomationFired && e.Subject == name
	})
	return next.Run, next.seq, err
}

func awaitRun(ctx context.Context, c city.Control, seq uint64,
	is func(events.Event, runEvent) bool) (end, error) {
	for e, err := range c.Events(ctx, seq) {
		if err != nil {
			return end{}, err
		}
		var about runEvent
		if json.Unmarshal(e.Payload, &about) == nil && is(e, about) {
			return end{about, e.Seq}, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return end{}, err
	}
	return end{}, errors.New("the controller has exited")
}

func stoppedWaiting(err error, name, id string) error {
	why := err.Error()
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		why = "the run is taking longer than --timeout"
	case errors.Is(err, context.Canceled):
		why = "interrupted"
	}
	return fmt.Errorf("stopped waiting for run %s: %s; the run itself continues; see `gcity "+
		"automation history %s`", id, why, name)
}

func printRun(e *env.Env, r *city.Run, shown bool) error {
	if e.JSON {
		if err := e.WriteJSON(r); err != nil {
			return err
		}
	} else {
		if text := strings.TrimRight(output.SafeText(r.Output), "\n"); text != "" && !shown {
			e.Sayf("%s", text)
		}
		how := ranText(r)
		if r.Made != "" {
			how += ", created " + r.Made
		}
		e.Note(fmt.Sprintf("%s: run %s: %s", r.Automation, r.ID, how))
	}
	if code := runCode(r); code != exit.CodeDone {
		return exit.Quietly(code)
	}
	return nil
}

func runCode(r *city.Run) int {
	switch {
	case r.Outcome == "ok":
		return exit.CodeDone
	case r.TimedOut:
		return ExitTimedOut
	case r.Code != nil && *r.Code > 0 && *r.Code < 256:
		return *r.Code
	}
	return exit.CodeFailed
}
