package tui

import (
	"testing"
	"time"

	"gcity/tui/keymap"
)

// In a real terminal, an invalid size stays in the input line, and a valid one reaches the city.
func TestTerminalPoolsAreScaled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a room in a terminal")
	}
	t.Parallel()
	c := open(t, "hosting pools", 100, 30)
	c.sees("prober")
	c.keys("2")
	c.sees("1-5  check returned 2")
	c.keys("jjjjS9\r")
	c.sees("max is 5")
	c.keys("\x7f4\r")
	c.sees("scale worker: done")
	c.sees("worker        2/4      1-5  set by hand to 4")
	c.keys("q")
	c.insist("h", "exit: ")
	c.ends("hand over")
}

// answer presses the key of an answer only once. A second key would act on the panel behind the question.
func (c *console) answer(key string) {
	c.t.Helper()
	heard := time.NewTimer(keymap.DialogGuard + keymap.DialogGuard/10)
	defer heard.Stop()
	select {
	case <-heard.C:
	case <-c.t.Context().Done():
	}
	c.keys(key)
}
