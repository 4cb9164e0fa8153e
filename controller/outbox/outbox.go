// Package outbox types nudges and keys into agents' terminals, and queues those that must wait. It has no side
// effects: it only returns effects.
package outbox

import (
	"fmt"
	"slices"
	"time"

	"gcity/city"
	"gcity/controller/effect"
)

// Outbox is the queue of nudges and keys for one agent's terminal.
type Outbox struct {
	Agent       string
	queue       []entry     // oldest first; the first entry is in flight
	listed      bool        // Messages.outboxes contains the outbox
	Waiting     []*Delivery // in typing order
	Current     *Delivery   // nudge in the terminal's queue, or being typed; nil = none
	Finished    []*Delivery // the newest last
	NextAttempt time.Time
	// when a draft or typing began to delay the nudges; zero = no delay
	DelayedSince time.Time
}

// Delivery is a nudge for an agent.
type Delivery struct {
	ID           uint64
	Text         string // empty once the nudge has been typed or dropped
	First        string // first line of the nudge
	Lines, Bytes int
	Now          bool
	Depth        int  // see city.Nudge
	Held         bool // an attempt to type the nudge was held back
	Stage        city.Stage
	Why          string
	Hold         city.Hold // set if Why is about the agent's terminal
	Since        time.Time // start of the current stage
	QueuedAt     time.Time

	ReportTo uint64    // command that waits for a reply; 0 = already sent
	ReportBy time.Time // deadline for the reply to ReportTo

	By         city.Peer // sender of the nudge, unless a watchdog sent it
	Tier       string    // the watchdog that sent the nudge; "" = none
	ForSession string    // session that the watchdog's nudge is meant for
	// why the watchdog no longer needs the nudge, or ""
	Obsolete     string
	Cancelers    []Canceler // commands that try to cancel the nudge while it is being typed
	Life         string     // session that the nudge was typed into
	Output       uint64     // bytes that the session had printed when the nudge was typed
	OutputChecks int        // since the nudge was typed
}

func (d *Delivery) Draw() city.Send {
	s := city.Send{ID: d.ID, Text: d.First, Lines: d.Lines, Bytes: d.Bytes, Stage: d.Stage,
		Why: d.Why, Since: d.Since}
	if d.Stage == city.Queued {
		s.Hold = d.Hold
	}
	return s
}

// Payload returns the payload of an event about the nudge. It does not contain the nudge's text.
func (d *Delivery) Payload() map[string]any {
	about := map[string]any{"id": d.ID, "bytes": d.Bytes, "lines": d.Lines}
	if d.Depth > 0 {
		about["depth"] = d.Depth // see automation.Depth
	}
	return about
}

// Sender returns the actor of events about the nudge.
func (d *Delivery) Sender() string {
	if d.Tier != "" {
		return effect.ActorController
	}
	return d.By.Name()
}

func (d *Delivery) String() string {
	if d.Lines > 1 {
		return fmt.Sprintf("a %d-line nudge", d.Lines)
	}
	return "a nudge"
}

// All returns the nudges in this order: finished, current, queued.
func (b *Outbox) All() []*Delivery {
	all := slices.Clone(b.Finished)
	if b.Current != nil {
		all = append(all, b.Current)
	}
	return append(all, b.Waiting...)
}

// Queue adds a nudge behind the other nudges of its kind, or before them if atFront is set. Urgent nudges come before
// all others.
func (b *Outbox) Queue(d *Delivery, atFront bool) {
	urgent := slices.IndexFunc(b.Waiting, func(d *Delivery) bool { return !d.Now })
	if urgent < 0 {
		urgent = len(b.Waiting)
	}
	at := len(b.Waiting)
	switch {
	case d.Now && atFront:
		at = 0
	case d.Now || atFront:
		at = urgent
	}
	b.Waiting = slices.Insert(b.Waiting, at, d)
}

// WhyFull returns the reason why the outbox has no room for a nudge of this size, or "" if there is room.
func (b *Outbox) WhyFull(size int) string {
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
		return fmt.Sprintf("%d nudges, the maximum, are already queued for agent %s; run "+
			"`gcity agent unsend %s` to cancel them", n, b.Agent, b.Agent)
	case bytes > city.MaxSend:
		return fmt.Sprintf("with this nudge, the queue of agent %s would have %d bytes, but "+
			"the maximum is %d; wait until some nudges are typed, or put the text into a file "+
			"and send the file's name",
			b.Agent, bytes, city.MaxSend)
	}
	return ""
}

// Canceler is a command that has canceled N queued nudges and is also trying to cancel the one being typed.
type Canceler struct {
	ID uint64
	N  int
	By city.Peer
}

func (t Canceler) Receipt(agent string, n int) effect.Reply {
	return effect.Reply{ID: t.ID, Receipt: city.Receipt{
		Message: fmt.Sprintf("canceled queued nudges for agent %s: %d", agent, t.N+n)}}
}

// WhyOtherSession returns why a watchdog's nudge is not meant for the current session, or "" if it is.
func (d *Delivery) WhyOtherSession(life string) string {
	if d.ForSession != "" && d.ForSession != life {
		return "the session that it was meant for has ended"
	}
	return ""
}

// DraftEnd returns the time at which a nudge is dropped if drafts still delay it.
func (d *Delivery) DraftEnd(b *Outbox, limit time.Duration) time.Time {
	if d.QueuedAt.After(b.DelayedSince) {
		return d.QueuedAt.Add(limit)
	}
	return b.DelayedSince.Add(limit)
}

// Message returns the queued or current nudge with this ID, or nil.
func (b *Outbox) Message(id uint64) *Delivery {
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
