package detach

// SaveModes saves two modes that have no standard default: cursor blinking, and the wheel on the alternate screen.
const SaveModes = "\x1b[?12s\x1b[?1007s"

// ResetModes undoes the changes that a program may have made to the user's terminal, and leaves the alternate screen.
// It first ends an unfinished control string, VT52 mode, a non-UTF-8 encoding and a hyperlink, and restores the modes
// of SaveModes. It resets the Kitty keyboard protocol on both screens, because each has its own stack.
const ResetModes = "\x1b\\" + "\x1b<" + "\x1b%G" + "\x1b]8;;\x1b\\" + "\x1b[?12r\x1b[?1007r" +
	"\x1b[?1049h" +
	resetKitty + "\x1b[>4;0m" +
	"\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1005l" +
	"\x1b[?1006l\x1b[?1015l\x1b[?1016l" +
	"\x1b[?2004l\x1b[?2026l\x1b[?2027l\x1b[?2031l\x1b[?2048l" +
	"\x1b[?1l\x1b>\x1b[?5l\x1b[?6l\x1b[?7h\x1b[?45l\x1b[?69l\x1b[4l\x1b[20l\x1b[?25h\x1b[0 q" +
	"\x1b(B\x0f\x1b[r\x1b[m\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\\x1b]112\x1b\\" +
	"\x1b[2J\x1b[H" + "\x1b[?1049l" + resetKitty + "\x1b[m"

const resetKitty = "\x1b[<9u"
