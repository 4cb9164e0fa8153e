package machine

import (
	"testing"

	"gcity/city"
)

// The answer to a suspension names the setting once, regardless of whether the agent was running.
func TestSuspensionAnswer(t *testing.T) {
	w := newWorld()
	w.declare("a")
	w.advance(0)
	for _, id := range []uint64{1000, 1001} {
		w.command(id, city.Suspend{Agent: "a"})
		w.advance(0)
		if got := w.replies[id]; got.Err != nil ||
			got.Receipt.Message != "agent a is suspended in city.toml" {
			t.Errorf("%d: %+v", id, got)
		}
	}
}
