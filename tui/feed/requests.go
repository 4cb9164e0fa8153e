package feed

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"gcity/city"
	"gcity/describe"
	"gcity/events"
	"gcity/tui/widget"
)

// CopyText copies text with a clipboard program.
func (r *Runner) CopyText(e Copy) {
	r.Spawn("clipboard", func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, clipboardDeadline)
		defer cancel()
		res := Result{ID: e.ID, Title: "copying", Total: 1}
		program, err := r.copyWithProgram(ctx, e.Text)
		switch {
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			res.Failures = []string{fmt.Sprintf("the %s might not have been copied: the clipboard "+
				"program did not exit within %s", e.What, clipboardDeadline)}
		case err != nil:
			res.Failures = []string{"cannot copy the " + e.What + ": " + err.Error()}
		default:
			res.Receipts = []string{"copied the " + e.What + " with " + program}
		}
		r.Mailbox.putResult(res)
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

// LoadHistory requests a page of older events from the city.
func (r *Runner) LoadHistory(q LoadHistory) {
	r.Spawn("history", func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, historyDeadline)
		defer cancel()
		d := LoadedHistory{ID: q.ID}
		found, err := r.City.History(ctx, events.Query{Before: q.Before, Limit: HistoryPageSize})
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			d.Problem = fmt.Sprintf("no response from the city within %s", historyDeadline)
		case err != nil:
			d.Problem = err.Error()
		}
		if err != nil {
			r.Log.Warn("cannot load older events", "error", err)
		}
		for i := len(found) - 1; i >= 0; i-- { // the city returns the newest event first
			d.Events = append(d.Events, found[i])
		}
		d.Complete = err == nil && len(found) < HistoryPageSize
		r.Mailbox.Put(func(n *News) { n.HistoryPages = append(n.HistoryPages, d) })
	})
}

// Inspect requests details of an agent and puts the result into the mailbox.
func (r *Runner) Inspect(q Inspect) {
	r.Spawn("inspection", func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, inspectDeadline)
		defer cancel()
		inspection, err := r.City.Inspect(ctx, q.Agent)
		in := Inspected{ID: q.ID, Inspection: inspection}
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			in.Problem = fmt.Sprintf("no response from the city within %s", inspectDeadline)
		case err != nil:
			in.Problem = err.Error()
		}
		if err != nil {
			r.Log.Warn("cannot inspect an agent", "agent", q.Agent, "error", err)
		}
		r.Mailbox.Put(func(n *News) { n.Inspected = append(n.Inspected, in) })
	})
}

// Save writes text to a new file and puts the result into the mailbox.
func (r *Runner) Save(s Save) {
	r.Spawn("save", func(context.Context) {
		res := Result{ID: s.ID, Title: "saving", Total: 1}
		path, err := writeNew(s.Path, s.Text)
		if err != nil {
			r.Log.Warn("cannot save an agent's output", "error", err)
			res.Failures = []string{err.Error()}
		} else {
			res.Receipts = []string{fmt.Sprintf("saved %s to %s", widget.Count(s.Lines, "line"),
				path)}
		}
		r.Mailbox.putResult(res)
	})
}

// SendCityCommand sends a command to a city. It fails if the city's name now refers to a different city.
func (r *Runner) SendCityCommand(e SendCityCommand) {
	r.changeCityList(e.ID, e.Title, func(ctx context.Context, d city.Directory) (string, error) {
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

func (r *Runner) RegisterCity(e RegisterCity) {
	r.changeCityList(e.ID, "registering", func(ctx context.Context,
		d city.Directory) (string, error) {
		reg, ok := d.(city.Registrar)
		if !ok {
			return "", errors.New(describe.Fixed)
		}
		in, err := reg.Register(ctx, e.Path)
		return in.Name + " is registered", err
	})
}

func (r *Runner) UnregisterCity(e UnregisterCity) {
	r.changeCityList(e.ID, "stopping", func(ctx context.Context, d city.Directory) (string, error) {
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

func (r *Runner) changeCityList(id int, title string,
	do func(ctx context.Context, d city.Directory) (string, error)) {
	r.Spawn("fleet", func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, commandDeadline)
		defer cancel()
		res := Result{ID: id, Title: title, Total: 1}
		message, err := do(ctx, r.Root().Cities.Directory)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			res.Failures = []string{fmt.Sprintf("%s: no response within %s; the command might "+
				"still take effect",
				title, commandDeadline)}
		case err != nil:
			r.Log.Warn("an operation on the list of cities failed", "title", title, "error", err)
			res.Failures = []string{err.Error()}
		default:
			res.Receipts = []string{message}
		}
		r.Mailbox.putResult(res)
	})
}

// RunTasks runs tasks and puts their result into the mailbox.
func (r *Runner) RunTasks(d RunTasks) {
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
	ctx, cancel := context.WithTimeout(ctx, commandDeadline)
	defer cancel()
	receipt, err := e.Run(ctx, r.City)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "", fmt.Sprintf("%s: no response within %s; the command might still take effect, "+
			"see the events",
			e.describe(), commandDeadline)
	case err != nil:
		r.Log.Warn("a task failed", "what", e.describe(), "error", err)
		return "", err.Error()
	case receipt.Message == "":
		return e.describe() + ": done", ""
	}
	return receipt.Message, ""
}

const (
	HistoryPageSize = 500
	historyDeadline = 20 * time.Second
)

const inspectDeadline = 10 * time.Second
