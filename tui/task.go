package tui

import (
	"context"

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

// send runs errands; doing and what say in the status line that they are under way.
func send(m *model, doing, what string, errands ...errand) []effect {
	id := begin(m, doing+" "+what+" "+m.look.Glyphs.More)
	m.undo = undo{}
	return []effect{dispatch{id: id, title: doing, errands: errands}}
}
