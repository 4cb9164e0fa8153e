// Package step collects the results of one step of the machine: effects, and whether a new snapshot is needed.
package step

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gcity/beads"
	"gcity/city"
	"gcity/config"
	"gcity/controller/effect"
	"gcity/events"
)

// Output is the result of one step: the effects in order, and whether a new snapshot is needed.
type Output struct {
	Effects []effect.Effect
	// effects that follow all others, so that a new session starts before old output is saved
	late    []effect.Effect
	Changed bool              // a new snapshot would differ from the previous one
	caller  city.Peer         // sender of the current command
	remote  map[uint64]string // address of the sender, by command ID, until the reply
}

// Begin clears the output for the next step.
func (o *Output) Begin() { o.Effects = o.Effects[:0] }

// DoLate adds an effect that is placed after all other effects of this step.
func (o *Output) DoLate(f effect.Effect) { o.late = append(o.late, f) }

// AppendLate moves the late effects to the end of Effects.
func (o *Output) AppendLate() {
	o.Effects = append(o.Effects, o.late...)
	o.late = o.late[:0]
}

// TakeFrom records the sender of the command that is being handled.
func (o *Output) TakeFrom(id uint64, p city.Peer) {
	o.caller = p
	if p.Remote {
		if o.remote == nil {
			o.remote = map[uint64]string{}
		}
		o.remote[id] = p.From
	}
}

// Taken records that the command has been handled.
func (o *Output) Taken() { o.caller = city.Peer{} }

// Caller returns the sender of the command that is being handled. It returns the zero value, which stands for the
// operator, if no command is being handled.
func (o *Output) Caller() city.Peer { return o.caller }

// addPeer sets the address of an event's sender.
func (o *Output) addPeer(f effect.Effect) effect.Effect {
	switch f := f.(type) {
	case effect.Record:
		f.Event.Peer = cmp.Or(f.Event.Peer, o.caller.Address())
		for _, a := range f.Replies {
			if from, ok := o.remote[a.ID]; ok {
				f.Event.Peer = from
				delete(o.remote, a.ID)
			}
		}
		return f
	case effect.Emit:
		f.Event.Peer = o.remote[f.ID]
		delete(o.remote, f.ID)
		return f
	case effect.SendReply:
		delete(o.remote, f.Reply.ID)
	}
	return f
}

// Reply replies to a command that does not cause an event.
func (o *Output) Reply(id uint64, format string, args ...any) {
	o.Do(effect.SendReply{Reply: effect.Reply{ID: id,
		Receipt: city.Receipt{Message: fmt.Sprintf(format, args...)}}})
}

// Reject replies to a command with an error.
func (o *Output) Reject(id uint64, code city.Code, format string, args ...any) {
	o.Do(effect.SendReply{Reply: effect.Reply{ID: id, Err: city.Errorf(code, format, args...)}})
}

// RejectFlag rejects a suspend or resume command because its flag did not take effect.
func (o *Output) RejectFlag(id uint64, msg string, err error) {
	e := &city.Error{Code: city.Conflict, Message: msg}
	if _, refused := errors.AsType[*config.Error](err); refused {
		e.Details = city.ConfigRefused
	} else if TrustCommand(err) != "" {
		e.Details = city.ConfigUntrusted
	}
	if own, ok := errors.AsType[*city.Error](err); ok {
		e.Code = own.Code
	}
	o.Do(effect.SendReply{Reply: effect.Reply{ID: id, Err: e}})
}

// RejectLoad rejects a command that waits for the configuration on disk. verb is "reload", or "suspend" or "resume" for
// the city. A reload is rejected with the code, unless the configuration is not trusted.
func (o *Output) RejectLoad(id uint64, verb string, code city.Code, err error) {
	switch {
	case verb != "reload":
		o.RejectFlag(id, NotInEffect("the city", verb, err), err)
	case TrustCommand(err) != "":
		o.RejectFlag(id, "changes on disk wait for your trust: "+err.Error(), err)
	default:
		o.Reject(id, code, "%v", err)
	}
}

// TrustCommand returns the command with which the user can trust a rejected configuration, or "".
func TrustCommand(err error) string {
	if u, ok := errors.AsType[effect.Untrusted](err); ok {
		return u.Command()
	}
	return ""
}

// NotInEffect returns the message for RejectFlag if the flag was written but is not in effect. verb is "suspend" or
// "resume", and err may be nil.
func NotInEffect(what, verb string, err error) string {
	if err != nil {
		return fmt.Sprintf("the change was written, but does not %s %s yet, because the "+
			"configuration on disk is not in force: %v", verb, what, err)
	}
	return fmt.Sprintf("%s was not %sed, because another change undid the command's change", what,
		strings.TrimSuffix(verb, "e"))
}

// Do adds an effect.
func (o *Output) Do(f effect.Effect) { o.Effects = append(o.Effects, o.addPeer(f)) }

// Record adds an event. Its actor is the controller, unless the event has one.
func (o *Output) Record(e events.Event, replies ...effect.Reply) {
	e.Actor = cmp.Or(e.Actor, effect.ActorController)
	o.Do(effect.Record{Event: e, Replies: replies})
}

// Note sets a fact that snapshots show. It sets Changed if the fact has changed.
func (o *Output) Note(fact *string, value string) {
	if *fact != value {
		*fact = value
		o.Changed = true
	}
}

// Decided adds a decision to the newest decisions of an agent or a pool.
func (o *Output) Decided(now time.Time, kept *[]city.Decision, what, why string) {
	if len(*kept) == city.MaxDecisions {
		*kept = slices.Delete(*kept, 0, 1)
	}
	*kept = append(*kept, city.Decision{At: now, What: what, Why: why})
	o.Changed = true
}

// Lose sets the reason why an operation fails. It clears the reason if err is nil or comes from an open circuit
// breaker.
func (o *Output) Lose(fact *string, what string, err error) {
	if _, closed := errors.AsType[*beads.ClosedError](err); closed || err == nil {
		o.Note(fact, "")
		return
	}
	o.Note(fact, what+": "+err.Error())
}

// Payload encodes the payload of an event as JSON.
func Payload(v map[string]any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return data
}

// AddToPayload returns an event's payload with more fields, or the payload itself if it is not a JSON object.
func AddToPayload(payload json.RawMessage, more map[string]any) json.RawMessage {
	about := map[string]any{}
	if json.Unmarshal(payload, &about) != nil {
		return payload
	}
	maps.Copy(about, more)
	return Payload(about)
}

// Earlier returns the earlier of two times. A zero time means none.
func Earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// Numbered formats a process ID. It returns "" for an unknown ID.
func Numbered(pid int, format string) string {
	if pid <= 0 {
		return ""
	}
	return fmt.Sprintf(format, pid)
}

// StillRunningAdvice is advice for users if sessions might still be running.
const StillRunningAdvice = "`gcity doctor` finds sessions that are still running; `gcity stop` " +
	"tries to stop them again"

// VerbFor returns the verb of a command that suspends or resumes.
func VerbFor(suspend bool) string {
	if suspend {
		return "suspend"
	}
	return "resume"
}
