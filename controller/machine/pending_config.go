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

// held is a configuration that waits for confirmation, because it would remove more than half of the running agents.
type held struct {
	city.Held // immutable once it has been published
	revision  string
	why       string
}

func (ld *loader) removes(c *effect.Configuration) (names []string, running int) {
	wanted := make(map[string]bool, len(c.Wants))
	for i := range c.Wants {
		wanted[c.Wants[i].Name] = true
	}
	for _, a := range ld.m.order {
		if !a.phase.Alive() || a.unwanted() {
			continue
		}
		running++
		if !wanted[a.name] {
			names = append(names, a.name)
		}
	}
	return names, running
}

func (ld *loader) removesMost(c *effect.Configuration) bool {
	names, running := ld.removes(c)
	return 2*len(names) > running
}

// a confirmation applies to the configuration that is held at this moment
func (ld *loader) askedFor(id uint64, c city.Reload) {
	if c.Confirm {
		ld.confirms[id] = ""
		if ld.held != nil && (c.Revision == "" || c.Revision == ld.held.Revision) {
			ld.confirms[id] = ld.held.revision
		}
	}
	ld.load(waiter{id, "reload"})
}

func (ld *loader) confirmed(waiting []waiter, c *effect.Configuration) bool {
	for _, w := range waiting {
		if ld.confirms[w.id] == c.Revision {
			return true
		}
	}
	return false
}

func (ld *loader) hold(now time.Time, c *effect.Configuration, waiting []waiter) {
	names, running := ld.removes(c)
	ch := ld.compare(c)
	h := &held{revision: c.Revision, Held: city.Held{
		Revision: step.Short(c.Revision), Since: now, Removes: names, Running: running,
		Plan: ch.Lines(),
	}}
	h.why = fmt.Sprintf("revision %s would remove %d of %d running agents (%s)", h.Revision,
		len(names), running, step.Few(names))
	known := ld.held != nil && ld.held.revision == h.revision
	if known {
		h.Since = ld.held.Since
	}
	ld.held, ld.m.step.Changed = h, true
	ld.m.step.Note(&ld.rejected, "")
	if !known {
		ld.m.step.Record(events.Event{
			Type: events.ConfigHeld,
			Message: "the old configuration stays in force: " + h.why + "; run `gcity reload " +
				"--confirm` to apply it, or `gcity plan` to see the changes",
			Payload: step.Payload(map[string]any{"in_force": step.Short(ld.m.conf.Revision),
				"held":    h.Revision,
				"running": running, "removes": names, "plan": h.Plan}),
		})
	}
	for _, w := range waiting {
		ld.m.step.Reject(w.id, city.Conflict, "%s", ld.heldBack(w, h))
	}
}

func (ld *loader) heldBack(w waiter, h *held) string {
	_, confirms := ld.confirms[w.id]
	switch {
	case confirms:
		return "the file has changed since it was confirmed: " + h.why +
			"; if that is intended, run `gcity reload --confirm` again"
	case w.verb == "reload":
		return "the old configuration stays in force: " + h.why +
			"; run `gcity reload --confirm` to apply it"
	}
	return fmt.Sprintf("the change was written but does not %s the city yet: %s; run `gcity "+
		"reload --confirm` to apply it", w.verb, h.why)
}

func (ld *loader) dropHeld() {
	if ld.held != nil {
		ld.held, ld.m.step.Changed = nil, true
	}
}

func (ld *loader) heldReason(err error) error {
	if err == nil && ld.held != nil {
		err = errors.New(ld.held.why + "; run `gcity reload --confirm` to apply it")
	}
	return err
}

func (ld *loader) rejectWhileHeld(id uint64, cmd city.Command) bool {
	if ld.held == nil {
		return false
	}
	switch cmd.(type) {
	case city.Suspend, city.Resume, city.Stop, city.SuspendRig, city.ResumeRig:
		ld.m.step.Reject(id, city.Conflict, "nothing was written, because a held configuration "+
			"prevents `%s`: %s; run `gcity "+
			"reload --confirm` to apply it, or undo the change to city.toml",
			cmd.Verb(), ld.held.why)
		return true
	}
	return false
}
