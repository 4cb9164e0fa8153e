package tui

import (
	"context"
	"errors"
	"fmt"

	"gcity/city"
	"gcity/mail"
)

// errand is something done to the city that is more than one command of it.
type errand interface {
	run(ctx context.Context, c city.Control) (city.Receipt, error)
	what() string // "mail to builder"
}

type (
	// sendMail sends a message.
	sendMail struct{ message mail.Message }
	// archiveMail puts a message away.
	archiveMail struct{ id string }
	// readMail marks a message as read.
	readMail struct{ id string }
	// sling hands work to somebody.
	sling struct{ request city.SlingRequest }
)

func (e sendMail) what() string    { return "mail to " + e.message.To }
func (e archiveMail) what() string { return "archiving " + e.id }
func (e readMail) what() string    { return "reading " + e.id }
func (e sling) what() string {
	return "handing " + e.request.Bead + " to " + e.request.Target
}

func (e sendMail) run(ctx context.Context, c city.Control) (city.Receipt, error) {
	return city.SendMail(ctx, c, e.message)
}

func (e archiveMail) run(ctx context.Context, c city.Control) (city.Receipt, error) {
	return city.ArchiveMail(ctx, c, e.id)
}

func (e readMail) run(ctx context.Context, c city.Control) (city.Receipt, error) {
	_, err := city.ReadMail(ctx, c, e.id)
	return city.Receipt{Message: e.id + " is read"}, err
}

func (e sling) run(ctx context.Context, c city.Control) (city.Receipt, error) {
	return city.Sling(ctx, c, e.request)
}

// dispatch runs errands one after the other and answers with one result.
type dispatch struct {
	id      int // of the status line that waits for it
	title   string
	errands []errand
	quiet   bool // only a failure is news
}

func (dispatch) effect() {}

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

// send runs errands; doing and what say in the status line that they are under way.
func (m *model) send(doing, what string, errands ...errand) []effect {
	id := m.begin(doing + " " + what + " " + m.look.Glyphs.More)
	m.undo = undo{}
	return []effect{dispatch{id: id, title: doing, errands: errands}}
}
