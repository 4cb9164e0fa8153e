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

// maxLine is the longest line that a terminal in canonical mode can take: the kernel drops the rest without a word.
const maxLine = 4095

// readPause is how long a program may take to read a text before its Enter follows anyway.
const readPause = 500 * time.Millisecond

var errNoTerminal = refuse("it has no terminal")

func refuse(format string, args ...any) error {
	return &wire.Failure{Cause: wire.Refused, Message: fmt.Sprintf(format, args...)}
}

// sendLine types a text and submits it. A text goes in byte for byte: line ends inside it stay line feeds. With
// bracketed paste on they are part of the paste; without it they are what the program makes of a line feed, which for a
// line-buffered program is one line after the other. Control characters, which the terminal would act on, are refused.
//
// With quiet > 0 it is refused while a viewer's draft is on the line, or one has typed within that time: seen under the
// typing token, so nobody's key comes in between.
func (h *holder) sendLine(ctx context.Context, l *life, text string, quiet time.Duration) error {
	if i := strings.IndexFunc(text, func(r rune) bool {
		return (r < ' ' || r == 0x7f) && r != '\n' && r != '\t'
	}); i >= 0 {
		return refuse("the text contains the control character %#02x, which is a key and no "+
			"text: use send-keys for keys", text[i])
	}
	release, err := l.takeTyping(ctx)
	if err != nil {
		return err
	}
	defer release()
	if l.plain {
		if err := l.writeLine(ctx, text); err != nil {
			return err
		}
		h.noteInput(l, (*draft).end)
		return nil
	}
	if quiet > 0 {
		if err := h.undisturbed(l, quiet); err != nil {
			return err
		}
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
		data = slicesConcat("\x1b[200~", text, "\x1b[201~")
	}
	if n := longestLine(data); canonical && n > maxLine {
		return refuse("the program reads whole lines, and its terminal would cut one of %d bytes "+
			"at %d: put the text in a file and send the file's name", n, maxLine)
	}
	enter := []byte{'\r'}
	if canonical && (tio.Iflag&unix.ICRNL == 0 || tio.Iflag&unix.IGNCR != 0) {
		enter[0] = '\n'
	}
	if err := l.write(ctx, data); err != nil {
		return err
	}
	// an Enter that comes in one read with the text is taken for a part of it by many programs
	if !canonical {
		l.waitRead(ctx)
	}
	if err := l.write(ctx, enter); err != nil {
		return err
	}
	h.noteInput(l, (*draft).end) // what was on the line went with it
	h.mu.Lock()
	defer h.mu.Unlock()
	h.writeActivity(l) // whoever heeds the answer wants to know what was printed before
	return nil
}

// undisturbed says who is typing. By the holder of the typing token.
func (h *holder) undisturbed(l *life, quiet time.Duration) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case l.draft.n > 0:
		return &wire.Failure{Cause: wire.Busy, Message: "somebody's draft is on its line"}
	case l.typed != 0 && h.clock.Mono(time.Now())-l.typed < int64(quiet):
		return &wire.Failure{Cause: wire.Busy, Message: "somebody types just now"}
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
	return h.typeBytes(ctx, l, data, func(d *draft) {
		if bytes.ContainsFunc(data, func(r rune) bool {
			return r < 0x80 && (kills(byte(r)) || r == 0x1b)
		}) {
			d.end()
		}
	})
}

// typeBytes types bytes as they stand. What they are to the draft is said by note.
func (h *holder) typeBytes(ctx context.Context, l *life, data []byte, note func(*draft)) error {
	release, err := l.takeTyping(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := l.write(ctx, data); err != nil {
		return err
	}
	h.noteInput(l, note)
	return nil
}

// noteInput keeps when something was typed, and what it makes of the draft. By the holder of the typing token.
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

// arrival is how long the kernel may take to bring what was written to where programs read it: long on a busy machine.
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
