package statusrow

import (
	"bytes"
	"fmt"
	"strings"

	"gcity/internal/screen"
)

// singleScreen shows the program's main and alternate screens on one screen of the real terminal.
type singleScreen struct {
	model *screen.Screen
	alt   bool
	// the terminal still shows the main screen
	stale bool
	// the program had saved its cursor before it left its main screen
	mainSaved bool
	// SGR sequences since the last reset
	pen, mainPen []byte
	data         []byte
	known        int // bytes of data that the model has received
	at           int // processed bytes of data, without the current byte
}

func (s *singleScreen) learn(to int) {
	if to > s.known {
		_, _ = s.model.Write(s.data[s.known:to])
		s.known = to
	}
}

const maxPen = 256

func (s *singleScreen) style(params string) {
	switch {
	case strings.Trim(params, "0123456789;:") != "":
	case params == "" || params == "0" || len(s.pen) > maxPen:
		s.pen = nil
	default:
		s.pen = fmt.Appendf(s.pen, "\x1b[%sm", params)
	}
}

func draws(final byte) bool { return bytes.IndexByte([]byte("hlmrqutncp"), final) < 0 }

// show erases the main screen if the terminal still shows it. It must be called before text is forwarded.
func (w *Writer) show(text []byte, at int) {
	if w.state == ground && len(text) > 0 {
		w.single.at = at
		w.blank()
	}
}

func (w *Writer) blank() {
	if w.single.stale {
		w.single.stale = false
		w.rowsOf(func(int) string { return "" })
	}
}

func (w *Writer) switchTo(alt bool) {
	s := &w.single
	if alt == s.alt {
		return
	}
	s.learn(s.at + 1)
	s.alt, s.stale = alt, alt
	w.top, w.bottom = 1, w.rows
	if alt {
		s.mainSaved, w.saved, s.mainPen, s.pen = w.saved, false, s.pen, nil
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
	if w.saved = s.mainSaved; w.saved {
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
	s := &w.single
	s.alt, s.stale, s.pen = false, false, nil
	w.state, w.body = ground, w.body[:0]
	w.saved, w.origin = false, false
	w.out = append(w.out, "\x1b[!p\x1b(B\x0f\x1b[?7h\x1b[m\x1b[2J"...)
	w.reset()
}
