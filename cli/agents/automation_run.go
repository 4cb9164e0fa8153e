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

// ExitTimedOut is the code of `automation run --wait` for a run that was ended at its timeout, as of timeout(1).
const ExitTimedOut = 124

func automationRun(e *env.Env) *cobra.Command {
	var (
		wait bool
		most time.Duration
	)
	c := forAutomation(e, &cobra.Command{
		Use: "run NAME", Short: "Run it now, whatever its gate says",
		Long: `run opens a run of an automation past its gate; the run is recorded like any
other. It needs a controller, which does the work. With --wait it waits for the end
of the run, writes what it prints as it comes, and exits with the code of the run:
124 if it was ended at its timeout, 1 if it failed without a code. A run that failed
and is tried again (retry in its file) is told of, and the last try is waited for.`,
	}, func(ctx context.Context, n namedAutomation) error {
		switch {
		case e.ReadOnly:
			return env.RefusedReadOnly("automation run")
		case !n.l.Live:
			return exit.NotRunning("cannot run %s: no controller runs %s; start it with `gcity` "+
				"or `gcity --headless`", n.item.Name, n.l.Dir)
		case n.item.State == city.AutomationBroken:
			return &city.Error{Code: city.Conflict,
				Message: fmt.Sprintf("cannot run %s, its file is broken: %s", n.item.Name,
					n.item.Reason)}
		case most <= 0:
			return exit.Usage("--timeout needs a duration above 0")
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
	c.Flags().BoolVarP(&wait, "wait", "w", false, "wait for its end, and exit with its code")
	c.Flags().DurationVar(&most, "timeout", time.Hour, "with --wait: how long at most")
	return c
}

// mostForAPlace is how long a run that waits for a place is waited with.
const mostForAPlace = 3 * time.Minute

func automationStop(e *env.Env) *cobra.Command {
	return forAutomation(e, &cobra.Command{
		Use: "stop NAME", Short: "End the run of it that goes, with all its processes",
		Long: `stop ends the run of an automation that goes, with every process that it has
started. The run has failed then ("ended by …") and is not tried again; what was
queued behind it begins.`,
	}, func(ctx context.Context, n namedAutomation) error {
		switch {
		case e.ReadOnly:
			return env.RefusedReadOnly("automation stop")
		case !n.l.Live:
			return exit.NotRunning("no run of %s goes: no controller runs %s", n.item.Name, n.l.Dir)
		}
		return e.Do(ctx, n.l, city.EndRun{Automation: n.item.Name, By: e.Actor()})
	})
}

// Fire asks for a run by hand and returns when it is opened. While it waits for a place that is said; an interrupt
// takes it back.
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
		return r, fmt.Errorf("%s is not run: there was no place for it in time, and it is taken "+
			"back; see `gcity automation list`", what.Automation)
	}
	return r, fmt.Errorf("%s is not run: it was interrupted while it waited, and is taken back",
		what.Automation)
}

// sayThatItWaits says after a moment that an automation which was asked for waits for a place, unless ctx ends before.
func sayThatItWaits(ctx context.Context, e *env.Env, l *env.Link, name string) {
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return
	}
	s, err := l.Snapshot(ctx)
	if err != nil {
		return // so will whoever waits hear
	}
	if i, ok := s.Automation(name); ok && i.State == city.AutomationDue {
		fmt.Fprintf(e.Err, "%s is due: %s; ctrl-c takes it back\n", output.SafeLine(name),
			output.SafeLine(i.Reason))
	}
}

// runAndWait fires an automation and waits for the end of that run.
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
	} else { // it is queued behind the run that goes
		fmt.Fprintln(e.Err, output.SafeLine(r.Message))
		if id, seq, err = nextRunOf(ctx, n.l, fire.Automation, seq); err != nil {
			return fmt.Errorf("waited in vain for the queued run of %s to begin: %w; see `gcity "+
				"automation history %s`", fire.Automation, err, fire.Automation)
		}
	}
	for {
		shown := e.JSON // stdout is for the record
		if !shown {
			if shown, err = showRun(ctx, e, n.l, id, true); err != nil && ctx.Err() == nil {
				fmt.Fprintf(e.Err, "what run %s prints can no longer be shown: %s\n", id,
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
		fmt.Fprintf(e.Err, "%s: run %s: %s; it is tried again in %s (%d of %d)\n",
			output.SafeLine(run.Automation), output.SafeLine(id), output.SafeLine(ranText(run)),
			output.Span(max(0, end.Again.At.Sub(e.Now()))), end.Again.Try, end.Again.Of)
		if id, seq, err = nextRunOf(ctx, n.l, fire.Automation, end.seq); err != nil {
			return stillGoes(err, fire.Automation, run.ID)
		}
	}
}

// record reads the record of a run that has ended. The event of its end may be a moment ahead of it.
func record(ctx context.Context, e *env.Env, dir, name, id string) (*city.Run, error) {
	ctx, cancel := context.WithTimeout(ctx, depot.WorkTimeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		// Later runs, if there are any, are few: this one has just ended.
		runs, err := pastRuns(ctx, e, dir, name, beads.DefaultLimit)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(runs, func(run city.Run) bool { return run.ID == id })
		if i < 0 {
			return nil, fmt.Errorf("the run %s of %s has ended, but there is no record of "+
				"it any more", id, name)
		}
		if runs[i].Outcome != "" {
			return &runs[i], nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the run %s of %s has ended, but its record was not closed; "+
				"see `gcity automation history %s`", id, name, name)
		case <-tick.C:
		}
	}
}

// runWord is what an event about a run says of it.
type runWord struct {
	Run   string `json:"run"`
	Again *struct {
		Try int       `json:"try"`
		Of  int       `json:"of"`
		At  time.Time `json:"at"`
	} `json:"again"` // that it failed and is tried again
}

// end is what the log tells of a run's end.
type end struct {
	runWord
	seq uint64
}

// waitForRun returns when the log tells of a run's end. It is opened after the event of seq.
func waitForRun(ctx context.Context, c city.Control, id string, seq uint64) (end, error) {
	return awaitRun(ctx, c, seq, func(e events.Event, about runWord) bool {
		return about.Run == id && (e.Type == events.AutomationCompleted ||
			e.Type == events.AutomationFailed)
	})
}

// nextRunOf waits for an automation's next run, and gives its id.
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
	return end{}, errors.New("the controller is gone")
}

// stillGoes says that nobody waits any more, and where the run can be found.
func stillGoes(err error, name, id string) error {
	why := err.Error()
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		why = "it took longer than --timeout"
	case errors.Is(err, context.Canceled):
		why = "interrupted"
	}
	return fmt.Errorf("waited in vain for the end of run %s: %s; the run itself is not ended by "+
		"that, see `gcity automation history %s`", id, why, name)
}

// tellRun writes how a run ended, before it the end of its output unless some of it was shown, and ends with its code.
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

// runCode is the exit code that stands for the end of a run.
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
