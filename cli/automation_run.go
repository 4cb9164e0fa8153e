package cli

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
	"gcity/events"
)

// exitTimedOut is the code of `automation run --wait` for a run that was ended at its timeout, as of timeout(1).
const exitTimedOut = 124

func (a *app) automationRun() *cobra.Command {
	var (
		wait bool
		most time.Duration
	)
	c := a.forAutomation(&cobra.Command{
		Use: "run NAME", Short: "Run it now, whatever its gate says",
		Long: `run opens a run of an automation past its gate; the run is recorded like any
other. It needs a controller, which does the work. With --wait it waits for the end
of the run, writes the end of its output, and exits with the code of the run: 124
if it was ended at its timeout, 1 if it failed without a code.`,
	}, func(ctx context.Context, n namedAutomation) error {
		switch {
		case a.readOnly:
			return refusedReadOnly("automation run")
		case !n.l.live:
			return notRunning("cannot run %s: no controller runs %s; start it with `gcity` or `gcity --headless`", n.item.Name, n.l.dir)
		case n.item.State == city.AutomationBroken:
			return &city.Error{Code: city.Conflict, Message: fmt.Sprintf("cannot run %s, its file is broken: %s", n.item.Name, n.item.Reason)}
		case most <= 0:
			return usage("--timeout needs a duration above 0")
		}
		fire := city.Fire{Automation: n.item.Name, By: a.actor()}
		if !wait {
			return a.do(ctx, n.l, fire)
		}
		ctx, cancel := context.WithTimeout(ctx, most)
		defer cancel()
		return a.runAndWait(ctx, n, fire)
	})
	c.Flags().BoolVarP(&wait, "wait", "w", false, "wait for its end, and exit with its code")
	c.Flags().DurationVar(&most, "timeout", time.Hour, "with --wait: how long at most")
	return c
}

// runAndWait fires an automation and waits for the end of that run.
func (a *app) runAndWait(ctx context.Context, n namedAutomation, fire city.Fire) error {
	ctx, quiet := interruptible(ctx)
	defer quiet()
	r, err := n.l.Do(ctx, fire)
	if err != nil {
		return err
	}
	if r.Bead == nil {
		return fmt.Errorf("%s was told to run, but its run has no record yet to wait for: %s; see `gcity automation history %s`",
			fire.Automation, r.Message, fire.Automation)
	}
	if err := waitForRun(ctx, n.l, r.Bead.ID, n.s.Seq); err != nil {
		return stillGoes(err, fire.Automation, r.Bead.ID)
	}
	run, err := a.record(ctx, n.l.dir, fire.Automation, r.Bead.ID)
	if err != nil {
		return err
	}
	return a.tellRun(run)
}

// record reads the record of a run that has ended. The event of its end may be a moment ahead of it.
func (a *app) record(ctx context.Context, dir, name, id string) (*city.Run, error) {
	ctx, cancel := context.WithTimeout(ctx, workTimeout)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		// Later runs, if there are any, are few: this one has just ended.
		runs, err := a.pastRuns(ctx, dir, name, beads.DefaultLimit)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(runs, func(run city.Run) bool { return run.ID == id })
		if i < 0 {
			return nil, fmt.Errorf("the run %s of %s has ended, but there is no record of it any more", id, name)
		}
		if runs[i].Outcome != "" {
			return &runs[i], nil
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("the run %s of %s has ended, but its record was not closed; see `gcity automation history %s`", id, name, name)
		case <-tick.C:
		}
	}
}

// waitForRun returns when the log tells of a run's end. It is opened after the event of seq.
func waitForRun(ctx context.Context, c city.Control, id string, seq uint64) error {
	for e, err := range c.Events(ctx, seq) {
		if err != nil {
			return err
		}
		if e.Type != events.AutomationCompleted && e.Type != events.AutomationFailed {
			continue
		}
		var about struct {
			Run string `json:"run"`
		}
		if json.Unmarshal(e.Payload, &about) == nil && about.Run == id {
			return nil
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return errors.New("the controller is gone")
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
	return fmt.Errorf("waited in vain for the end of run %s: %s; the run itself is not ended by that, see `gcity automation history %s`", id, why, name)
}

// tellRun writes how a run ended, its output first, and ends with its code.
func (a *app) tellRun(r *city.Run) error {
	if a.json {
		if err := a.writeJSON(r); err != nil {
			return err
		}
	} else {
		if text := strings.TrimRight(safeText(r.Output), "\n"); text != "" {
			a.sayf("%s", text)
		}
		how := outcomeText(r)
		if r.Made != "" {
			how += ", made " + r.Made
		}
		fmt.Fprintf(a.err, "%s: run %s: %s in %s\n", safeLine(r.Automation), safeLine(r.ID), safeLine(how), took(r))
	}
	if code := runCode(r); code != exitDone {
		return quietly(code)
	}
	return nil
}

// runCode is the exit code that stands for the end of a run.
func runCode(r *city.Run) int {
	switch {
	case r.Outcome == "ok":
		return exitDone
	case r.Code == nil && strings.Contains(r.Error, "had not ended after timeout"):
		return exitTimedOut
	case r.Code != nil && *r.Code > 0 && *r.Code < 256:
		return *r.Code
	}
	return exitFailed
}
