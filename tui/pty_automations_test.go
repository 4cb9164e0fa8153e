package tui

import "testing"

// In a real terminal, an automation is fired, its runs are shown, and work is added and closed.
func TestTerminalAutomationsAndWork(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	t.Parallel()
	c := open(t, "hosting automations", 100, 30)
	c.sees("prober")
	c.keys("4")
	c.sees("wisp-compact")
	c.keys("jj")
	c.sees("gc-214 prints this")
	c.keys("t")
	c.sees("Fire db-health now?")
	c.answer("y")
	c.sees("run db-health: done")
	c.keys("d")
	c.sees("fired by operator")
	c.keys("q")
	c.keys("b")
	c.sees("fix the flaky retry test")
	c.keys("npaint the door\r")
	c.sees("paint the door")
	c.keys("gX")
	c.sees("Close gc-216?")
	c.answer("y")
	c.sees("gc-216: done")
	c.insist("\x1b", "? help")
	c.insist("q", "Quit bright-lights?") // directly after an esc that has not been read, q would be alt+q
	c.insist("h", "exit: ")
	c.ends("hand over")
}
