package feed

import (
	"time"

	"github.com/charmbracelet/x/ansi"
)

// ClipSequence asks a terminal to set its clipboard (OSC 52). Within tmux it is sent twice: tmux uses one if
// set-clipboard is on, and passes the other through if allow-passthrough is.
func ClipSequence(text string, tmux bool) string {
	s := ansi.SetSystemClipboard(text)
	if tmux {
		s += ansi.TmuxPassthrough(s)
	}
	return s
}

// clipDeadline bounds a clipboard program. Programs that serve the clipboard go to the background themselves.
const clipDeadline = 3 * time.Second

// clipProgram returns the clipboard program of the display that a process uses.
func clipProgram(getenv func(string) string) []string {
	switch {
	case getenv("WAYLAND_DISPLAY") != "":
		return []string{"wl-copy"}
	case getenv("DISPLAY") != "":
		return []string{"xclip", "-selection", "clipboard"}
	}
	return []string{"pbcopy"}
}
