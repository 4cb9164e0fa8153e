package holder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"gcity/session/pty/internal/wire"
)

// maxLine is the longest line that a terminal in canonical mode can take: the kernel drops the rest without a word.
const maxLine = 4095

// readPause is how long a program may take to read a text before its Enter follows anyway.
const readPause = 500 * time.Millisecond

func refuse(format string, args ...any) error {
	return &wire.Failure{Cause: wire.Refused, Message: fmt.Sprintf(format, args...)}
}

// sendLine types a text and submits it. A text goes in byte for byte: line ends inside it stay line feeds. With
// bracketed paste on they are part of the paste; without it they are what the program makes of a line feed, which for a
// line-buffered program is one line after the other. Control characters, which the terminal would act on, are refused.
func (h *holder) sendLine(ctx context.Context, l *life, text string) error {
	if i := strings.IndexFunc(text, func(r rune) bool { return (r < ' ' || r == 0x7f) && r != '\n' && r != '\t' }); i >= 0 {
		return refuse("the text contains the control character %#02x, which is a key and no text: use send-keys for keys", text[i])
	}
	release, err := l.takeTyping(ctx)
	if err != nil {
		return err
	}
	defer release()
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
		return refuse("the program reads whole lines, and its terminal would cut one of %d bytes at %d: put the text in a file and send the file's name", n, maxLine)
	}
	enter := []byte{'\r'}
	if canonical && (tio.Iflag&unix.ICRNL == 0 || tio.Iflag&unix.IGNCR != 0) {
		enter[0] = '\n'
	}
	if err := l.write(ctx, data); err != nil {
		return err
	}
	if !canonical { // an Enter that comes in one read with the text is taken for a part of it by many programs
		l.waitRead(ctx)
	}
	if err := l.write(ctx, enter); err != nil {
		return err
	}
	h.noteInput(l)
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
	h.mu.Lock()
	app := l.modes.has(appCursor)
	h.mu.Unlock()
	var data []byte
	for _, key := range keys {
		data = append(data, encodeKey(key, app)...)
	}
	return h.typeBytes(ctx, l, data)
}

// typeBytes types bytes as they stand.
func (h *holder) typeBytes(ctx context.Context, l *life, data []byte) error {
	release, err := l.takeTyping(ctx)
	if err != nil {
		return err
	}
	defer release()
	if err := l.write(ctx, data); err != nil {
		return err
	}
	h.noteInput(l)
	return nil
}

func (h *holder) typeWithin(l *life, data []byte, d time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return h.typeBytes(ctx, l, data)
}

func (h *holder) noteInput(l *life) {
	now := time.Now()
	h.mu.Lock()
	defer h.mu.Unlock()
	l.input = h.clock.Mono(now)
	h.touch(l, now)
}

// takeTyping waits for its turn, so that two texts are never mixed.
func (l *life) takeTyping(ctx context.Context) (release func(), err error) {
	select {
	case <-l.typing:
		return func() { l.typing <- struct{}{} }, nil
	case <-ctx.Done():
		return nil, refuse("somebody else is still typing into a terminal that takes nothing")
	}
}

// write gives bytes to the terminal until the kernel has them all. Holder of the typing token only.
func (l *life) write(ctx context.Context, data []byte) error {
	deadline, ok := ctx.Deadline()
	if !ok {
		deadline = time.Now().Add(writeTimeout)
	}
	l.master.SetWriteDeadline(deadline)
	n, err := l.master.Write(data)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return refuse("the terminal's input is full: the program took %d of %d bytes and reads no more", n, len(data))
	case err != nil:
		return &wire.Failure{Cause: wire.NotAlive, Message: "the terminal is closed: " + err.Error()}
	}
	return nil
}

// waitRead waits until the program has read what was typed, but not for long.
func (l *life) waitRead(ctx context.Context) {
	end := time.Now().Add(readPause)
	pause := time.Millisecond
	for time.Now().Before(end) && ctx.Err() == nil {
		// The line discipline gets the bytes a moment after the write: so look after the first pause.
		time.Sleep(pause)
		if n, err := unix.IoctlGetInt(l.slave, unix.TIOCINQ); err != nil || n == 0 {
			return
		}
		pause = min(2*pause, 20*time.Millisecond)
	}
}

func (l *life) termios() (tio *unix.Termios, err error) {
	raw, err := l.master.SyscallConn()
	if err != nil {
		return nil, err
	}
	ctlErr := raw.Control(func(fd uintptr) { tio, err = unix.IoctlGetTermios(int(fd), unix.TCGETS) })
	if err = errors.Join(ctlErr, err); err != nil {
		return nil, fmt.Errorf("cannot read the terminal's mode: %w", err)
	}
	return tio, nil
}

func setSize(master *os.File, cols, rows int) error {
	return pty.Setsize(master, &pty.Winsize{Cols: uint16(cols), Rows: uint16(rows)})
}
