package machine

import (
	"errors"
	"fmt"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/step"
	"gcity/events"
)

// held is a configuration that is on the disk and not in force: it would remove more than half of the running agents,
// and nobody has said yet that this is meant.
type held struct {
	city.Held        // never changed once it is shown
	revision  string // in full
	why       string
}

// removes returns who of the running agents a configuration has no longer, and how many run.
func (m *Machine) removes(c *effect.Configuration) (names []string, running int) {
	wanted := make(map[string]bool, len(c.Wants))
	for i := range c.Wants {
		wanted[c.Wants[i].Name] = true
	}
	for _, a := range m.order {
		if !a.sess.alive || a.unwanted() {
			continue
		}
		running++
		if !wanted[a.name] {
			names = append(names, a.name)
		}
	}
	return names, running
}

// removesMost reports that a new configuration needs somebody's word. The first one does not: nothing is known to
// run.
func (m *Machine) removesMost(c *effect.Configuration) bool {
	names, running := m.removes(c)
	return 2*len(names) > running
}

// askedFor takes a reload. What it confirms is what is held now: that is what has been shown.
func (m *Machine) askedFor(id uint64, c city.Reload) {
	if c.Confirm {
		m.confirms[id] = ""
		if m.held != nil && (c.Revision == "" || c.Revision == m.held.Revision) {
			m.confirms[id] = m.held.revision
		}
	}
	m.load(waiter{id, "reload"})
}

// confirmed reports that one of the commands that waited for a configuration has seen it held, and wants it.
func (m *Machine) confirmed(waiting []waiter, c *effect.Configuration) bool {
	for _, w := range waiting {
		if m.confirms[w.id] == c.Revision {
			return true
		}
	}
	return false
}

// hold keeps a configuration from coming into force, and tells of it once.
func (m *Machine) hold(now time.Time, c *effect.Configuration, waiting []waiter) {
	names, running := m.removes(c)
	ch := m.compare(c)
	h := &held{revision: c.Revision, Held: city.Held{
		Revision: Short(c.Revision), Since: now, Removes: names, Running: running, Plan: ch.lines(),
	}}
	h.why = fmt.Sprintf("revision %s would remove %d of %d running agents (%s)", h.Revision,
		len(names), running, few(names))
	known := m.held != nil && m.held.revision == h.revision
	if known {
		h.Since = m.held.Since
	}
	m.held, m.refused, m.step.Changed = h, h.revision, true
	m.step.Note(&m.rejected, "")
	if !known {
		m.step.Do(effect.Record{Event: events.Event{
			Type: events.ConfigHeld, Actor: effect.ActorController,
			Message: "the old configuration stays in force: " + h.why + "; `gcity reload " +
				"--confirm` lets it in, `gcity plan` shows what it changes",
			Payload: step.Payload(map[string]any{"in_force": Short(m.conf.Revision),
				"held":    h.Revision,
				"running": running, "removes": names, "plan": h.Plan}),
		}})
	}
	for _, w := range waiting {
		m.step.Refuse(w.id, city.Conflict, m.heldBack(w, h))
	}
}

// heldBack is the answer to a command that waited for a configuration that is held.
func (m *Machine) heldBack(w waiter, h *held) string {
	_, confirms := m.confirms[w.id]
	switch {
	case confirms:
		return "not what was confirmed: " + h.why + "; if that is meant, `gcity reload " +
			"--confirm` again"
	case w.verb == "reload":
		return "the old configuration stays in force: " + h.why +
			"; `gcity reload --confirm` lets it in"
	}
	return fmt.Sprintf("it is written, but does not %s the city yet: %s; `gcity reload "+
		"--confirm` lets it in", w.verb, h.why)
}

// letGo forgets a held configuration: it is in force now, or no longer on the disk.
func (m *Machine) letGo() {
	if m.held != nil {
		m.held, m.step.Changed = nil, true
	}
}

// inTheWay says why a flag that was written is not in force, if err does not.
func (m *Machine) inTheWay(err error) error {
	if err == nil && m.held != nil {
		err = errors.New("it is written, but " + m.held.why +
			"; `gcity reload --confirm` lets it in")
	}
	return err
}

// barred refuses what would write into a file that is not in force: nothing would come of it before the rest of
// the file is confirmed.
func (m *Machine) barred(id uint64, cmd city.Command) bool {
	if m.held == nil {
		return false
	}
	switch cmd.(type) {
	case city.Suspend, city.Resume, city.Stop, city.SuspendRig, city.ResumeRig:
		m.step.Refuse(id, city.Conflict, fmt.Sprintf(
			"a held configuration stands in the way of %s, nothing was written: %s; `gcity "+
				"reload --confirm` lets it in, changing city.toml back drops it",
			cmd.Verb(), m.held.why))
		return true
	}
	return false
}
