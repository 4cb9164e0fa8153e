package controller

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"gcity/agent"
	"gcity/events"
	"gcity/internal/redact"
	"gcity/restart"
)

// configured takes the result of a load: the new configuration comes into force at once and whole, or not at all (L6).
func (m *machine) configured(now time.Time, in inConfig) {
	m.loading, m.sighted = false, in.revision
	waiting := m.asking
	m.asking = nil
	err := in.err
	if err == nil && in.conf != nil && m.conf != nil && in.conf.name != m.conf.name {
		err = fmt.Errorf("workspace.name became %q; a running city keeps its name: stop it first, or change it back to %q", in.conf.name, m.conf.name)
	}
	fresh := in.conf != nil && (m.conf == nil || in.conf.revision != m.conf.revision || in.found)
	switch {
	case err != nil:
		m.letGo()
		m.reject(in.revision, err)
		m.refuseLoad(waiting, err.Error())
	case fresh && m.removesMost(in.conf) && !m.confirmed(waiting, in.conf):
		m.hold(now, in.conf, waiting)
	case fresh:
		m.letGo()
		msg := m.adopt(now, in.conf)
		m.note(&m.rejected, "")
		m.refused = "" // should it come back, that is news
		m.accept(waiting, msg)
	case in.conf == nil && m.held != nil && in.revision == m.held.revision: // it still waits for somebody's word
	case in.conf == nil && in.revision == m.refused && m.rejected != "":
		m.refuseLoad(waiting, m.rejected)
	case in.conf == nil && in.revision != m.conf.revision: // sighted: the next patrol loads it if it stays
	default:
		if m.held != nil || m.rejected != "" { // what the log said of the file is no longer so
			m.do(fxRecord{event: events.Event{Type: events.ConfigReloaded, Actor: controller, Message: "the file says again what is in force: revision " + short(m.conf.revision)}})
		}
		m.letGo()
		m.note(&m.rejected, "")
		m.refused = ""
		m.accept(waiting, "nothing changed: revision "+short(m.conf.revision)+" is in force")
		for _, a := range m.order {
			if len(a.waiters) > 0 { // they may be where they are wanted already
				m.decide(now, a)
			}
		}
	}
	for _, w := range waiting {
		delete(m.confirms, w.id)
	}
	if m.reload {
		m.load()
		return
	}
	m.unfulfilled(m.inTheWay(err))
}

// unfulfilled answers those whose flag was written but is not in force: the file was refused, or changed again.
func (m *machine) unfulfilled(err error) {
	if len(m.edits) > 0 {
		return
	}
	for _, a := range m.order {
		if len(a.waiters) == 0 || a.want == nil {
			continue
		}
		if a.want.Suspended == "" {
			m.resolve(a, "agent "+a.name+" is not suspended", "resume")
		}
		verb := verbFor(a.want.Suspended == "")
		msg := fmt.Sprintf("the configuration in force does not %s agent %s", verb, a.name)
		if err != nil {
			msg += ": " + err.Error()
		}
		for _, w := range m.takeWaiters(a, verb) {
			m.refuseFlag(w.id, msg, err)
		}
	}
	m.unfulfilledGroups(err)
}

// accept answers those who waited for the configuration.
func (m *machine) accept(waiting []waiter, msg string) {
	for _, w := range waiting {
		switch w.verb {
		case "suspend":
			m.reply(w.id, "the city is suspended")
		case "resume":
			m.reply(w.id, "the city is resumed")
		default:
			m.reply(w.id, msg)
		}
	}
}

func (m *machine) reject(revision string, err error) {
	if m.refused = revision; errors.As(err, new(*unvetted)) {
		m.refused = "" // each patrol asks again
	}
	if m.rejected == err.Error() {
		return
	}
	m.note(&m.rejected, err.Error())
	m.do(fxRecord{event: events.Event{
		Type: events.ConfigRejected, Actor: controller,
		Message: "the old configuration stays in force: " + err.Error(),
		Payload: payload(map[string]any{"in_force": short(m.conf.revision)}),
	}})
}

// adopt swaps the wants. Memory is kept by name and fingerprint (L6).
func (m *machine) adopt(now time.Time, c *conf) string {
	first := m.conf == nil
	var before *conf
	before, m.conf = m.conf, c
	m.loaded, m.confTurn, m.changed = now, m.turn, true
	ch := m.compare(c)
	wanted := make(map[string]bool, len(c.wants))
	m.adoptPools(now, c)
	for i := range c.wants {
		wanted[c.wants[i].Name] = true
		delete(m.work.former, c.wants[i].Name)
		m.want(now, &c.wants[i])
	}
	for _, a := range m.order {
		if a.want != nil && !wanted[a.name] {
			a.want = nil
			a.forgive("")
			m.work.former[a.name] = true
		}
	}
	m.after, m.named, m.ordered = nil, nil, false
	deepest := m.depth
	for i := range c.wants {
		m.ordered = m.ordered || len(c.wants[i].DependsOn) > 0
	}
	m.depth = depth(c.wants)
	for _, a := range m.order {
		if a.want == nil && len(a.needs) > 0 { // it still ends in its order
			m.ordered, m.depth = true, max(m.depth, deepest)
		}
	}
	msg := ch.summary(c.revision)
	if before != nil && before.revision == c.revision {
		msg = "programs that were missing are there now: " + msg
	}
	if first {
		m.recall(now)
	} else {
		m.do(fxRecord{event: events.Event{Type: events.ConfigReloaded, Actor: controller, Message: msg, Payload: ch.payload()}})
		m.suspensions(before, c)
	}
	m.adoptTiers(now, c)
	m.sizePools(now)
	m.decideAll(now)
	if !first {
		m.scan()
		m.count()
	}
	return msg
}

// want takes one agent of a new configuration.
func (m *machine) want(now time.Time, w *agent.Want) {
	a, known := m.agents[w.Name]
	if !known {
		if w.Pool != "" { // members come with their pool's size
			return
		}
		a = m.record(now, w.Name)
	}
	a.pool, a.needs = m.pools[w.Pool], w.DependsOn
	if a.want != nil && (a.want.Spec.Fingerprint.Sum != w.Spec.Fingerprint.Sum || a.want.Spec.Provider != w.Spec.Provider) {
		a.forgive("configuration changed")
	}
	m.rededicate(a, w)
	m.suspension(a, w)
	a.want, a.command = w, redact.Text(w.Spec.Command)
}

// forgive forgets crashes and waits: the agent they belong to is no longer the same.
func (a *record) forgive(because string) {
	a.because = because
	a.history, a.notBefore, a.hold, a.holdWhy, a.left, a.final = restart.History{}, time.Time{}, "", "", false, false
	a.lacks = lack{}
}

// suspension tells of an agent that is resumed, or suspended while it has nothing to stop; one that runs is told of
// when it has stopped.
func (m *machine) suspension(a *record, w *agent.Want) {
	if a.want == nil || a.want.Suspended == w.Suspended || a.gone() {
		return
	}
	switch {
	case w.Suspended == "":
		a.forgive("resumed by operator")
		m.tell(a, events.Event{Type: events.AgentResumed, Actor: operator, Message: "was suspended " + a.want.Suspended},
			m.take(a, "agent "+a.name+" is resumed", "resume")...)
	case a.want.Suspended == "" && !a.alive && a.op == opNone:
		m.tell(a, events.Event{Type: events.AgentSuspended, Actor: operator, Message: w.Suspended},
			m.take(a, fmt.Sprintf("agent %s is suspended %s", a.name, w.Suspended), "stop", "suspend")...)
	case a.want.Suspended != "":
		m.resolve(a, fmt.Sprintf("agent %s is resumed, but still suspended %s", a.name, w.Suspended), "resume")
	}
}

func (m *machine) suspensions(before, after *conf) {
	switch {
	case after.suspended && !before.suspended:
		m.do(fxRecord{event: events.Event{Type: events.CitySuspended, Actor: operator, Message: "no agent runs until it is resumed"}})
	case before.suspended && !after.suspended:
		m.do(fxRecord{event: events.Event{Type: events.CityResumed, Actor: operator, Message: "agents start again"}})
	}
	was := make(map[string]bool, len(before.rigs))
	for i := range before.rigs {
		was[before.rigs[i].Name] = before.rigs[i].Suspended
	}
	for i := range after.rigs {
		r := &after.rigs[i]
		if old, known := was[r.Name]; known && old != r.Suspended {
			e := events.Event{Type: events.RigResumed, Actor: operator, Subject: r.Name, Message: "its agents start again"}
			if r.Suspended {
				e.Type, e.Message = events.RigSuspended, "none of its agents runs until it is resumed"
			}
			m.do(fxRecord{event: e})
		}
	}
}

// changes is what a new configuration means, agent by agent.
type changes struct{ added, changed, removed, suspended, resumed []string }

// compare says what a configuration would change. It changes nothing.
func (m *machine) compare(c *conf) changes {
	var ch changes
	wanted := make(map[string]bool, len(c.wants))
	for i := range c.wants {
		w := &c.wants[i]
		wanted[w.Name] = true
		a, known := m.agents[w.Name]
		if w.Pool != "" && (!known || a.gone()) { // members that do not run are spoken for by their pool
			continue
		}
		if !known || a.want == nil {
			ch.added = append(ch.added, w.Name)
			continue
		}
		if a.want.Spec.Fingerprint.Sum != w.Spec.Fingerprint.Sum || a.want.Spec.Provider != w.Spec.Provider {
			ch.changed = append(ch.changed, w.Name)
		}
		switch {
		case a.want.Suspended != "" && w.Suspended == "":
			ch.resumed = append(ch.resumed, w.Name)
		case a.want.Suspended == "" && w.Suspended != "":
			ch.suspended = append(ch.suspended, w.Name)
		}
	}
	for _, a := range m.order {
		if a.want != nil && a.pool == nil && !wanted[a.name] {
			ch.removed = append(ch.removed, a.name)
		}
	}
	m.comparePools(c, &ch)
	return ch
}

// comparePools adds what becomes of the pools.
func (m *machine) comparePools(c *conf, ch *changes) {
	wanted := make(map[string]bool, len(c.pools))
	for i := range c.pools {
		w := &c.pools[i]
		wanted[w.Name] = true
		switch p := m.pools[w.Name]; {
		case p == nil:
			ch.added = append(ch.added, "pool "+w.Name)
		case p.want.Spec != w.Spec || p.want.Check != w.Check:
			ch.changed = append(ch.changed, "pool "+w.Name)
		}
	}
	for _, p := range m.poolOrder {
		if !wanted[p.name()] {
			ch.removed = append(ch.removed, "pool "+p.name())
		}
	}
}

func (ch *changes) each(do func(verb string, names []string)) {
	do("added", ch.added)
	do("changed", ch.changed)
	do("removed", ch.removed)
	do("suspended", ch.suspended)
	do("resumed", ch.resumed)
}

func (ch *changes) payload() json.RawMessage {
	about := map[string]any{}
	ch.each(func(verb string, names []string) {
		if len(names) > 0 {
			about[verb] = names
		}
	})
	return payload(about)
}

// lines names a few of each; the payload has them all.
func (ch *changes) lines() []string {
	var lines []string
	ch.each(func(verb string, names []string) {
		if len(names) > 0 {
			lines = append(lines, verb+" "+few(names))
		}
	})
	if len(lines) == 0 {
		lines = append(lines, "no agent changed")
	}
	return lines
}

func (ch *changes) summary(revision string) string {
	return "revision " + short(revision) + " is in force: " + strings.Join(ch.lines(), "; ")
}

// few names the first five.
func few(names []string) string {
	text := strings.Join(names[:min(len(names), 5)], ", ")
	if more := len(names) - 5; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func short(revision string) string { return revision[:min(12, len(revision))] }
