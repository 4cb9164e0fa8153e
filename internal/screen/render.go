package screen

import (
	"slices"
	"strings"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

const sgrReset = "\x1b[m"

// Lines returns at most h lines of the screen, each at most w cells wide, with only text and SGR. On the alternate
// screen, they are the first lines, otherwise the last lines in use; see offset.
func (s *Screen) Lines(w, h int) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cur == nil {
		return nil
	}
	s.recoverEmulator(s.sync)
	from := s.offset(h)
	lines := make([]string, 0, max(0, min(h, s.rows)))
	for y := from; y < s.rows && len(lines) < h; y++ {
		lines = append(lines, s.line(y, w))
	}
	return lines
}

// offset returns the row of the screen at which Lines(w, h) starts.
func (s *Screen) offset(h int) int {
	if h >= s.rows || s.cur == &s.alt {
		return 0
	}
	used := s.rows - 1
	for used > s.cur.y && s.blankLine(used) {
		used--
	}
	return clamp(used-h+1, 0, s.rows-h)
}

func (s *Screen) blankLine(y int) bool {
	for x := range s.cols {
		if c := s.cur.emulator.CellAt(x, y); c != nil && !blank(c) {
			return false
		}
	}
	return true
}

func (s *Screen) line(y, w int) string {
	s.scratch = s.scratch[:0]
	for x := range min(w, s.cols) {
		c := s.cur.emulator.CellAt(x, y)
		if c == nil {
			break
		}
		s.scratch = append(s.scratch, c)
	}
	return s.render()
}

// render returns the row in s.scratch. Half of a wide character becomes a blank.
func (s *Screen) render() string {
	row := s.scratch
	end := len(row)
	for end > 0 && blank(row[end-1]) {
		end--
	}
	var b strings.Builder
	b.Grow(end)
	var pen uv.Style
	for x := 0; x < end; {
		c := row[x]
		text, width := c.Content, c.Width
		switch {
		case width == 1 && text != "":
		case width == 2 && x+1 < len(row) && row[x+1].Width == 0 && text != "":
		default:
			text, width = " ", 1
		}
		if !c.Style.Equal(&pen) {
			b.WriteString(c.Style.Diff(&pen))
			pen = c.Style
		}
		b.WriteString(text)
		x += width
	}
	if !pen.IsZero() {
		b.WriteString(sgrReset)
	}
	return b.String()
}

func blank(c *uv.Cell) bool {
	return c.Style.IsZero() && (c.Content == " " || c.Content == "" || c.Width == 0)
}

// Text returns the screen as plain text, without trailing blanks and blank lines at the end.
func (s *Screen) Text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.plain(), "\n")
}

func (s *Screen) plain() []string {
	if s.cur == nil {
		return nil
	}
	s.recoverEmulator(s.sync)
	lines := make([]string, s.rows)
	end := 0
	for y := range lines {
		if lines[y] = plainLine(s.line(y, s.cols)); lines[y] != "" {
			end = y + 1
		}
	}
	return lines[:end]
}

func plainLine(styled string) string { return strings.TrimRight(ansi.Strip(styled), " ") }

const maxReplay = 10000

// Text replays a program's stored output and returns plain text. If lines is 0, it returns the final screen. Otherwise,
// it returns the last lines, at most 10,000.
func Text(raw []byte, cols, rows, lines int) string {
	lines = min(lines, maxReplay)
	return fastText(tail(raw, rows, lines), cols, rows, lines)
}

func fastText(raw []byte, cols, rows, lines int) string {
	if text, ok := printedText(raw, cols, rows, lines); ok {
		return text
	}
	return replay(raw, cols, rows, lines)
}

// TextOfEnd is like Text, but raw contains only the end of the output. At the start of raw, the terminal must be in its
// initial modes. ok is false if the text depends on earlier output.
func TextOfEnd(raw []byte, cols, rows, lines int) (text string, ok bool) {
	lines = min(lines, maxReplay)
	end, ok := cutTail(raw, rows, lines)
	if !ok {
		return "", false
	}
	return fastText(end, cols, rows, lines), true
}

func replay(raw []byte, cols, rows, lines int) string {
	s := New(cols, rows, lines)
	defer s.Close()
	_, _ = s.Write(raw)
	if lines <= 0 {
		return s.Text()
	}
	s.mu.Lock()
	shown := s.plain() // read the screen first, because that can scroll a line into the history
	s.mu.Unlock()
	var all []string
	if past := s.History(0, lines); !s.Alt() {
		for _, line := range past {
			all = append(all, plainLine(line))
		}
	}
	all = append(all, shown...)
	return strings.Join(slices.Clone(all[max(0, len(all)-lines):]), "\n")
}
