// Package screen makes the output of programs safe to display. It provides a terminal's screen as lines of text and
// color, replays of stored output, and single clean lines. Its results contain no control characters and no escape
// sequences other than SGR (law L12).
//
// The cells, their styles and the editing functions come from charmbracelet/x/vt, but this package sends x/vt only a
// small set of sequences. If x/vt (as of September 2026) receives a program's output directly, it
//
//   - panics on margins below the screen, and loops for a long time on large counts;
//   - replies to queries through a pipe that blocks without a reader;
//   - always keeps 10,000 lines of scrollback on the alternate screen, with 112 bytes per cell;
//   - loses a wide character at the right margin, and the last character of a line full of wide characters;
//   - creates a cell without width if a combining mark arrives in a later write;
//   - moves the cursor down on IL, on DL, and on CR in origin mode if there is a top margin;
//   - clears the whole line on ED 1, clears the screen on ED 3, and fills the scrollback on ED 2;
//   - does not support SO, SI, CSI u, ESC E, insert mode or soft reset;
//   - copies every cell for every line that scrolls, which takes 32 µs per line.
//
// Therefore, this package itself implements parsing, characters and their widths, wrapping, modes, margins, character
// sets, the two screens, and the history. It scrolls many lines in one step.
package screen

import (
	"io"
	"slices"
	"sync"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/vt"
)

const (
	maxCols = 1000
	maxRows = 500
)

// Screen is a terminal's screen. Its methods may be called concurrently.
type Screen struct {
	mu              sync.Mutex
	cols, rows      int
	maxHistoryLines int
	history         []string // rendered, oldest first
	historyBytes    int
	scrolledOff     uint64 // lines that have been added to history
	drawn           []string
	parse           parser
	version         uint64
	changed         bool // since the last increment of version

	cur  *page
	main page
	alt  page // created on first use

	modes
	// held back, because a combining mark might follow
	pending []byte
	last    []byte // the newest cluster, which REP repeats
	scratch []*uv.Cell
}

type page struct {
	emulator    *vt.Emulator
	top, bottom int // margins of the scrolling region, inclusive
	out         []byte
	x, y        int // cursor after the buffered output is written
	rowBefore   int // row before the buffered output is written
	// lines to scroll before the buffered output is written
	scroll  int
	wrap    bool // the next character goes to the next line
	painted bool // the pen might have a background color, which scrolling extends to new lines
}

// modes are shared by the main and the alternate screen.
type modes struct {
	origin, insert, newline bool
	noWrap, hidden, tabs    bool    // tabs: the program has changed the tab stops
	special                 [2]bool // whether G0 and G1 are the line-drawing character set
	shifted                 bool    // G1 is used in place of G0
}

// New creates a blank screen. scrollback is the maximum number of history lines. The size is limited to 1000×500.
func New(cols, rows, scrollback int) *Screen {
	s := &Screen{cols: clamp(cols, 1, maxCols), rows: clamp(rows, 1, maxRows),
		maxHistoryLines: max(0, scrollback)}
	s.main.init(s.cols, s.rows)
	s.cur = &s.main
	return s
}

func clamp(v, lo, hi int) int { return max(lo, min(v, hi)) }

func (p *page) init(cols, rows int) {
	*p = page{emulator: vt.NewEmulator(cols, rows), bottom: rows - 1}
	// With a closed pipe, writing replies fails instead of blocking.
	if c, ok := p.emulator.InputPipe().(io.Closer); ok {
		_ = c.Close()
	}
	p.emulator.SetScrollbackSize(2 * maxRows) // emptied after every write; see collectHistory
	p.write("\x1b[?7l")
}

func (p *page) write(s string) { _, _ = p.emulator.WriteString(s) }

// Write processes a program's output. The result does not depend on how the output is divided into writes.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cur == nil {
		return len(p), nil
	}
	const piece = 4096 // limits how much output is lost if the emulator panics
	for rest := p; len(rest) > 0; {
		n := min(len(rest), piece)
		s.recoverEmulator(func() { s.parse.feed(rest[:n], s) })
		rest = rest[n:]
	}
	s.recoverEmulator(s.flush)
	if s.changed {
		s.changed = false
		s.version++
	}
	return len(p), nil
}

// recoverEmulator calls do. After a panic, it copies the cells to a new emulator and resets the modes.
func (s *Screen) recoverEmulator(do func()) {
	defer func() {
		if recover() != nil {
			s.rebuild()
		}
	}()
	do()
}

func (s *Screen) rebuild() {
	old := s.cur.emulator
	s.cur.init(s.cols, s.rows)
	s.parse, s.pending, s.modes, s.changed = parser{}, nil, modes{}, true
	defer func() { _ = recover() }() // cells of the old emulator that cannot be read are lost
	for y := range s.rows {
		for x := range s.cols {
			if c := old.CellAt(x, y); c != nil && c.Width == 1 {
				s.cur.emulator.SetCell(x, y, c)
			}
		}
	}
}

// Resize changes the size, within the limits of New. If the cursor would be cut off, lines at the top move to the
// history.
func (s *Screen) Resize(cols, rows int) {
	cols, rows = clamp(cols, 1, maxCols), clamp(rows, 1, maxRows)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cur == nil || cols == s.cols && rows == s.rows {
		return
	}
	s.recoverEmulator(s.sync)
	for _, p := range []*page{&s.main, &s.alt} {
		if p.emulator != nil {
			s.recoverEmulator(func() { s.resizePage(p, cols, rows) })
		}
	}
	s.cols, s.rows = cols, rows
	s.version++
}

func (s *Screen) resizePage(p *page, cols, rows int) {
	p.write("\x1b[r")
	if over := p.y - rows + 1; over > 0 {
		p.write(seq(over, 'S'))
		s.collectHistory(p)
		p.y -= over
	}
	p.emulator.Resize(cols, rows)
	p.top, p.bottom, p.wrap = 0, rows-1, false
	p.moveTo(min(p.x, cols-1), min(p.y, rows-1))
}

// Size returns the screen's size in cells.
func (s *Screen) Size() (cols, rows int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cols, s.rows
}

// Cursor returns the position of the next character, counted from 0, and whether the cursor is visible.
func (s *Screen) Cursor() (x, y int, visible bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cur == nil {
		return 0, 0, false
	}
	s.recoverEmulator(s.sync)
	return s.cur.x, s.cur.y, !s.hidden
}

// Alt reports whether the alternate screen is active.
func (s *Screen) Alt() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cur == &s.alt
}

// Version returns a number that increases whenever the visible content might have changed.
func (s *Screen) Version() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.version
}

// past returns the newest lines of history, at most maxHistoryLines. history can be longer, because trimming is rare.
func (s *Screen) past() []string { return s.history[max(0, len(s.history)-s.maxHistoryLines):] }

// History returns up to n lines that have scrolled off the screen, starting at the given index. Index 0 is the oldest
// line.
func (s *Screen) History(from, n int) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	past := s.past()
	from = clamp(from, 0, len(past))
	return slices.Clone(past[from : from+clamp(n, 0, len(past)-from)])
}

// Close frees the cells. A closed screen ignores writes and is blank.
func (s *Screen) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cur, s.main, s.alt, s.history, s.historyBytes, s.drawn, s.scratch = nil, page{}, page{}, nil,
		0, nil,
		nil
}
