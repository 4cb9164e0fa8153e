package machine

import (
	"strings"
	"testing"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/events"
)

// If a file returns to an earlier content after another configuration was in force, it is checked and reported
// again: held or rejected (L6).
func TestUnchangedFileIsReloaded(t *testing.T) {
	w := newWorld()
	w.declare("a", "b", "c")
	w.advance(0)
	whole := w.current
	w.declare("a")
	most := w.current
	for _, c := range []*effect.Configuration{whole, most, most, whole} {
		w.current = c
		w.Step(effect.ConfigChanged{})
	}
	if n := w.told(events.ConfigHeld); n != 2 {
		t.Errorf("held %d times, want 2", n)
	}
	for range 2 {
		w.broken = "no"
		w.Step(effect.ConfigChanged{})
		w.Step(effect.ConfigChanged{})
		w.declare("a", "b", "c")
	}
	if n := w.told(events.ConfigRejected); n != 2 {
		t.Errorf("refused %d times, want 2", n)
	}
}

// A confirmation applies to the configuration that was held at the time of the confirmation, not to one that is
// loaded later.
func TestConfirmMeansWhatWasShown(t *testing.T) {
	w := newWorld()
	w.declare("a", "b", "c")
	w.advance(0)
	w.declare("a")
	shown := w.current.Revision
	w.stuck["load"] = true
	w.write("b")
	w.feed(effect.ConfigChanged{})
	w.command(1, city.Reload{Confirm: true})
	clear(w.stuck)
	w.Step(effect.Wake{})
	if a := w.replies[1]; a.Err == nil || a.Err.Code != city.Conflict ||
		!strings.Contains(a.Err.Message, "the file has changed since it was confirmed") {
		t.Errorf("answered with %v", a)
	}
	if h := w.m.Snapshot(w.now).Config.Held; h == nil || h.Revision == shown ||
		len(h.Removes) != 2 || w.m.conf.Revision == shown {
		t.Errorf("held: %+v", h)
	}
	if len(w.m.loader.confirms) > 0 {
		t.Errorf("confirmations without a sender: %v", w.m.loader.confirms)
	}
}
