package tmux

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"gcity/internal/deadline"
	"gcity/internal/typing"
	"gcity/session"
	"gcity/session/registry"
)

const (
	// maximum line length in bytes of a terminal in canonical mode; the kernel drops the rest
	maxLine = 4095
	// time for a program to read typed text before Enter is pressed. A busy program can stop reading for seconds, and
	// Claude Code ignores an Enter that it reads together with a paste.
	readPause = 3 * time.Second
	// time between reading the text and Enter. Some programs take an earlier Enter for a newline of pasted text: Gemini
	// CLI within 40 ms after a paste, Codex within 120 ms after fast keys.
	enterPause = 200 * time.Millisecond
)

// Send implements session.Provider. It returns ErrRejected for control characters, and for a line over 4,095 bytes if
// the program reads whole lines.
func (p *Provider) Send(ctx context.Context, name, text string) error {
	if i := strings.IndexFunc(text, func(r rune) bool {
		return (r < ' ' || r == 0x7f) && r != '\n' && r != '\t'
	}); i >= 0 {
		return fail("send to", name, session.ErrRejected, "the text contains the control "+
			"character %#02x; send that key with send-keys", text[i])
	}
	return p.typing(ctx, "send to", name, func(ctx context.Context, rec *record) error {
		tty, err := openTTY(rec)
		if err != nil {
			return err
		}
		defer unix.Close(tty)
		tio, err := unix.IoctlGetTermios(tty, unix.TCGETS)
		if err != nil {
			return fmt.Errorf("cannot read the terminal's mode: %w", err)
		}
		lines := tio.Lflag&unix.ICANON != 0
		if n := typing.LongestLine(text); lines && n > maxLine {
			return fail("send to", name, session.ErrRejected,
				"the program reads whole lines, and its terminal would cut off a line of %d "+
					"bytes after %d: put the text in a file and send the file's name", n, maxLine)
		}
		if !lines {
			text = typing.EndMention(text)
		}
		buffer, target := "gcity-"+rec.Pane[1:], rec.target()
		paste := []string{"copy-mode", "-q", "-t", target, ";", "load-buffer", "-b", buffer, "-",
			";",
			"paste-buffer", "-p", "-r", "-d", "-b", buffer, "-t", target}
		if text == "" { // tmux does not support empty buffers
			paste = paste[:4]
		}
		key := "Enter"
		if lines && (tio.Iflag&unix.ICRNL == 0 || tio.Iflag&unix.IGNCR != 0) {
			key = "C-j"
		}
		enter := []string{"send-keys", "-t", target, key}
		if lines {
			_, err := p.tmux.run(ctx, []byte(text), append(append(paste, ";"), enter...)...)
			return err
		}
		if _, err := p.tmux.run(ctx, []byte(text), paste...); err != nil {
			return err
		}
		// a program may treat Enter as text if it reads both together
		waitRead(ctx, tty)
		deadline.Pause(ctx, enterPause)
		_, err = p.tmux.run(ctx, nil, enter...)
		return err
	})
}

func openTTY(rec *record) (int, error) {
	fd, err := unix.Open(rec.TTY, unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return -1, fmt.Errorf("cannot open the session's terminal %s: %w", rec.TTY, err)
	}
	return fd, nil
}

// waitRead waits until the input queue stays empty, because tmux types long text in chunks.
func waitRead(ctx context.Context, tty int) {
	end := time.Now().Add(readPause)
	idle := 0
	for pause := time.Millisecond; time.Now().Before(end) &&
		ctx.Err() == nil; pause = min(2*pause, 20*time.Millisecond) {
		deadline.Pause(ctx, pause)
		n, err := unix.IoctlGetInt(tty, unix.TIOCINQ)
		if err != nil {
			return
		}
		if idle++; n > 0 {
			idle = 0
		}
		if idle == 3 {
			return
		}
	}
}

func (p *Provider) typing(ctx context.Context, verb, name string,
	f func(context.Context, *record) error) error {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	e, rec, err := p.living(verb, name)
	if err != nil {
		return err
	}
	select {
	case <-e.typing:
		defer func() { e.typing <- struct{}{} }()
	case <-ctx.Done():
		return fail(verb, name, session.ErrBusy, "other input is still being typed")
	}
	if err := explain(verb, name, f(ctx, &rec)); err != nil {
		return err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sent = time.Now()
	return nil
}

func (p *Provider) living(verb, name string) (*entry, record, error) {
	if p.ctx.Err() != nil {
		return nil, record{}, registry.ErrClosed
	}
	e := p.reg.Find(name)
	if e == nil {
		return nil, record{}, missing(verb, name)
	}
	rec, ok := e.life()
	if !ok || !rec.lives(p.files.boot) {
		return nil, rec, missing(verb, name)
	}
	return e, rec, nil
}

func explain(verb, name string, err error) error {
	var known *failure
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return err
	case isGone(err):
		return missing(verb, name)
	}
	return fail(verb, name, err, "%v", err)
}

// Interrupt implements session.Provider.
func (p *Provider) Interrupt(ctx context.Context, name string) error {
	return p.typing(ctx, "interrupt", name, func(ctx context.Context, rec *record) error {
		_, err := p.tmux.run(ctx, nil, "copy-mode", "-q", "-t", rec.target(), ";", "send-keys",
			"-t",
			rec.target(), "C-c")
		return err
	})
}

// SendKeys implements session.Keyer.
func (p *Provider) SendKeys(ctx context.Context, name string, keys ...string) error {
	return p.typing(ctx, "send keys to", name, func(ctx context.Context, rec *record) error {
		for len(keys) > 0 {
			n := 1 + slices.Index(keys, "Escape")
			escape := n > 0
			if !escape {
				n = len(keys)
			}
			args := []string{"copy-mode", "-q", "-t", rec.target()}
			for _, key := range keys[:n] {
				args = append(args, ";", "send-keys", "-t", rec.target())
				if !isKey(key) {
					args = append(args, "-l")
				}
				args = append(args, "--", arg(key))
			}
			if _, err := p.tmux.run(ctx, nil, args...); err != nil {
				return err
			}
			if keys = keys[n:]; escape {
				awaitEscape(ctx, rec)
			}
		}
		return nil
	})
}

// awaitEscape waits until the program has read Escape, because it takes Escape and another key for one key with Alt if
// it reads both together.
func awaitEscape(ctx context.Context, rec *record) {
	tty, err := openTTY(rec)
	if err != nil {
		return // the session is ending
	}
	defer unix.Close(tty)
	tio, err := unix.IoctlGetTermios(tty, unix.TCGETS)
	if err == nil && tio.Lflag&unix.ICANON == 0 {
		waitRead(ctx, tty)
		deadline.Pause(ctx, enterPause)
	}
}

// names that only tmux accepts are typed as text
func isKey(key string) bool {
	switch key {
	case "Enter", "Tab", "BTab", "S-Tab", "Escape", "Space", "BSpace", "Insert", "IC", "Delete",
		"DC", "PageUp", "PPage", "PgUp",
		"PageDown", "NPage", "PgDn", "F1", "F2", "F3", "F4", "F5", "F6", "F7", "F8", "F9", "F10",
		"F11", "F12",
		"Up", "Down", "Right", "Left", "End", "Home":
		return true
	}
	if rest, ok := strings.CutPrefix(key, "M-"); ok {
		return len(rest) == 1 && rest[0] > ' ' && rest[0] < 0x7f || isKey(rest)
	}
	if rest, ok := strings.CutPrefix(key, "C-"); ok {
		return rest == "Space" || len(rest) == 1 &&
			(rest[0] >= 'a' && rest[0] <= 'z' || rest[0] >= '@' && rest[0] <= '_' || rest[0] == '?')
	}
	return false
}

// Clear implements session.Clearer. While a full-screen program is running, it drops only the scrollback.
func (p *Provider) Clear(ctx context.Context, name string) error {
	return p.typing(ctx, "clear", name, func(ctx context.Context, rec *record) error {
		out, err := p.tmux.run(ctx, nil, "display-message", "-p", "-t", rec.target(),
			"#{alternate_on}")
		if err != nil {
			return err
		}
		if strings.TrimSpace(out) != "1" {
			if err := clearTerminal(rec); err != nil {
				return err
			}
		}
		_, err = p.tmux.run(ctx, nil, "clear-history", "-t", rec.target())
		return err
	})
}

func clearTerminal(rec *record) error {
	tty, err := openTTY(rec)
	if err != nil {
		return err
	}
	defer unix.Close(tty)
	if _, err := unix.Write(tty, []byte("\x1b[H\x1b[2J")); err != nil {
		return fmt.Errorf("cannot clear the session's terminal: %w", err)
	}
	return nil
}
