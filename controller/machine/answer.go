package machine

import (
	"errors"
	"fmt"
	"slices"

	"gcity/city"
	"gcity/config"
	"gcity/controller/effect"
)

// reply answers a command that no event proves.
func (m *Machine) reply(id uint64, msg string) {
	m.do(effect.Reply{Answer: effect.Answer{ID: id, Receipt: city.Receipt{Message: msg}}})
}

func (m *Machine) refuseID(id uint64, code city.Code, msg string) {
	m.do(effect.Reply{Answer: effect.Answer{ID: id, Err: &city.Error{Code: code, Message: msg}}})
}

// refuseFlag refuses a flag that is not written, or not in force, because of err. Where that is a refused file, it
// says so to programs too.
func (m *Machine) refuseFlag(id uint64, msg string, err error) {
	e := &city.Error{Code: city.Conflict, Message: msg}
	if _, refused := errors.AsType[*config.Error](err); refused {
		e.Details = city.ConfigRefused
	}
	m.do(effect.Reply{Answer: effect.Answer{ID: id, Err: e}})
}

// refuseLoad answers those who waited for a configuration that is refused.
func (m *Machine) refuseLoad(ws []waiter, why string) {
	for _, w := range ws {
		if w.verb != "suspend" && w.verb != "resume" {
			m.refuseID(w.id, city.Invalid, why)
			continue
		}
		m.do(effect.Reply{Answer: effect.Answer{ID: w.id,
			Err: &city.Error{Code: city.Conflict, Details: city.ConfigRefused, Message: fmt.Sprintf(
				"it is written, but does not %s the city before the configuration on disk is "+
					"mended; the old one stays in force: %s", w.verb, why)}}})
	}
}

func (m *Machine) refuseAll(ws []waiter, code city.Code, msg string) {
	for _, w := range ws {
		m.refuseID(w.id, code, msg)
	}
}

// refuse answers everybody who waits for an agent.
func (m *Machine) refuse(a *record, code city.Code, msg string) {
	m.refuseAll(a.waiters, code, msg)
	a.waiters = nil
	for i := range a.typing {
		if t := &a.typing[i]; t.id != 0 {
			m.refuseID(t.id, code, msg)
			t.id = 0
		}
	}
	a.typing = a.typing[:min(1, len(a.typing))] // which is in flight (L1)
}

// resolve answers those who wait for an agent with one of these verbs, without an event.
func (m *Machine) resolve(a *record, msg string, verbs ...string) {
	for _, w := range m.takeWaiters(a, verbs...) {
		m.reply(w.id, msg)
	}
}

// take turns those who wait with one of these verbs into answers of an event.
func (m *Machine) take(a *record, msg string, verbs ...string) []effect.Answer {
	var out []effect.Answer
	for _, w := range m.takeWaiters(a, verbs...) {
		out = append(out, effect.Answer{ID: w.id, Receipt: city.Receipt{Message: msg}})
	}
	return out
}

func (m *Machine) takeWaiters(a *record, verbs ...string) []waiter {
	if len(a.waiters) == 0 {
		return nil
	}
	var out []waiter
	a.waiters = slices.DeleteFunc(a.waiters, func(w waiter) bool {
		if slices.Contains(verbs, w.verb) {
			out = append(out, w)
			return true
		}
		return false
	})
	return out
}
