package tui

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
)

// clipSequence asks a terminal to take a text into its clipboard (OSC 52). Within tmux it is sent twice: tmux takes the
// one, where its set-clipboard is on, and hands the other through, where its allow-passthrough is.
func clipSequence(text string, tmux bool) string {
	s := ansi.SetSystemClipboard(text)
	if tmux {
		s += ansi.TmuxPassthrough(s)
	}
	return s
}

// clipDeadline bounds a clipboard program. Those that stay to serve the clipboard go to the background by themselves.
const clipDeadline = 3 * time.Second

// clip gives a text to the machine's clipboard by the first program for it that is there.
func (r *runner) clip(e clip) {
	r.spawn("clipboard", func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, clipDeadline)
		defer cancel()
		res := result{id: e.id, title: "copying", total: 1}
		said, err := r.copyBy(ctx, e.text)
		switch {
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			res.failures = []string{fmt.Sprintf("the %s is perhaps not copied: the clipboard "+
				"program did not end within %s", e.what, clipDeadline)}
		case err != nil:
			res.failures = []string{"cannot copy the " + e.what + ": " + err.Error()}
		default:
			res.receipts = []string{"copied the " + e.what + " by " + said}
		}
		r.box.putResult(res)
	})
}

// copyBy runs the program for the screen that this one is on, and names it.
func (r *runner) copyBy(ctx context.Context, text string) (string, error) {
	argv := clipProgram(r.getenv)
	path, err := exec.LookPath(argv[0])
	if err != nil {
		return "", fmt.Errorf("%s is not installed", argv[0])
	}
	cmd := exec.CommandContext(ctx, path, argv[1:]...)
	cmd.Stdin = strings.NewReader(text)
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	cmd.WaitDelay = time.Second
	// it serves the clipboard from the background
	if err := cmd.Run(); err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		if why := strings.TrimSpace(complaint.String()); why != "" {
			return "", fmt.Errorf("%s: %s", argv[0], why)
		}
		return "", fmt.Errorf("%s: %w", argv[0], err)
	}
	return argv[0], nil
}

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
