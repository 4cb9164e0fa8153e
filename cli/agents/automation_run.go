package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"gcity/beads"
	"gcity/city"
	"gcity/cli/depot"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/events"
)

// ExitTimedOut is the exit code of `automation run --wait` for a run that was killed at its timeout, as in
// timeout(1).
const ExitTimedOut = 124

func automationRun(e *env.Env) *cobra.Command {
	var (
		wait bool
		most time.Duration
	)
	c := forAutomation(e, &cobra.Command{
		Use: "run NAME", Short: "Run it now, even if its gate is closed",
		Long: `run starts a run of an automation even if its gate is closed. The run is recorded
like any other. It needs a running controller. With --wait it prints the output of
the run as it arrives, waits for its end, and exits with the code of the run: 124
if it was killed at its timeout, 1 if it failed without a code. If a run fails and
is retried (retry in its file), run prints that and waits for the last attempt.`,
	}, func(ctx context.Context, n namedAutomation) error {
		switch {
		case e.ReadOnly:
			return env.RefusedReadOnly("automation run")
		case !n.l.Live:
			return exit.NotRunning("cannot run %s: no controller is running for %s; start it "+
				"with `gcity` or `gcity --headless`", n.item.Name, n.l.Dir)
		case n.item.State == city.AutomationBroken:
			return &city.Error{Code: city.Conflict,
				Message: fmt.Sprintf("cannot run %s, its file is broken: %s", n.item.Name,
					n.item.Reason)}
		case most <= 0:
			return exit.Usage("--timeout must be above 0")
		}
		fire := city.Fire{Automation: n.item.Name, By: e.Actor()}
		if !wait {
			ctx, cancel := context.WithTimeout(ctx, mostForAPlace)
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
	c.Flags().BoolVarP(&wait, "wait", "w", false, "wait for the end of the run, and exit "+
		"with its code")
	c.Flags().DurationVar(&most, "timeout", time.Hour, "with --wait: wait at most this long")
	return c
}

// mostForAPlace is how long run waits for a run that is queued because of the limit on concurrent runs.
const mostForAPlace = 3 * time.Minute

func automationStop(e *env.Env) *cobra.Command {
	return forAutomation(e, &cobra.Command{
		Use: "stop NAME", Short: "Stop its current run with all its processes",
		Long: `stop stops the current run of an automation, with every process that it has
started. The run counts as failed ("ended by …") and is not retried. A run that is
queued behind it starts.`,
	}, func(ctx context.Context, n namedAutomation) error {
		switch {
		case e.ReadOnly:
			return env.RefusedReadOnly("automation stop")
		case !n.l.Live:
			return exit.NotRunning("%s is not running: no controller is running for %s",
				n.item.Name, n.l.Dir)
		}
		return e.Do(ctx, n.l, city.EndRun{Automation: n.item.Name, By: e.Actor()})
	})
}

// Fire requests a run by hand and returns when it has started. If the run has to wait for others, Fire prints that;
// an interrupt cancels the request.
func Fire(ctx context.Context, e *env.Env, l *env.Link, what city.Fire) (city.Receipt, error) {
	ctx, quiet := env.Interruptible(ctx)
	defer quiet()
	var watch sync.WaitGroup
	opened, done := context.WithCancel(ctx)
	watch.Go(func() { sayThatItWaits(opened, e, l, what.Automation) })
	r, err := l.Do(ctx, what)
	done()
	watch.Wait()
	switch {
	case err == nil || ctx.Err() == nil:
		return r, err
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return r, fmt.Errorf("%s did not run: too many other runs until the timeout, so the "+
			"request is cancelled; see `gcity automation list`", what.Automation)
	}
	return r, fmt.Errorf("%s did not run: interrupted while it waited, so the request is cancelled",
		what.Automation)
}

// sayThatItWaits prints after a moment that a requested automation waits for others, unless ctx ends before.
func sayThatItWaits(ctx context.Context, e *env.Env, l *env.Link, name string) {
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return
	}
	s, err := l.Snapshot(ctx)
	if err != nil {
		return // the request fails with the same error
	}
	if i, ok := s.Automation(name); ok && i.State == city.AutomationDue {
		fmt.Fprintf(e.Err, "%s is due: %s; ctrl-c cancels the request\n", output.SafeLine(name),
			output.SafeLine(i.Reason))
	}
}

// runAndWait starts an automation and waits for the end of that run.
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
	} else { // it is queued behind the current run
		fmt.Fprintln(e.Err, output.SafeLine(r.Message))
		if id, seq, err = nextRunOf(ctx, n.l, fire.Automation, seq); err != nil {
			return fmt.Errorf("the queued run of %s did not start: %w; see `gcity automation "+
				"history %s`", fire.Automation, err, fire.Automation)
		}
	}
	for {
		shown := e.JSON // stdout is for the record only
		if !shown {
			if shown, err = showRun(ctx, e, n.l, id, true); err != nil && ctx.Err() == nil {
				fmt.Fprintf(e.Err, "cannot show more output of run %s: %s\n", id,
					output.SafeText(err.Error()))
			}
		}
		end, err := waitForRun(ctx, n.l, id, seq)
		if err != nil {
			return stillGoes(err, fire.Automation, id)
		}
		run, err := record(ctx, e, n.l.Dir, fire.Automation, id)
		if err != nil {
			return err
		}
		if end.Again == nil {
			return tellRun(e, run, shown)
		}
		fmt.Fprintf(e.Err, "%s: run %s: %s; retry in %s (%d of %d)\n",
			output.SafeLine(run.Automation), output.SafeLine(id), output.SafeLine(ranText(run)),
			output.Span(max(0, end.Again.At.Sub(e.Now()))), end.Again.Try, end.Again.Of)
		if id, seq, err = nextRunOf(ctx, n.l, fire.Automation, end.seq); err != nil {
			return stillGoes(err, fire.Automation, run.ID)
		}
	}
}

// record reads the record of a run that has ended. The event of its end may arrive a moment before the record.
func record(ctx context.Context, e *env.Env, dir, name, id string) (*city.Run, error) {
	ctx, cancel := context.WithTimeout(ctx, depot.WorkTimeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		// The newest runs suffice: this one has just ended.
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
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("run %s of %s has ended, but its record was not closed; see "+
				"`gcity automation history %s`", id, name, name)
		case <-tick.C:
		}
	}
}

// runWord is the payload of an event about a run.
type runWord struct {
	Run   string `json:"run"`
	Again *struct {
		Try int       `json:"try"`
		Of  int       `json:"of"`
		At  time.Time `json:"at"`
	} `json:"again"` // set if it failed and is retried
}

// end is a run's end as the event log has it.
type end struct {
	runWord
	seq uint64
}

// waitForRun returns when the event log records a run's end. It starts after the event with number seq.
func waitForRun(ctx context.Context, c city.Control, id string, seq uint64) (end, error) {
	return awaitRun(ctx, c, seq, func(e events.Event, about runWord) bool {
		return about.Run == id && (e.Type == events.AutomationCompleted ||
			e.Type == events.AutomationFailed)
	})
}

// nextRunOf waits for an automation's next run, and returns its ID.
func nextRunOf(ctx context.Context, c city.Control, name string, seq uint64) (string, uint64,
	error) {
	next, err := awaitRun(ctx, c, seq, func(e events.Event, about runWord) bool {
		return about.Run != "" && e.Type == events.AutomationFired && e.Subject == name
	})
	return next.Run, next.seq, err
}

// awaitRun waits for an event about a run.
func awaitRun(ctx context.Context, c city.Control, seq uint64,
	is func(events.Event, runWord) bool) (end, error) {
	for e, err := range c.Events(ctx, seq) {
		if err != nil {
			return end{}, err
		}
		var about runWord
		if json.Unmarshal(e.Payload, &about) == nil && is(e, about) {
			return end{about, e.Seq}, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return end{}, err
	}
	return end{}, errors.New("the controller has exited")
}

// stillGoes returns an error that the wait is over, and where to find the run.
func stillGoes(err error, name, id string) error {
	why := err.Error()
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		why = "it took longer than --timeout"
	case errors.Is(err, context.Canceled):
		why = "interrupted"
	}
	return fmt.Errorf("stopped waiting for the end of run %s: %s; the run itself continues, see "+
		"`gcity automation history %s`", id, why, name)
}

// tellRun writes how a run ended, with the end of its output unless some was shown already, and returns its exit
// code as an error.
func tellRun(e *env.Env, r *city.Run, shown bool) error {
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
			how += ", made " + r.Made
		}
		fmt.Fprintf(e.Err, "%s: run %s: %s\n", output.SafeLine(r.Automation), output.SafeLine(r.ID),
			output.SafeLine(how))
	}
	if code := runCode(r); code != exit.CodeDone {
		return exit.Quietly(code)
	}
	return nil
}

// runCode returns the exit code for the end of a run.
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
