package feed

import (
	"time"

	"github.com/charmbracelet/x/ansi"
)

// ClipSequence asks a terminal to take a text into its clipboard (OSC 52). Within tmux it is sent twice: tmux takes the
// one, where its set-clipboard is on, and hands the other through, where its allow-passthrough is.
func ClipSequence(text string, tmux bool) string {
	s := ansi.SetSystemClipboard(text)
	if tmux {
		s += ansi.TmuxPassthrough(s)
	}
	return s
}

// clipDeadline bounds a clipboard program. Those that stay to serve the clipboard go to the background by themselves.
const clipDeadline = 3 * time.Second

// clipProgram is the program that fills the clipboard of the screen that a process is on.
func clipProgram(getenv func(string) string) []string {
	switch {
	case getenv("WAYLAND_DISPLAY") != "":
		return []string{"wl-copy"}
	case getenv("DISPLAY") != "":
		return []string{"xclip", "-selection", "clipboard"}
	}
	return []string{"pbcopy"}
}
