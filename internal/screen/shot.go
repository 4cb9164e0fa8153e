package screen

import "slices"

// Shot is a snapshot of a screen.
type Shot struct {
	Cols, Rows int
	Lines      []string // all rows, in the form of Screen.Lines
	Past       []string // the newest lines of the history, oldest first
	// lines that have scrolled off
	ScrolledOff uint64
	X, Y        int // cursor position
	Cursor      bool
	Alt         bool
}

// Shot returns the screen and up to the given number of the newest history lines.
func (s *Screen) Shot(past int) Shot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cur == nil {
		return Shot{Cols: s.cols, Rows: s.rows}
	}
	s.recoverEmulator(s.sync)
	lines := make([]string, 0, s.rows)
	s.recoverEmulator(func() {
		for y := range s.rows {
			lines = append(lines, s.line(y, s.cols))
		}
	})
	all := s.past()
	return Shot{
		Cols: s.cols, Rows: s.rows, Lines: lines,
		Past: slices.Clone(all[len(all)-clamp(past, 0, len(all)):]), ScrolledOff: s.scrolledOff,
		X: s.cur.x, Y: s.cur.y, Cursor: !s.hidden, Alt: s.cur == &s.alt,
	}
}

// maxHistory is the history's limit in bytes. A limit on lines is not enough, because each cell can have its own color.
const maxHistory = 16 << 20

func (s *Screen) remember(lines []string) {
	s.scrolledOff += uint64(len(lines))
	for _, l := range lines {
		s.historyBytes += len(l)
	}
	s.history = append(s.history, lines...)
	over := len(s.history) - s.maxHistoryLines
	if over <= max(64, s.maxHistoryLines/4) {
		over = 0
	}
	size := s.historyBytes
	for _, l := range s.history[:over] {
		size -= len(l)
	}
	for size > maxHistory && over < len(s.history) {
		size -= len(s.history[over])
		over++
	}
	s.history, s.historyBytes = slices.Delete(s.history, 0, over), size
}
