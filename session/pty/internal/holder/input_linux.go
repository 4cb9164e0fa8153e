package holder

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"gcity/internal/typing"
	"gcity/session/pty/internal/wire"
)

// maxLine is the maximum length of a line for a terminal in canonical mode. The kernel silently drops the rest.
const maxLine = 4095

// readPause is how long to wait for a program to read the text before pressing Enter. A busy program can stop reading
// for seconds. Claude Code ignores an Enter that it reads together with a paste.
const readPause = 3 * time.Second

// enterPause is the time between reading the text and Enter. Some programs take an earlier Enter for a newline of
// pasted text: Gemini CLI within 40 ms after a paste, Codex within 120 ms after fast keys.
const enterPause = 200 * time.Millisecond

// shownPause is how long to wait for a program to show the text after reading it. Claude Code handles a paste in steps.
// An Enter in between submits the text, but also leaves it on the input line.
const shownPause = 2 * time.Second

// nextPause is the least time between Enter and the next text. OpenCode and Copilot join two texts if the second one
// arrives before they have handled Enter.
const nextPause = 500 * time.Millisecond

const (
	beginPaste = "\x1b[200~"
	endPaste   = "\x1b[201~"
	// a program replaces a long paste with a mark such as "[Pasted text #1]"
	pasteMark = "[Paste"
	// shells and other line editors turn bracketed paste off when they handle a line
	noPaste = "\x1b[?2004l"
)

var errNoTerminal = reject("the session has no terminal")

func reject(format string, args ...any) error {
	return &wire.Failure{Cause: wire.Rejected, Message: fmt.Sprintf(format, args...)}
}

// sendLine types text and submits it. It rejects control characters other than newline and tab, because the terminal
// would interpret them.
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
		err := l.writeLine(ctx, text)
		if err == nil {
			h.noteInput(l, (*draft).end)
		}
		return err
	}
	l.awaitHandled(ctx, h)
	tio, err := l.termios()
	if err != nil {
		return err
	}
	canonical := tio.Lflag&unix.ICANON != 0
	h.mu.Lock()
	paste, printed := l.modes.has(bracketedPaste), l.out.end
	h.mu.Unlock()
	data, word := []byte(text), ""
	if paste {
		data, word = []byte(beginPaste+typing.EndMention(text)+endPaste), wordOf(text)
	}
	if n := typing.LongestLine(string(data)); canonical && n > maxLine {
		return longLine(n)
	}
	n, err := l.submit(ctx, data, enterKey(tio), func() {
		if !canonical {
			l.awaitShown(ctx, h, printed, word)
		}
	})
	if err != nil && n > 0 {
		if paste && n < len(data) {
			l.unfinished = endPaste
		}
		noteLeftover(h, l)
	}
	if err != nil {
		return err
	}
	h.noteInput(l, (*draft).end)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.writeActivity(l) // now, because the client may compare this time with the time of output
	return nil
}

// awaitHandled gives the program time to handle the Enter of an earlier paste, unless it has turned that mode off. The
// caller must hold the typing token.
func (l *life) awaitHandled(ctx context.Context, h *holder) {
	if time.Since(l.entered) >= readPause || l.readsLines() {
		return
	}
	if !l.waitOutput(ctx, h, l.printed, time.Until(l.entered.Add(nextPause)), noPaste) {
		l.waitRead(ctx)
	}
}

// awaitShown waits until the program has read a text and shows its word, because it can treat Enter as text if it reads
// both together. The output before the position from is older.
func (l *life) awaitShown(ctx context.Context, h *holder, from uint64, word string) {
	l.waitRead(ctx)
	if word == "" {
		l.wait(enterPause)
		return
	}
	l.waitOutput(ctx, h, from, shownPause, word, pasteMark)
	l.wait(enterPause)
	l.entered, l.printed = time.Now(), from
}

func longLine(n int) error {
	return reject("the program reads whole lines, and its terminal would cut off a line of %d "+
		"bytes after %d: put the text in a file and send the file's name", n, maxLine)
}

func enterKey(tio *unix.Termios) []byte {
	if tio.Lflag&unix.ICANON != 0 &&
		(tio.Iflag&unix.ICRNL == 0 || tio.Iflag&unix.IGNCR != 0) {
		return []byte{'\n'}
	}
	return []byte{'\r'}
}

// wait returns earlier if the session ends.
func (l *life) wait(d time.Duration) {
	select {
	case <-time.After(d):
	case <-l.ended:
	}
}

// waitOutput reports whether the output after the position from contains one of the texts. It waits for them until the
// limit has passed or the session ends.
func (l *life) waitOutput(ctx context.Context, h *holder, from uint64, limit time.Duration,
	texts ...string) bool {
	overlap := 0 // a text can arrive in parts
	for _, text := range texts {
		overlap = max(overlap, len(text)-1)
	}
	for end := time.Now().Add(limit); ; l.wait(20 * time.Millisecond) {
		h.mu.Lock()
		from = max(from, l.out.start)
		out := make([]byte, l.out.end-from)
		l.out.readAt(from, out)
		h.mu.Unlock()
		if slices.ContainsFunc(texts, func(text string) bool {
			return bytes.Contains(out, []byte(text))
		}) {
			return true
		}
		from += uint64(max(0, len(out)-overlap))
		if !time.Now().Before(end) || ctx.Err() != nil || closed(l.ended) {
			return false
		}
	}
}

// wordOf returns the beginning of the longest of the first three words of a text. A short word such as "a" would also
// be in output that has nothing to do with the text.
func wordOf(text string) (word string) {
	words, most := 3, 8
	for w := range strings.FieldsSeq(text) {
		if words--; words < 0 {
			break
		}
		if len(w) > len(word) {
			word = w
		}
	}
	return word[:min(len(word), most)]
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

// sendKeys holds the typing token until all keys are typed, so that no other input follows Escape too early.
func (h *holder) sendKeys(ctx context.Context, l *life, keys []string) error {
	if l.plain {
		return errNoTerminal
	}
	release, err := l.takeTyping(ctx)
	if err != nil {
		return err
	}
	defer release()
	for len(keys) > 0 {
		n := 1 + slices.Index(keys, "Escape")
		escape := n > 0
		if !escape {
			n = len(keys)
		}
		if err := pressKeys(ctx, h, l, keys[:n]); err != nil {
			return err
		}
		keys = keys[n:]
		if escape && !l.readsLines() {
			// a program that reads Escape together with a key takes both for one key with Alt
			l.waitRead(ctx)
			l.wait(enterPause)
		}
	}
	return nil
}

// pressKeys types keys. The caller must hold the typing token.
func pressKeys(ctx context.Context, h *holder, l *life, keys []string) error {
	h.mu.Lock()
	app := l.modes.has(appCursor)
	h.mu.Unlock()
	var data []byte
	for _, key := range keys {
		data = append(data, encodeKey(key, app)...)
	}
	_, err := typeNext(ctx, h, l, data, func(d *draft, typed []byte) {
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
	return typeNext(ctx, h, l, data, note)
}

// typeNext is typeBytes for a caller that holds the typing token.
func typeNext(ctx context.Context, h *holder, l *life, data []byte,
	note func(*draft, []byte)) (n int, err error) {
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
