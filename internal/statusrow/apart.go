package statusrow

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"gcity/internal/screen"
)

// apart is the state of a program that does not reach the other screen of the real terminal. Both screens of the
// program are shown on one screen. Its methods accept nil.
type apart struct {
	model *screen.Screen // what the program has drawn, on both of its screens
	alt   bool           // the program is on its alternate screen
	// The terminal still shows the rows of the main screen. They are blanked when the program draws.
	stale bool
	// the program had saved its cursor before it left its main screen
	saved bool
	// the SGR sequences since the last reset, and those of the main screen
	pen, mainPen []byte
	data         []byte // output that is being written
	known        int    // how much of it the model has received
	at           int    // how much of it has been read, without the byte that is being read
}

// NewApart is like New, but the program stays on the screen of the real terminal that is shown now. The other screen
// and the scrollback of the terminal belong to the user's shell.
func NewApart(to io.Writer, cols, rows int, text func(cols int) string) *Writer {
	w := New(to, cols, rows, text)
	w.apart = &apart{model: screen.New(cols, w.rows, 0)}
	return w
}

func (a *apart) resize(cols, rows int) {
	if a != nil {
		a.model.Resize(cols, rows)
	}
}

func (a *apart) begin(p []byte) {
	if a != nil {
		a.data, a.known, a.at = p, 0, 0
	}
}

func (a *apart) reach(at int) {
	if a != nil {
		a.at = at
	}
}

func (a *apart) end() {
	if a != nil {
		a.learn(len(a.data))
		a.data = nil
	}
}

// learn passes the output up to a position to the model.
func (a *apart) learn(to int) {
	if to > a.known {
		_, _ = a.model.Write(a.data[a.known:to]) // a model accepts everything
		a.known = to
	}
}

// drops reports whether a sequence has an effect outside the screen: it erases the scrollback.
func (a *apart) drops(params string, final byte) bool {
	return a != nil && final == 'J' && params == "3"
}

// maxPen is the maximum length of the SGR sequences that are repeated on the main screen.
const maxPen = 256

// style follows the colors of the program. A restored cursor restores them too, which is ignored.
func (a *apart) style(params string) {
	switch {
	case a == nil || strings.Trim(params, "0123456789;:") != "":
	case params == "" || params == "0" || len(a.pen) > maxPen:
		a.pen = nil
	default:
		a.pen = fmt.Appendf(a.pen, "\x1b[%sm", params)
	}
}

// draws reports whether a CSI sequence with this final byte changes the screen or moves the cursor.
func draws(final byte) bool { return bytes.IndexByte([]byte("hlmrqutncp"), final) < 0 }

// show prepares the screen for text that begins at a position of the output.
func (w *Writer) show(text []byte, at int) {
	if w.apart == nil || w.state != ground || len(text) == 0 {
		return
	}
	w.apart.reach(at)
	w.blank()
}

// blank erases the rows of the main screen after a switch to the alternate screen.
func (w *Writer) blank() {
	if w.apart == nil || !w.apart.stale {
		return
	}
	w.apart.stale = false
	w.rowsOf(func(int) string { return "" })
}

// switchTo shows the other screen of the program.
func (w *Writer) switchTo(alt bool) {
	a := w.apart
	if alt == a.alt {
		return
	}
	a.learn(a.at + 1)
	a.alt, a.stale = alt, alt
	w.top, w.bottom = 1, w.rows
	if alt {
		a.saved, w.saved[0], a.mainPen, a.pen = w.saved[0], false, a.pen, nil
		w.out = append(w.out, "\x1b[m"...)
		w.keepCursor(w.margins)
		return
	}
	w.margins()
	w.out = append(w.out, "\x1b[m"...)
	lines := a.model.Lines(w.cols, w.rows)
	w.rowsOf(func(i int) string {
		if i < len(lines) {
			return lines[i]
		}
		return ""
	})
	a.pen = a.mainPen
	w.out = append(w.out, a.pen...)
	// Programs save the cursor at this place before they switch.
	if w.saved[0] = a.saved; a.saved {
		w.out = append(w.out, "\x1b7"...)
	}
}

// rowsOf draws all rows of the program, and moves the cursor to its place on the model.
func (w *Writer) rowsOf(row func(i int) string) {
	w.apart.learn(w.apart.at)
	if w.origin {
		w.out = append(w.out, "\x1b[?6l"...)
	}
	for i := range w.rows {
		w.out = fmt.Appendf(w.out, "\x1b[%d;1H\x1b[2K%s", i+1, row(i))
	}
	x, y, _ := w.apart.model.Cursor()
	top := 0
	if w.origin {
		w.out, top = append(w.out, "\x1b[?6h"...), w.top-1
	}
	w.out = fmt.Appendf(w.out, "\x1b[%d;%dH", max(1, y-top+1), x+1)
}

// restart replaces a reset of the terminal, which would show its other screen.
func (w *Writer) restart() {
	a := w.apart
	a.alt, a.stale, a.pen = false, false, nil
	w.state, w.body = ground, w.body[:0]
	w.saved, w.alt, w.origin = [2]bool{}, 0, false
	w.out = append(w.out, "\x1b[!p\x1b(B\x0f\x1b[?7h\x1b[m\x1b[2J"...)
	w.reset()
}
