package tui

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

// clip gives a text to the machine's clipboard by the first program for it that is there.
func (r *runner) clip(e clip) {
	r.spawn("clipboard", func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, clipDeadline)
		defer cancel()
		res := result{id: e.id, title: "copying", total: 1}
		said, err := r.copyBy(ctx, e.text)
		switch {
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			res.failures = []string{fmt.Sprintf("the %s is perhaps not copied: the clipboard "+
				"program did not end within %s", e.what, clipDeadline)}
		case err != nil:
			res.failures = []string{"cannot copy the " + e.what + ": " + err.Error()}
		default:
			res.receipts = []string{"copied the " + e.what + " by " + said}
		}
		r.box.putResult(res)
	})
}

// copyBy runs the program for the screen that this one is on, and names it.
func (r *runner) copyBy(ctx context.Context, text string) (string, error) {
	argv := clipProgram(r.getenv)
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return "", fmt.Errorf("%s is not installed", argv[0])
	}
	cmd := exec.CommandContext(ctx, path, argv[1:]...)
	cmd.Stdin = strings.NewReader(text)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	cmd.WaitDelay = time.Second
	// it serves the clipboard from the background
	if err := cmd.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		if why := strings.TrimSpace(complaint.String()); why != "" {
			return "", fmt.Errorf("%s: %s", argv[0], why)
		}
		return "", fmt.Errorf("%s: %w", argv[0], err)
	}
	return argv[0], nil
}

// dig asks the city for a page of older events.
func (r *runner) dig(q dig) {
	r.spawn("history", func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, digDeadline)
		defer cancel()
		d := dug{id: q.id}
		found, err := r.city.History(ctx, events.Query{Before: q.before, Limit: digPage})
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			d.problem = fmt.Sprintf("the city did not say within %s", digDeadline)
		case err != nil:
			d.problem = err.Error()
		}
		if err != nil {
			r.log.Warn("looking for older events", "error", err)
		}
		for i := len(found) - 1; i >= 0; i-- { // the newest came first
			d.events = append(d.events, found[i])
		}
		d.begins = err == nil && len(found) < digPage
		r.box.put(func(n *news) { n.dug = append(n.dug, d) })
	})
}

// inspect asks the city and puts the answer into the mailbox.
func (r *runner) inspect(q inspect) {
	r.spawn("inspection", func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, inspectDeadline)
		defer cancel()
		about, err := r.city.Inspect(ctx, q.agent)
		in := inspected{id: q.id, about: about}
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			in.problem = fmt.Sprintf("the city did not say within %s", inspectDeadline)
		case err != nil:
			in.problem = err.Error()
		}
		if err != nil {
			r.log.Warn("looking at an agent", "agent", q.agent, "error", err)
		}
		r.box.put(func(n *news) { n.inspected = append(n.inspected, in) })
	})
}

// save writes a text into a file and puts the outcome into the mailbox. What is there already is never touched.
func (r *runner) save(s save) {
	r.spawn("save", func(context.Context) {
		res := result{id: s.id, title: "saving", total: 1}
		path, err := writeNew(s.path, s.text)
		if err != nil {
			r.log.Warn("saving an agent's output", "error", err)
			res.failures = []string{err.Error()}
		} else {
			res.receipts = []string{fmt.Sprintf("saved %s to %s", widget.Count(s.lines, "line"),
				path)}
		}
		r.box.putResult(res)
	})
}

// steer carries an order out, unless the name is another city's by now.
func (r *runner) steer(e steer) {
	r.toDirectory(e.id, e.title, func(ctx context.Context, d city.Directory) (string, error) {
		if err := r.same(ctx, d, e.order.name, e.order.path); err != nil {
			return "", err
		}
		c, err := r.top().tour.cityIn(e.order.name, e.order.path)
		if err != nil {
			return "", err
		}
		receipt, err := c.Do(ctx, e.order.command)
		return e.order.name + ": " + receipt.Message, err
	})
}

func (r *runner) enroll(e enroll) {
	r.toDirectory(e.id, "registering", func(ctx context.Context, d city.Directory) (string, error) {
		reg, ok := d.(city.Registrar)
		if !ok {
			return "", errors.New(describe.Fixed)
		}
		in, err := reg.Register(ctx, e.path)
		return in.Name + " is registered", err
	})
}

func (r *runner) dismiss(e dismiss) {
	r.toDirectory(e.id, "stopping", func(ctx context.Context, d city.Directory) (string, error) {
		reg, ok := d.(city.Registrar)
		if !ok {
			return "", errors.New(describe.Fixed)
		}
		if err := r.same(ctx, d, e.name, e.path); err != nil {
			return "", err
		}
		receipt, err := reg.Unregister(ctx, e.name)
		return receipt.Message, err
	})
}

// same is an error where a name is not that of the city in a folder any more.
func (r *runner) same(ctx context.Context, d city.Directory, name, path string) error {
	all, err := d.Cities(ctx)
	if err != nil {
		return err
	}
	for _, in := range all {
		if in.Name == name && in.Path == path {
			return nil
		}
	}
	return fmt.Errorf("nothing is done: %s is not the city in %s any more", name, path)
}

// toDirectory does something with the list of the cities, and puts how it ended into the mailbox.
func (r *runner) toDirectory(id int, title string,
	do func(ctx context.Context, d city.Directory) (string, error)) {
	r.spawn("fleet", func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, commandDeadline)
		defer cancel()
		res := result{id: id, title: title, total: 1}
		said, err := do(ctx, r.top().tour.o.Cities)
		switch {
		case errors.Is(err, context.DeadlineExceeded):
			res.failures = []string{fmt.Sprintf("%s: no answer within %s; it may still happen",
				title, commandDeadline)}
		case err != nil:
			r.log.Warn("a command to the cities failed", "title", title, "error", err)
			res.failures = []string{err.Error()}
		default:
			res.receipts = []string{said}
		}
		r.box.putResult(res)
	})
}

// dispatch runs errands and puts their outcome into the mailbox.
func (r *runner) dispatch(d dispatch) {
	r.spawn("errand", func(ctx context.Context) {
		res := result{id: d.id, title: d.title, total: len(d.errands), quiet: d.quiet}
		for i, e := range d.errands {
			message, failed := r.errand(ctx, e)
			if failed != "" {
				res.failures, res.refused = append(res.failures, failed), append(res.refused, i)
				continue
			}
			res.receipts = append(res.receipts, message)
		}
		r.box.putResult(res)
	})
}

// errand runs one, and says why it failed, "" = it did not.
func (r *runner) errand(ctx context.Context, e errand) (message, failed string) {
	ctx, cancel := context.WithTimeout(ctx, commandDeadline)
	defer cancel()
	receipt, err := e.run(ctx, r.city)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return "", fmt.Sprintf("%s: no answer within %s; it may still happen, see the events",
			e.what(), commandDeadline)
	case err != nil:
		r.log.Warn("an errand failed", "what", e.what(), "error", err)
		return "", err.Error()
	case receipt.Message == "":
		return e.what() + ": done", ""
	}
	return receipt.Message, ""
}
