package tui

import "testing"

// In a real terminal, the composer accepts typed and pasted text, delivers it, and shows earlier texts.
func TestTerminalComposer(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a room in a terminal")
	}
	t.Parallel()
	c := open(t, "hosting", 120, 36)
	c.sees("prober")
	c.keys("/idle\r")
	c.sees("1 of 12")
	c.keys("i")
	c.sees("send to idle:")
	c.keys("one\x1b\r")
	c.sees("2 lines")
	c.keys("two\n\x1b[200~three\r\nfour, größer 世界\r\n\x1b[201~")
	c.sees("4 lines, 35 B")
	c.keys("\r")
	c.sees("sent to idle")
	c.keys("i\x1b[A")
	c.sees("four, größer 世界")
	c.keys("\x03") // leaves the composer, not the room
	c.keys("q")
	c.insist("h", "exit: ")
	c.ends("hand over")
}
