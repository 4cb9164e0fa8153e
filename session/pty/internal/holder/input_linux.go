package holder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"gcity/session/pty/internal/wire"
)

// maxLine is the maximum length of a line for a terminal in canonical mode. The kernel silently drops the rest.
const maxLine = 4095

// readPause is how long to wait for a program to read the text before pressing Enter.
const readPause = 500 * time.Millisecond

// enterPause is the time between reading the text and Enter. Some programs take an earlier Enter for a newline of
// pasted text: Gemini CLI within 40 ms after a paste, Codex within 120 ms after fast keys.
const enterPause = 200 * time.Millisecond

const endPaste = "\x1b[201~"

var errNoTerminal = reject("the session has no terminal")

func reject(format string, args ...any) error {
	return &wire.Failure{Cause: wire.Rejected, Message: fmt.Sprintf(format, args...)}
}

// sendLine types text byte for byte and submits it. It rejects control characters other than newline and tab, because
// the terminal would interpret them.
//
// If quiet > 0, it also rejects the text while a viewer's draft is on the line, or if a viewer has typed within that
// duration. It holds the typing token from this check until the text is typed.
func (h *holder) sendLine(ctx context.Context, l *life, text string, quiet time.Duration) error {
	if err := checkText(text); err != nil {
		return err
	}
	release, err := l.takeTyping(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := h.undisturbed(l, quiet); err != nil {
		return err
	}
	if err := l.finish(ctx); err != nil {
		return err
	}
	if l.plain {
		if err := l.writeLine(ctx, text); err != nil {
			return err
		}
		h.noteInput(l, (*draft).end)
		return nil
	}
	tio, err := l.termios()
	if err != nil {
		return err
	}
	canonical := tio.Lflag&unix.ICANON != 0
	h.mu.Lock()
	paste := l.modes.has(bracketedPaste)
	h.mu.Unlock()
	data := []byte(text)
	if paste {
		data = slicesConcat("\x1b[200~", text, endPaste)
	}
	if n := longestLine(data); canonical && n > maxLine {
		return reject("the program reads whole lines, and its terminal would cut off a line "+
			"of %d bytes after %d: put the text in a file and send the file's name", n, maxLine)
	}
	enter := []byte{'\r'}
	if canonical && (tio.Iflag&unix.ICRNL == 0 || tio.Iflag&unix.IGNCR != 0) {
		enter[0] = '\n'
	}
	// a program that reads Enter together with the text may treat Enter as text
	n, err := l.submit(ctx, data, enter, !canonical)
	switch {
	case err != nil && n > 0:
		if paste && n < len(data) {
			l.unfinished = endPaste
		}
		noteLeftover(h, l)
		return err
	case err != nil:
		return err
	}
	h.noteInput(l, (*draft).end)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.writeActivity(l) // now, because the client may compare this time with the time of output
	return nil
}

// leftoverLife gives a user time to look at the text. If no user attaches, nothing else ends this draft, and the agent
// would never get a nudge again.
const leftoverLife = 10 * time.Minute

// noteLeftover begins a draft, and ends it after h.leftoverLife unless a viewer has typed. The caller must hold the
// typing token.
func noteLeftover(h *holder, l *life) {
	h.noteInput(l, (*draft).leftover)
	time.AfterFunc(h.leftoverLife, func() {
		release, err := l.takeTyping(context.Background())
		if err != nil {
			return
		}
		defer release()
		h.mu.Lock()
		defer h.mu.Unlock()
		if l.draft.endLeftover(); h.current == l {
			h.writeActivity(l)
		}
	})
}

func checkText(text string) error {
	if i := strings.IndexFunc(text, func(r rune) bool {
		return (r < ' ' || r == 0x7f) && r != '\n' && r != '\t'
	}); i >= 0 {
		return reject("the text contains the control character %#02x; send that key "+
			"with send-keys", text[i])
	}
	return nil
}

// undisturbed returns an error if there is a draft, or if a viewer has typed within quiet. If quiet is 0, it returns
// nil. The caller must hold the typing token.
func (h *holder) undisturbed(l *life, quiet time.Duration) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case quiet <= 0 || l.plain:
	case l.draft.n > 0:
		return &wire.Failure{Cause: wire.Busy, Message: "a user's draft is on the input line"}
	case l.typed != 0 && h.clock.Mono(time.Now())-l.typed < int64(quiet):
		return &wire.Failure{Cause: wire.Busy, Message: "a user is typing"}
	}
	return nil
}

func slicesConcat(parts ...string) []byte { return []byte(strings.Join(parts, "")) }

func longestLine(data []byte) int {
	longest := 0
	for line := range bytes.SplitSeq(data, []byte{'\n'}) {
		longest = max(longest, len(line))
	}
	return longest
}

func (h *holder) sendKeys(ctx context.Context, l *life, keys []string) error {
	if l.plain {
		return errNoTerminal
	}
	h.mu.Lock()
	app := l.modes.has(appCursor)
	h.mu.Unlock()
	var data []byte
	for _, key := range keys {
		data = append(data, encodeKey(key, app)...)
	}
	_, err := h.typeBytes(ctx, l, data, func(d *draft, typed []byte) {
		if bytes.ContainsFunc(typed, func(r rune) bool {
			return r < 0x80 && (endsDraft(byte(r)) || r == 0x1b)
		}) {
			d.end()
		}
	})
	return err
}

// typeBytes returns how many bytes the terminal has accepted, also if it fails. It calls note with these bytes.
func (h *holder) typeBytes(ctx context.Context, l *life, data []byte,
	note func(*draft, []byte)) (n int, err error) {
	release, err := l.takeTyping(ctx)
	if err != nil {
		return 0, err
	}
	defer release()
	if err := l.finish(ctx); err != nil {
		return 0, err
	}
	n, err = l.put(ctx, data)
	if n > 0 {
		h.noteInput(l, func(d *draft) { note(d, data[:n]) })
	}
	return n, err
}

// noteInput records the time of input. The caller must hold the typing token.
func (h *holder) noteInput(l *life, note func(*draft)) {
	now := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	l.input = h.clock.Mono(now)
	had := l.draft.n > 0
	note(&l.draft)
	if had != (l.draft.n > 0) {
		h.writeActivity(l)
		return
	}
	h.touch(l, now)
}

// arrival is how long bytes written to a terminal may take to reach its reader.
const arrival = 50 * time.Millisecond

func setSize(master *os.File, cols, rows int) error {
	raw, err := master.SyscallConn()
	if err != nil {
		return err
	}
	ws := unix.Winsize{Col: uint16(cols), Row: uint16(rows)}
	var sizeErr error
	err = raw.Control(func(fd uintptr) {
		sizeErr = unix.IoctlSetWinsize(int(fd), unix.TIOCSWINSZ, &ws)
	})
	return errors.Join(err, sizeErr)
}
