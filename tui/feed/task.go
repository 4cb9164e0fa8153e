package feed

import (
	"context"

	"gcity/city"
	"gcity/mail"
)

// Task is an operation on the city that can require several commands.
type Task interface {
	Run(ctx context.Context, c city.Control) (city.Receipt, error)
	describe() string // "mail to builder"
}

type (
	// SendMail sends a message.
	SendMail struct{ Message mail.Message }
	// ArchiveMail archives a message.
	ArchiveMail struct{ ID string }
	// ReadMail marks a message as read.
	ReadMail struct{ ID string }
	// Sling assigns work to an agent or a pool.
	Sling struct{ Request city.SlingRequest }
)

func (e SendMail) describe() string    { return "mail to " + e.Message.To }
func (e ArchiveMail) describe() string { return "archiving " + e.ID }
func (e ReadMail) describe() string    { return "marking " + e.ID + " as read" }
func (e Sling) describe() string {
	return "slinging " + e.Request.Bead + " to " + e.Request.Target
}

func (e SendMail) Run(ctx context.Context, c city.Control) (city.Receipt, error) {
	return city.SendMail(ctx, c, e.Message)
}

func (e ArchiveMail) Run(ctx context.Context, c city.Control) (city.Receipt, error) {
	return city.ArchiveMail(ctx, c, e.ID, "")
}

func (e ReadMail) Run(ctx context.Context, c city.Control) (city.Receipt, error) {
	_, err := city.ReadMail(ctx, c, e.ID)
	return city.Receipt{Message: e.ID + " was marked as read"}, err
}

func (e Sling) Run(ctx context.Context, c city.Control) (city.Receipt, error) {
	return city.Sling(ctx, c, e.Request)
}

// RunTasks runs tasks one after the other. The response is one Result.
type RunTasks struct {
	ID           int // ID of the status line that waits for the result
	Title        string
	Tasks        []Task
	FailuresOnly bool
}
