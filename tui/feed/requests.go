package feed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/describe"
	"gcity/events"
	"gcity/tui/widget"
)

// start copies the text with a clipboard program.
func (e Copy) start(r *Runner) {
	r.spawnWithin(clipboardDeadline, "clipboard", func(ctx context.Context) {
		program, err := r.copyWithProgram(ctx, e.Text)
		failure := ""
		switch {
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			failure = fmt.Sprintf("the %s might not have been copied: the clipboard "+
				"program did not exit within %s", e.What, clipboardDeadline)
		case err != nil:
			failure = "cannot copy the " + e.What + ": " + err.Error()
		}
		r.report(e.ID, "copying", "copied the "+e.What+" with "+program, failure)
	})
}

func (r *Runner) copyWithProgram(ctx context.Context, text string) (string, error) {
	argv := clipboardProgram(r.Getenv)
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return "", fmt.Errorf("%s is not installed", argv[0])
	}
	cmd := exec.CommandContext(ctx, path, argv[1:]...)
	cmd.Stdin = strings.NewReader(text)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.WaitDelay = time.Second
	// the program keeps running in the background to serve the clipboard
	if err := cmd.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		if why := strings.TrimSpace(stderr.String()); why != "" {
			return "", fmt.Errorf("%s: %s", argv[0], why)
		}
		return "", fmt.Errorf("%s: %w", argv[0], err)
	}
	return argv[0], nil
}

func (q LoadHistory) start(r *Runner) {
	r.spawnWithin(historyDeadline, "history", func(ctx context.Context) {
		found, err := r.City.History(ctx, events.Query{Before: q.Before, Limit: HistoryPageSize})
		d := LoadedHistory{ID: q.ID,
			Complete: err == nil && len(found) == 0, // a short page can be incomplete
			Problem:  r.logFailure(err, historyDeadline, "cannot load older events")}
		for _, e := range slices.Backward(found) { // the city returns the newest event first
			d.Events = append(d.Events, e)
		}
		r.Mailbox.Put(func(n *News) { n.HistoryPages = append(n.HistoryPages, d) })
	})
}

func (q Inspect) start(r *Runner) {
	r.spawnWithin(inspectDeadline, "inspection", func(ctx context.Context) {
		inspection, err := r.City.Inspect(ctx, q.Agent)
		in := Inspected{ID: q.ID, Inspection: inspection, Problem: r.logFailure(err,
			inspectDeadline, "cannot inspect an agent", "agent", q.Agent)}
		r.Mailbox.Put(func(n *News) { n.Inspected = append(n.Inspected, in) })
	})
}

func (s Save) start(r *Runner) {
	r.Spawn("save", func(context.Context) {
		path, err := writeNew(s.Path, s.Text)
		failure := ""
		if err != nil {
			r.Log.Warn("cannot save an agent's output", "error", err)
			failure = err.Error()
		}
		r.report(s.ID, "saving", fmt.Sprintf("saved %s to %s", widget.Count(s.Lines, "line"), path),
			failure)
	})
}

// start sends the command, unless the city's name now refers to a different city.
func (e SendCityCommand) start(r *Runner) {
	limit := city.ResponseLimit(e.Target.Command)
	r.changeCityList(e.ID, e.Title, limit, func(ctx context.Context,
		d city.Directory) (string, error) {
		if err := r.checkCityFolder(ctx, d, e.Target.Name, e.Target.Path); err != nil {
			return "", err
		}
		c, err := r.Root().Cities.city(e.Target.Name, e.Target.Path)
		if err != nil {
			return "", err
		}
		receipt, err := c.Do(ctx, e.Target.Command)
		return e.Target.Name + ": " + receipt.Message, err
	})
}

func (e RegisterCity) start(r *Runner) {
	r.changeCityList(e.ID, "registering", taskDeadline, func(ctx context.Context,
		d city.Directory) (string, error) {
		reg, ok := d.(city.Registrar)
		if !ok {
			return "", errors.New(describe.Fixed)
		}
		in, err := reg.Register(ctx, e.Path)
		return in.Name + " is registered", err
	})
}

func (e UnregisterCity) start(r *Runner) {
	limit := city.ResponseLimit(city.Shutdown{})
	r.changeCityList(e.ID, "stopping", limit, func(ctx context.Context,
		d city.Directory) (string, error) {
		reg, ok := d.(city.Registrar)
		if !ok {
			return "", errors.New(describe.Fixed)
		}
		if err := r.checkCityFolder(ctx, d, e.Name, e.Path); err != nil {
			return "", err
		}
		receipt, err := reg.Unregister(ctx, e.Name)
		return receipt.Message, err
	})
}

func (r *Runner) checkCityFolder(ctx context.Context, d city.Directory, name, path string) error {
	all, err := d.Cities(ctx)
	if err != nil {
		return err
	}
	for _, in := range all {
		if in.Name == name && in.Path == path {
			return nil
		}
	}
	return fmt.Errorf("%s is no longer the city in %s", name, path)
}

func (r *Runner) changeCityList(id int, title string, limit time.Duration,
	do func(ctx context.Context, d city.Directory) (string, error)) {
	r.spawnWithin(limit, "fleet", func(ctx context.Context) {
		message, err := do(ctx, r.Root().Cities.Directory)
		failure := ""
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			failure = fmt.Sprintf("%s: no response within %s; the command might still take effect",
				title, limit)
		case err != nil:
			r.Log.Warn("an operation on the list of cities failed", "title", title, "error", err)
			failure = err.Error()
		}
		r.report(id, title, message, failure)
	})
}

func (d RunTasks) start(r *Runner) {
	r.Spawn("tasks", func(ctx context.Context) {
		res := Result{ID: d.ID, Title: d.Title, Total: len(d.Tasks), FailuresOnly: d.FailuresOnly}
		for i, e := range d.Tasks {
			message, failed := r.runTask(ctx, e)
			if failed != "" {
				res.Failures = append(res.Failures, failed)
				res.FailedIndexes = append(res.FailedIndexes, i)
				continue
			}
			res.Receipts = append(res.Receipts, message)
		}
		r.Mailbox.putResult(res)
	})
}

func (r *Runner) runTask(ctx context.Context, e Task) (message, failed string) {
	ctx, cancel := context.WithTimeout(ctx, taskDeadline)
	defer cancel()
	receipt, err := e.Run(ctx, r.City)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "", fmt.Sprintf("%s: no response within %s; the command might still take effect; "+
			"see the events", e.describe(), taskDeadline)
	case err != nil:
		r.Log.Warn("a task failed", "what", e.describe(), "error", err)
		return "", err.Error()
	case receipt.Message == "":
		return e.describe() + ": done", ""
	}
	return receipt.Message, ""
}

const taskDeadline = 60 * time.Second

const (
	HistoryPageSize = 500
	historyDeadline = 20 * time.Second
)

const inspectDeadline = 10 * time.Second
