// Package step collects what one step of the machine returns: effects, and whether a snapshot shows anything new.
package step

import (
	"errors"

	"gcity/beads"
	"gcity/city"
	"gcity/config"
	"gcity/controller/effect"
)

// Output is what a step of the machine returns: effects in their order, and whether a snapshot shows anything new.
type Output struct {
	Effects []effect.Effect
	// after all others of this step: a new session starts before the old one is captured
	late    []effect.Effect
	Changed bool // a snapshot shows something that the previous one did not
	peers   peers
}

// Begin empties the output for the next step.
func (o *Output) Begin() { o.Effects = o.Effects[:0] }

// DoLate adds an effect after all others of this step.
func (o *Output) DoLate(f effect.Effect) { o.late = append(o.late, f) }

// AppendLate appends the late effects to the others.
func (o *Output) AppendLate() {
	o.Effects = append(o.Effects, o.late...)
	o.late = o.late[:0]
}

// TakeFrom starts to handle a command that came over TCP from the address from.
func (o *Output) TakeFrom(id uint64, from string) {
	if o.peers.waiting == nil {
		o.peers.waiting = map[uint64]string{}
	}
	o.peers.now, o.peers.waiting[id] = from, from
}

// Taken ends the handling of a command.
func (o *Output) Taken() { o.peers.now = "" }

// peers are the peers of commands that came over TCP, so that the events that a command causes say where it came
// from.
type peers struct {
	now     string            // of the current command
	waiting map[uint64]string // by ID of an unanswered command
}

// stamp adds to an event the peer of the command that caused it.
func (p *peers) stamp(f effect.Effect) effect.Effect {
	switch f := f.(type) {
	case effect.Record:
		f.Event.Peer = p.now
		for _, a := range f.Answers {
			if from, ok := p.waiting[a.ID]; ok {
				f.Event.Peer = from
				delete(p.waiting, a.ID)
			}
		}
		return f
	case effect.Emit:
		f.Event.Peer = p.waiting[f.ID]
		delete(p.waiting, f.ID)
		return f
	case effect.Reply:
		delete(p.waiting, f.Answer.ID)
	}
	return f
}

// Reply answers a command that causes no event.
func (o *Output) Reply(id uint64, msg string) {
	o.Do(effect.Reply{Answer: effect.Answer{ID: id, Receipt: city.Receipt{Message: msg}}})
}

// Refuse answers a command with an error.
func (o *Output) Refuse(id uint64, code city.Code, msg string) {
	o.Do(effect.Reply{Answer: effect.Answer{ID: id, Err: &city.Error{Code: code, Message: msg}}})
}

// RefuseFlag refuses a suspend or resume whose flag is not written or not in force. If a configuration is invalid,
// the error says so in its details.
func (o *Output) RefuseFlag(id uint64, msg string, err error) {
	e := &city.Error{Code: city.Conflict, Message: msg}
	if _, refused := errors.AsType[*config.Error](err); refused {
		e.Details = city.ConfigRefused
	}
	o.Do(effect.Reply{Answer: effect.Answer{ID: id, Err: e}})
}

// Do adds an effect.
func (o *Output) Do(f effect.Effect) { o.Effects = append(o.Effects, o.peers.stamp(f)) }

// Note sets a fact that a snapshot shows and marks the change.
func (o *Output) Note(fact *string, value string) {
	if *fact != value {
		*fact = value
		o.Changed = true
	}
}

// Lose notes why work cannot be used, or clears the note. The error of a closed circuit breaker is shown once for
// the whole store instead.
func (o *Output) Lose(fact *string, what string, err error) {
	if _, closed := errors.AsType[*beads.ClosedError](err); closed || err == nil {
		o.Note(fact, "")
		return
	}
	o.Note(fact, what+": "+err.Error())
}
