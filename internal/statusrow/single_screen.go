package statusrow

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"gcity/internal/screen"
)

// singleScreen shows the program's main and alternate screens on one screen of the real terminal. Its methods accept a
// nil receiver.
type singleScreen struct {
	model *screen.Screen
	alt   bool
	// the terminal still shows the main screen
	stale bool
	// the program had saved its cursor before it left its main screen
	saved bool
	// SGR sequences since the last reset
	pen, mainPen []byte
	data         []byte
	known        int // bytes of data that the model has received
	at           int // processed bytes of data, without the current byte
}

// NewSingleScreen is like New, but the program stays on the current screen of the real terminal. The other screen
// belongs to the user's shell.
func NewSingleScreen(to io.Writer, cols, rows int, text func(cols int) string) *Writer {
	w := New(to, cols, rows, text)
	w.single = &singleScreen{model: screen.New(cols, w.rows, 0)}
	return w
}

func (s *singleScreen) resize(cols, rows int) {
	if s != nil {
		s.model.Resize(cols, rows)
	}
}

func (s *singleScreen) begin(p []byte) {
	if s != nil {
		s.data, s.known, s.at = p, 0, 0
	}
}

func (s *singleScreen) reach(at int) {
	if s != nil {
		s.at = at
	}
}

func (s *singleScreen) end() {
	if s != nil {
		s.learn(len(s.data))
		s.data = nil
	}
}

func (s *singleScreen) learn(to int) {
	if to > s.known {
		_, _ = s.model.Write(s.data[s.known:to])
		s.known = to
	}
}

// drops reports whether a sequence must be dropped, because it would erase the scrollback of the user's shell.
func (s *singleScreen) drops(params string, final byte) bool {
	return s != nil && final == 'J' && params == "3"
}

const maxPen = 256

func (s *singleScreen) style(params string) {
	switch {
	case s == nil || strings.Trim(params, "0123456789;:") != "":
	case params == "" || params == "0" || len(s.pen) > maxPen:
		s.pen = nil
	default:
		s.pen = fmt.Appendf(s.pen, "\x1b[%sm", params)
	}
}

func draws(final byte) bool { return bytes.IndexByte([]byte("hlmrqutncp"), final) < 0 }

// show erases the main screen if the terminal still shows it. It must be called before text is forwarded.
func (w *Writer) show(text []byte, at int) {
	if w.single == nil || w.state != ground || len(text) == 0 {
		return
	}
	w.single.reach(at)
	w.blank()
}

func (w *Writer) blank() {
	if w.single == nil || !w.single.stale {
		return
	}
	w.single.stale = false
	w.rowsOf(func(int) string { return "" })
}

func (w *Writer) switchTo(alt bool) {
	s := w.single
	if alt == s.alt {
		return
	}
	s.learn(s.at + 1)
	s.alt, s.stale = alt, alt
	w.top, w.bottom = 1, w.rows
	if alt {
		s.saved, w.saved[0], s.mainPen, s.pen = w.saved[0], false, s.pen, nil
		w.out = append(w.out, "\x1b[m"...)
		w.keepCursor(w.margins)
		return
	}
	w.margins()
	w.out = append(w.out, "\x1b[m"...)
	lines := s.model.Lines(w.cols, w.rows)
	w.rowsOf(func(i int) string {
		if i < len(lines) {
			return lines[i]
		}
		return ""
	})
	s.pen = s.mainPen
	w.out = append(w.out, s.pen...)
	if w.saved[0] = s.saved; s.saved {
		w.out = append(w.out, "\x1b7"...)
	}
}

func (w *Writer) rowsOf(row func(i int) string) {
	w.single.learn(w.single.at)
	if w.origin {
		w.out = append(w.out, "\x1b[?6l"...)
	}
	for i := range w.rows {
		w.out = fmt.Appendf(w.out, "\x1b[%d;1H\x1b[2K%s", i+1, row(i))
	}
	x, y, _ := w.single.model.Cursor()
	top := 0
	if w.origin {
		w.out, top = append(w.out, "\x1b[?6h"...), w.top-1
	}
	w.out = fmt.Appendf(w.out, "\x1b[%d;%dH", max(1, y-top+1), x+1)
}

// restart handles a terminal reset. It does not forward the reset, because that would show the terminal's other screen.
func (w *Writer) restart() {
	s := w.single
	s.alt, s.stale, s.pen = false, false, nil
	w.state, w.body = ground, w.body[:0]
	w.saved, w.alt, w.origin = [2]bool{}, 0, false
	w.out = append(w.out, "\x1b[!p\x1b(B\x0f\x1b[?7h\x1b[m\x1b[2J"...)
	w.reset()
}
