package machine

import (
	"fmt"

	"gcity/city"
	"gcity/controller/effect"
)

// rejectLoad rejects the commands that waited for a configuration that was rejected.
func (ld *loader) rejectLoad(ws []waiter, why string) {
	for _, w := range ws {
		if w.verb != "suspend" && w.verb != "resume" {
			ld.m.step.Reject(w.id, city.Invalid, why)
			continue
		}
		ld.m.step.Do(effect.SendReply{Reply: effect.Reply{ID: w.id,
			Err: &city.Error{Code: city.Conflict, Details: city.ConfigRefused, Message: fmt.Sprintf(
				"the change was written but is not in force: it will %s the city once the "+
					"configuration on disk is valid; until then the old configuration applies: %s",
				w.verb,
				why)}}})
	}
}

func (cs *commands) rejectAll(ws []waiter, code city.Code, msg string) {
	for _, w := range ws {
		cs.m.step.Reject(w.id, code, msg)
	}
}

// reject rejects all commands that wait for an agent.
func (cs *commands) reject(a *record, code city.Code, msg string) {
	cs.rejectAll(a.waiters, code, msg)
	a.waiters = nil
	cs.m.messages.Reject(a.out, code, msg)
}

// resolve replies to the commands with one of these verbs that wait for an agent. It does not record an event.
func (cs *commands) resolve(a *record, msg string, verbs ...string) {
	for _, w := range a.take(verbs...) {
		cs.m.step.Reply(w.id, msg)
	}
}

// repliesFor removes the commands with one of these verbs that wait for an agent. It returns their replies, which are
// sent after an event is recorded.
func (cs *commands) repliesFor(a *record, msg string, verbs ...string) []effect.Reply {
	var out []effect.Reply
	for _, w := range a.take(verbs...) {
		out = append(out, effect.Reply{ID: w.id, Receipt: city.Receipt{Message: msg}})
	}
	return out
}
