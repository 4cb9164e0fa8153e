package feed

import (
	"time"

	"github.com/charmbracelet/x/ansi"
)

// ClipboardSequence returns the sequence that sets a terminal's clipboard (OSC 52). For tmux the result contains the
// sequence twice: tmux handles one if set-clipboard is on, and forwards the other if allow-passthrough is on.
func ClipboardSequence(text string, tmux bool) string {
	s := ansi.SetSystemClipboard(text)
	if tmux {
		s += ansi.TmuxPassthrough(s)
	}
	return s
}

// clipboardDeadline limits how long to wait for a clipboard program to exit. Programs that serve the clipboard continue
// in the background.
const clipboardDeadline = 3 * time.Second

func clipboardProgram(getenv func(string) string) []string {
	switch {
	case getenv("WAYLAND_DISPLAY") != "":
		return []string{"wl-copy"}
	case getenv("DISPLAY") != "":
		return []string{"xclip", "-selection", "clipboard"}
	}
	return []string{"pbcopy"}
}
