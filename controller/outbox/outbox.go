// Package outbox holds the texts that wait to be typed into one agent.
package outbox

import (
	"fmt"
	"slices"
	"time"

	"gcity/city"
	"gcity/controller/effect"
)

// Outbox has the queued texts of one agent.
type Outbox struct {
	Waiting []*Delivery // in typing order
	Current *Delivery   // in the queue of the terminal, or being typed; nil: empty
	Over    []*Delivery // newest last
	Again   time.Time   // queued texts are not tried before, except urgent ones
	// since when a draft or a user's typing holds texts back; zero = they are not held back
	Disturbed time.Time
}

// Delivery is a text for an agent.
type Delivery struct {
	ID           uint64
	Text         string // "" when it is over
	First        string // its first line, for display
	Lines, Bytes int
	Now          bool
	Held         bool // it was tried and held back
	Stage        city.Stage
	Why          string
	Since        time.Time // when it reached its stage
	Came         time.Time

	Asker    uint64    // the command that waits for a report; 0 = it was answered
	AnswerBy time.Time // at the latest

	Tier     string  // the watchdog that sent it; "" = a user
	Meant    string  // the session that the watchdog meant
	Obsolete string  // why it is obsolete; "" = it is not
	Takers   []Taker // commands that take it back while it is being typed
	Life     string  // the session that it was typed into
	Output   uint64  // bytes printed until then
	Looks    int     // checks for its acknowledgement
}

func (d *Delivery) Draw() city.Send {
	return city.Send{ID: d.ID, Text: d.First, Lines: d.Lines, Bytes: d.Bytes, Stage: d.Stage,
		Why: d.Why, Since: d.Since}
}

// Payload returns the payload of an event about it, without the text.
func (d *Delivery) Payload() map[string]any {
	return map[string]any{"id": d.ID, "bytes": d.Bytes, "lines": d.Lines}
}

// Sender returns the actor for the log.
func (d *Delivery) Sender() string {
	if d.Tier != "" {
		return effect.ActorController
	}
	return effect.ActorOperator
}

func (d *Delivery) String() string {
	if d.Lines > 1 {
		return fmt.Sprintf("a text of %d lines", d.Lines)
	}
	return "a line"
}

// All returns the texts for display: finished, in progress, queued.
func (b *Outbox) All() []*Delivery {
	all := slices.Clone(b.Over)
	if b.Current != nil {
		all = append(all, b.Current)
	}
	return append(all, b.Waiting...)
}

// Queue adds a text to the queue: urgent texts first, otherwise in order. With back, it becomes the first of its
// kind.
func (b *Outbox) Queue(d *Delivery, back bool) {
	urgent := slices.IndexFunc(b.Waiting, func(d *Delivery) bool { return !d.Now })
	if urgent < 0 {
		urgent = len(b.Waiting)
	}
	at := len(b.Waiting)
	switch {
	case d.Now && back:
		at = 0
	case d.Now || back:
		at = urgent
	}
	b.Waiting = slices.Insert(b.Waiting, at, d)
}

// Room returns why another text is refused, "" if it is accepted.
func (b *Outbox) Room(agent string, size int) string {
	n, bytes := len(b.Waiting), size
	if b.Current != nil {
		n++
		bytes += b.Current.Bytes
	}
	for _, d := range b.Waiting {
		bytes += d.Bytes
	}
	switch {
	case n >= city.MaxSends:
		return fmt.Sprintf("%d texts are already queued for agent %s, the maximum: `gcity agent "+
			"unsend %s` takes them back", n, agent, agent)
	case bytes > city.MaxSend:
		return fmt.Sprintf("the texts that wait for agent %s would be %d bytes together, and %d "+
			"are kept: wait until some are typed, or put the text in a file and send its name",
			agent, bytes, city.MaxSend)
	}
	return ""
}

// Taker is a command that takes back a text that is being typed, and n queued ones.
type Taker struct {
	ID uint64
	N  int
}

func (t Taker) Receipt(agent string, n int) effect.Answer {
	return effect.Answer{ID: t.ID, Receipt: city.Receipt{
		Message: fmt.Sprintf("taken back: %d of the texts for agent %s", t.N+n, agent)}}
}

// MeantFor returns why a watchdog's text is not for the current session, "" if it is.
func (d *Delivery) MeantFor(life string) string {
	if d.Meant != "" && d.Meant != life {
		return "the session that it was for has ended"
	}
	return ""
}

// DraftEnd returns when drafts have held a text back for too long.
func (d *Delivery) DraftEnd(b *Outbox, limit time.Duration) time.Time {
	if d.Came.After(b.Disturbed) {
		return d.Came.Add(limit)
	}
	return b.Disturbed.Add(limit)
}

// Text returns the text with an ID, nil if it does not exist.
func (b *Outbox) Text(id uint64) *Delivery {
	for _, d := range b.Waiting {
		if d.ID == id {
			return d
		}
	}
	if b.Current != nil && b.Current.ID == id {
		return b.Current
	}
	return nil
}
