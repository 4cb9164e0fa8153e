package feed

import (
	"time"

	"github.com/charmbracelet/x/ansi"
)

// screenLimit is less than the maximum length of a string that GNU screen forwards.
const screenLimit = 512

// ClipboardSequence returns the sequence that sets a terminal's clipboard (OSC 52). For tmux the result contains the
// sequence twice: tmux handles one if set-clipboard is on, and forwards the other if allow-passthrough is on. GNU
// screen only forwards a wrapped sequence.
func ClipboardSequence(text string, getenv func(string) string) string {
	s := ansi.SetSystemClipboard(text)
	switch {
	case getenv("TMUX") != "":
		return s + ansi.TmuxPassthrough(s)
	case getenv("STY") != "":
		return ansi.ScreenPassthrough(s, screenLimit)
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
