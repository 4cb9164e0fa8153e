// Package screen makes what programs print fit to be shown: a terminal's screen as lines of text and colour, replays of
// kept output, and single lines cleaned of everything a terminal would act upon. Nothing that comes out of it contains
// a control character or an escape sequence other than SGR (law L12).
//
// The cells, their styles and the editing functions are those of charmbracelet/x/vt. What reaches it is a small
// dialect that this package writes itself, because x/vt (of September 2026), given a program's bytes as they are,
//
//   - panics on margins below the screen, and loops for long on large counts;
//   - answers queries into a pipe that blocks when nobody reads;
//   - keeps 10,000 lines of scrollback on the alternate screen, each cell 112 bytes, and cannot be told not to;
//   - loses a wide character at the right margin, and the last one of every line that is full of them;
//   - makes a cell of no width of a combining mark that comes in a later write;
//   - moves the cursor down on IL, DL and on CR in origin mode when there is a top margin;
//   - clears the whole line on ED 1, the screen on ED 3, and fills the scrollback on ED 2;
//   - knows neither SO and SI, nor CSI u, ESC E, insert mode or soft reset;
//   - copies every cell for every line that scrolls: 32 µs a line.
//
// So parsing, characters and their widths, wrapping, modes, margins, character sets, the choice of screen and the
// history live here, and scrolling is asked for once for many lines.
package screen

import (
	"io"
	"slices"
	"sync"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/vt"
)

// A screen's size is kept within these bounds.
const (
	maxCols = 1000
	maxRows = 500
)

// Screen is a terminal's screen. Its methods may be called from several goroutines; it has none of its own.
type Screen struct {
	mu         sync.Mutex
	cols, rows int
	keep       int      // lines of history
	history    []string // rendered; oldest first
	held       int      // bytes of it
	gone       uint64   // lines that ever went into it
	drawn      []string // scratch
	parse      parser
	version    uint64
	changed    bool // since version was last raised

	cur  *page
	main page
	alt  page // made when first needed

	modes
	pending []byte     // the newest characters, held back because a mark may follow; see text.go
	last    []byte     // the newest cluster, for REP
	scratch []*uv.Cell // of the row that is being drawn
}

// page is one of the two screens.
type page struct {
	em          *vt.Emulator
	top, bottom int    // margins, inclusive
	out         []byte // for the emulator, not yet written
	x, y        int    // the cursor once out is written
	from        int    // y before out
	// lines that out scrolls, by which the screen is to be scrolled at once before it
	scroll  int
	wrap    bool // the next character goes to the next line
	painted bool // the pen may have a background, which scrolling spreads
}

// modes are what programs switch, shared by both screens.
type modes struct {
	origin, insert, newline bool
	noWrap, hidden, tabs    bool    // tabs: no longer every 8 columns
	special                 [2]bool // G0, G1 hold the line drawing characters
	shifted                 bool    // G1 is in use
}

// New makes a blank screen that keeps up to scrollback lines of history, none if that is 0 or less. The size is
// brought within 1×1 and 1000×500.
func New(cols, rows, scrollback int) *Screen {
	s := &Screen{cols: clamp(cols, 1, maxCols), rows: clamp(rows, 1, maxRows),
		keep: max(0, scrollback)}
	s.main.init(s.cols, s.rows)
	s.cur = &s.main
	return s
}

func clamp(v, lo, hi int) int { return max(lo, min(v, hi)) }

func (p *page) init(cols, rows int) {
	*p = page{em: vt.NewEmulator(cols, rows), bottom: rows - 1}
	// Replies have nowhere to go. A closed pipe makes them fail at once instead of blocking; and none is ever
	// provoked.
	if c, ok := p.em.InputPipe().(io.Closer); ok {
		_ = c.Close()
	}
	p.em.SetScrollbackSize(2 * maxRows) // emptied after every write, see harvest
	p.write("\x1b[?7l")
}

func (p *page) write(s string) { _, _ = p.em.WriteString(s) }

// Write feeds a program's output, in any pieces. It always takes all of p.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cur == nil {
		return len(p), nil
	}
	const piece = 4096 // so that a panic costs no more than that
	for rest := p; len(rest) > 0; {
		n := min(len(rest), piece)
		s.guard(func() { s.parse.feed(rest[:n], s) })
		rest = rest[n:]
	}
	s.guard(s.flush)
	if s.changed {
		s.changed = false
		s.version++
	}
	return len(p), nil
}

// guard survives a panic of the emulator: the cells are carried over to a new one, with cursor, pen and modes reset.
func (s *Screen) guard(do func()) {
	defer func() {
		if recover() != nil {
			s.rebuild()
		}
	}()
	do()
}

func (s *Screen) rebuild() {
	old := s.cur.em
	s.cur.init(s.cols, s.rows)
	s.parse, s.pending, s.modes, s.changed = parser{}, nil, modes{}, true
	defer func() { _ = recover() }() // what cannot be read of the old one is lost
	for y := range s.rows {
		for x := range s.cols {
			if c := old.CellAt(x, y); c != nil && c.Width == 1 {
				s.cur.em.SetCell(x, y, c)
			}
		}
	}
}

// Resize changes the size, as New bounds it. Lines that no longer fit go to the history from the top, so that the
// cursor's line stays.
func (s *Screen) Resize(cols, rows int) {
	cols, rows = clamp(cols, 1, maxCols), clamp(rows, 1, maxRows)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cur == nil || cols == s.cols && rows == s.rows {
		return
	}
	s.guard(s.settle)
	for _, p := range []*page{&s.main, &s.alt} {
		if p.em != nil {
			s.guard(func() { s.resizePage(p, cols, rows) })
		}
	}
	s.cols, s.rows = cols, rows
	s.version++
}

func (s *Screen) resizePage(p *page, cols, rows int) {
	p.write("\x1b[r")
	if over := p.y - rows + 1; over > 0 {
		p.write(seq(over, 'S'))
		s.harvest(p)
		p.y -= over
	}
	p.em.Resize(cols, rows)
	p.top, p.bottom, p.wrap = 0, rows-1, false
	p.moveTo(min(p.x, cols-1), min(p.y, rows-1))
}

// Size is the screen's size in cells.
func (s *Screen) Size() (cols, rows int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cols, s.rows
}

// Cursor is where the next character goes, from 0, and whether the program shows it.
func (s *Screen) Cursor() (x, y int, visible bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cur == nil {
		return 0, 0, false
	}
	s.guard(s.settle)
	return s.cur.x, s.cur.y, !s.hidden
}

// Alt reports whether a full-screen program has the alternate screen.
func (s *Screen) Alt() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cur == &s.alt
}

// Version grows whenever something visible may have changed.
func (s *Screen) Version() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// HistoryLen is the number of lines that History can give.
func (s *Screen) HistoryLen() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.past())
}

// past is the history; a little more is stored, so that trimming is rare.
func (s *Screen) past() []string { return s.history[max(0, len(s.history)-s.keep):] }

// History returns up to n lines that have left the screen at its top, the oldest being line 0, as Lines does but
// uncropped.
func (s *Screen) History(from, n int) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	past := s.past()
	from = clamp(from, 0, len(past))
	return slices.Clone(past[from : from+clamp(n, 0, len(past)-from)])
}

// Close frees the cells. A closed screen takes writes, does nothing and is blank.
func (s *Screen) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cur, s.main, s.alt, s.history, s.held, s.drawn, s.scratch = nil, page{}, page{}, nil, 0, nil,
		nil
}
