package controller

import (
	"slices"

	"gcity/city"
)

// reply answers a command that no event proves.
func (m *machine) reply(id uint64, msg string) {
	m.do(fxAnswer{answer{id: id, receipt: city.Receipt{Message: msg}}})
}

func (m *machine) refuseID(id uint64, code city.Code, msg string) {
	m.do(fxAnswer{answer{id: id, err: &city.Error{Code: code, Message: msg}}})
}

func (m *machine) refuseAll(ws []waiter, code city.Code, msg string) {
	for _, w := range ws {
		m.refuseID(w.id, code, msg)
	}
}

// refuse answers everybody who waits for an agent.
func (m *machine) refuse(a *record, code city.Code, msg string) {
	m.refuseAll(a.waiters, code, msg)
	a.waiters = nil
	for _, t := range a.typing {
		m.refuseID(t.id, code, msg)
	}
	a.typing = nil
}

// resolve answers those who wait for an agent with one of these verbs, without an event.
func (m *machine) resolve(a *record, msg string, verbs ...string) {
	for _, w := range m.takeWaiters(a, verbs...) {
		m.reply(w.id, msg)
	}
}

// take turns those who wait with one of these verbs into answers of an event.
func (m *machine) take(a *record, msg string, verbs ...string) []answer {
	var out []answer
	for _, w := range m.takeWaiters(a, verbs...) {
		out = append(out, answer{id: w.id, receipt: city.Receipt{Message: msg}})
	}
	return out
}

func (m *machine) takeWaiters(a *record, verbs ...string) []waiter {
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
