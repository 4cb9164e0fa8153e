// Package statusrow shows a line of text in the last row of a terminal while a program draws in the rows above. The
// program's terminal must have one row fewer than the real one. The package changes or drops sequences that would
// affect the last row or reveal the real size.
package statusrow

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"gcity/internal/screen"
)

// Writer writes a program's output to a terminal and preserves the terminal's last row. Its methods may be called
// concurrently.
type Writer struct {
	mu   sync.Mutex
	to   io.Writer
	text func(cols int) string
	cols int
	rows int // number of rows that the program can use
	// nil = unchanged
	size atomic.Pointer[[2]int]

	state       state
	body        []byte // the CSI sequence that is being read, after its introducer
	tail        []byte
	out         []byte
	top, bottom int
	saved       bool // the program has saved its cursor
	origin      bool // rows are counted from the top margin
	dirty       bool // the program might have erased the line

	single singleScreen
}

type state uint8

const (
	ground state = iota
	escape       // after an ESC and its intermediate bytes
	csi
	inString // a string, such as a title or an image
)

const (
	esc = 0x1b
	// longer than any sequence that Writer changes
	maxBody = 256
)

// New returns a Writer for a terminal of the given size. text returns the line, which must be exactly cols columns wide
// and change only colors. The program stays on the current screen of the real terminal. The other screen belongs to the
// user's shell.
func New(to io.Writer, cols, rows int, text func(cols int) string) *Writer {
	return &Writer{to: to, text: text, cols: cols, rows: rows - 1, top: 1, bottom: rows - 1,
		single: singleScreen{model: screen.New(cols, rows-1, 0)}}
}

// Begin clears the terminal, draws the line, and moves the cursor to the first row.
func (w *Writer) Begin() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out = append(w.out[:0], "\x1b[2J"...)
	w.margins()
	w.paint()
	return w.flush()
}

// Resize adapts to a new size of the real terminal. It never waits for a blocked terminal.
func (w *Writer) Resize(cols, rows int) error {
	w.size.Store(&[2]int{cols, max(2, rows)})
	if !w.mu.TryLock() {
		return nil
	}
	defer w.mu.Unlock()
	w.out = w.out[:0]
	w.applySize()
	return w.flush()
}

func (w *Writer) applySize() {
	size := w.size.Swap(nil)
	if size == nil {
		return
	}
	w.cols, w.rows, w.dirty = size[0], size[1]-1, true
	w.top, w.bottom = 1, w.rows
	w.single.model.Resize(w.cols, w.rows)
	if w.state != ground || endsInRune(w.tail) {
		return // The next write draws the line.
	}
	w.keepCursor(w.margins)
	// move the cursor out of the last row, which does not scroll
	w.out = append(w.out, "\x1b[A\x1b[B"...)
	w.paint()
}

// Write implements io.Writer.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.out = w.out[:0]
	w.applySize()
	w.single.data, w.single.known, w.single.at = p, 0, 0
	for rest := p; len(rest) > 0; {
		if w.state == ground || w.state == inString {
			n := bytes.IndexByte(rest, esc)
			if n < 0 {
				n = len(rest)
			}
			if end := bytes.IndexByte(rest[:n], 0x07); end >= 0 && w.state == inString {
				n = end + 1 // the string ends here; the text after it needs its own call of show
			}
			w.show(rest[:n], len(p)-len(rest))
			w.writeText(rest[:n])
			if rest = rest[n:]; len(rest) == 0 || rest[0] != esc {
				continue
			}
		}
		w.single.at = len(p) - len(rest)
		w.step(rest[0])
		rest = rest[1:]
	}
	w.single.learn(len(p))
	w.single.data = nil
	// below the bottom margin, the program can overwrite the line
	w.dirty = w.dirty || w.bottom < w.rows
	if w.dirty && w.state == ground && !w.saved && !endsInRune(w.tail) {
		w.paint()
	}
	err := w.flush()
	if w.out = w.out[:0]; w.size.Load() != nil && err == nil {
		w.applySize()
		err = w.flush()
	}
	if err != nil {
		return 0, err
	}
	return len(p), nil
}

func (w *Writer) flush() error {
	if len(w.out) == 0 {
		return nil
	}
	_, err := w.to.Write(w.out)
	return err
}

func (w *Writer) writeText(p []byte) {
	w.out = append(w.out, p...)
	if w.state == inString && bytes.IndexByte(p, 0x07) >= 0 {
		w.state = ground
	}
	w.tail = append(w.tail, p[max(0, len(p)-utf8.UTFMax):]...)
	w.tail = w.tail[max(0, len(w.tail)-utf8.UTFMax):]
}

func endsInRune(text []byte) bool {
	for n := 1; n <= min(len(text), utf8.UTFMax-1); n++ {
		if last := text[len(text)-n:]; utf8.RuneStart(last[0]) {
			return !utf8.FullRune(last)
		}
	}
	return false
}

func (w *Writer) step(b byte) {
	switch {
	case b == esc:
		w.flushPartial()
		w.state, w.tail = escape, w.tail[:0]
	case w.state == escape:
		w.escape(b)
	case b == 0x18 || b == 0x1a: // CAN and SUB abort a sequence
		w.flushPartial()
		w.state = ground
		w.out = append(w.out, b)
	default:
		w.body = append(w.body, b)
		switch {
		case b >= 0x40 && b <= 0x7e:
			w.state = ground
			w.changeCSI(w.body)
			w.body = w.body[:0]
		case len(w.body) > maxBody:
			w.flushPartial()
			w.state = ground
		}
	}
}

func (w *Writer) flushPartial() {
	switch w.state {
	case csi:
		w.writeCSI(w.body)
	case escape:
		w.out = append(append(w.out, esc), w.body...)
	}
	w.body = w.body[:0]
}

func (w *Writer) writeCSI(body []byte) { w.out = append(append(w.out, esc, '['), body...) }

func (w *Writer) escape(b byte) {
	w.body = append(w.body, b)
	switch {
	case b < 0x30 && len(w.body) <= maxBody:
		return // an intermediate byte, or a control character that the terminal executes
	case b == '[' && len(w.body) == 1:
		w.state, w.body = csi, w.body[:0]
		return
	}
	if b == 'c' && len(w.body) == 1 {
		w.restart()
		return
	}
	w.out = append(append(w.out, esc), w.body...)
	w.body = w.body[:len(w.body)-1]
	hash := len(w.body) == 1 && w.body[0] == '#'
	plain := len(w.body) == 0
	w.state, w.body = ground, w.body[:0]
	switch {
	case hash && b == '8': // fills the screen and resets the margins
		w.reset()
	case !plain:
	case strings.IndexByte("]P_^X", b) >= 0:
		w.state = inString
	case b == '7':
		w.markCursorSaved()
	case b == '8':
		w.restore(2)
	}
}

func (w *Writer) reset() {
	w.top, w.bottom, w.dirty = 1, w.rows, true
	w.margins()
}

// margins sets the program's margins, which moves the cursor to the first row.
func (w *Writer) margins() {
	w.out = fmt.Appendf(w.out, "\x1b[%d;%dr", w.top, w.bottom)
}

func (w *Writer) keepCursor(f func()) {
	w.out = append(w.out, "\x1b7"...)
	f()
	w.out = append(w.out, "\x1b8"...)
}

// restore must follow a sequence of n bytes that restores the cursor. If the program has not saved a cursor, restore
// replaces the sequence, because the terminal would restore the Writer's cursor.
func (w *Writer) restore(n int) {
	if !w.saved {
		w.origin = false
		w.out = append(w.out[:len(w.out)-n], "\x1b[?6l\x1b(B\x0f\x1b[m\x1b[H"...)
		return
	}
	w.markCursorSaved()
}

// markCursorSaved records that the program's cursor is saved, and then redraws the line if the program might have
// erased it. It must follow a sequence that saves or restores the cursor.
func (w *Writer) markCursorSaved() {
	w.saved = true
	if w.dirty {
		w.paint()
	}
}

func (w *Writer) paint() {
	w.dirty = false
	w.keepCursor(func() {
		w.out = fmt.Appendf(w.out, "\x1b[?6l\x1b[%d;1H\x1b(B\x0f\x1b[0m%s", w.rows+1,
			w.text(w.cols))
		if w.origin { // not all terminals restore the origin mode with the cursor
			w.out = append(w.out, "\x1b[?6h"...)
		}
	})
}

func (w *Writer) changeCSI(body []byte) {
	final, params := body[len(body)-1], string(body[:len(body)-1])
	if final == 'J' && params == "3" {
		return // it would erase the scrollback of the user's shell
	}
	if draws(final) {
		w.blank()
	}
	if final == 'm' {
		w.single.style(params)
	}
	private := strings.HasPrefix(params, "?")
	plain := strings.Trim(params, "0123456789;") == ""
	switch {
	case final == 'r' && plain:
		w.setMargins(params)
	case (final == 'H' || final == 'f' || final == 'd') && plain:
		row, rest, _ := strings.Cut(params, ";")
		if number(row) <= w.rows {
			w.writeCSI(body)
			return
		}
		if rest != "" {
			rest = ";" + rest
		}
		w.writeCSI([]byte(strconv.Itoa(w.rows) + rest + string(final)))
	case final == 'J':
		w.writeCSI(body)
		w.dirty = true
	case final == 'p' && params == "!": // resets modes, colors and margins
		w.single.style("")
		w.writeCSI(body)
		w.top, w.bottom, w.saved, w.origin = 1, w.rows, false, false
		w.keepCursor(w.margins)
	case final == 'p' && params == "?2048$":
		// Do not forward the query. Without a reply, the program gets its size from the kernel.
	case private && (final == 'h' || final == 'l'):
		w.modes(body, strings.Split(params[1:], ";"), final == 'h')
	case final == 's' && params == "":
		w.writeCSI(body)
		w.markCursorSaved()
	case final == 'u' && params == "":
		w.writeCSI(body)
		w.restore(3)
	default:
		w.writeCSI(body)
	}
}

func (w *Writer) setMargins(params string) {
	first, last, _ := strings.Cut(params, ";")
	top, bottom := max(1, number(first)), number(last)
	if bottom == 0 || bottom > w.rows {
		bottom = w.rows
	}
	if top < bottom { // terminals ignore other margins
		w.top, w.bottom = top, bottom
		w.margins()
	}
}

func number(text string) int {
	if text == "" {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 1 << 20 // too large
	}
	return n
}

func (w *Writer) modes(body []byte, modes []string, on bool) {
	kept := modes[:0]
	for _, mode := range modes {
		switch {
		case mode == "47" || mode == "1047" || mode == "1049":
			w.switchTo(on)
		case mode != "2048": // mode 2048 would make the terminal report its real size
			kept = append(kept, mode)
		}
	}
	if len(kept) == 0 {
		return
	}
	w.writeCSI([]byte("?" + strings.Join(kept, ";") + string(body[len(body)-1])))
	for _, mode := range kept {
		switch mode {
		case "3": // changes the width, clears the screen and resets the margins
			w.reset()
		case "6":
			w.origin = on
		}
	}
}
