package screen

import (
	"strconv"
	"unicode"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/vt"

	"gcity/internal/grapheme"
)

const maxPending = 1024

// The emulator accepts only whole clusters, so characters stay in pending until no mark can follow.

func (s *Screen) ascii(run []byte) {
	s.changed = true
	s.commit(true)
	n := len(run) - 1
	s.putASCII(run[:n])
	s.pending = append(s.pending, run[n])
}

func (s *Screen) wide(r rune) {
	s.changed = true
	if unsafeRune(r) {
		r = utf8.RuneError
	}
	s.pending = utf8.AppendRune(s.pending, r)
	if len(s.pending) >= maxPending {
		s.commit(false)
	}
}

// unsafeRune reports whether r is a control character, is invisible, or changes the text direction.
func unsafeRune(r rune) bool {
	switch {
	case r < 0xa0:
		return r < 0x20 || r >= 0x7f
	case r >= 0x2500 && r < 0x2e80: // boxes, blocks, dingbats: frequent and safe
		return false
	case r == 0x200c, r == 0x200d: // joiners are part of some scripts and of emoji
		return false
	case r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0: // invisible letters
		return true
	}
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Cs)
}

// commit draws the pending clusters, without the last one unless all is true.
func (s *Screen) commit(all bool) {
	b := s.pending
	for len(b) > 0 {
		head, rest, show, width := grapheme.First(b)
		if !all && len(rest) == 0 {
			// a cluster that is too long stays longer than grapheme.MaxBytes, so that put replaces it
			b = append(s.pending[:0], head[:min(len(head), 2*grapheme.MaxBytes)]...)
			for !utf8.Valid(b) {
				b = b[:len(b)-1]
			}
			s.pending = b
			return
		}
		s.put(show, width)
		b = rest
	}
	s.pending = s.pending[:0]
}

func (s *Screen) put(show string, width int) {
	if len(show) == 1 && s.special[b2i(s.shifted)] {
		if drawn, ok := vt.SpecialDrawing[show[0]]; ok {
			show = drawn
		}
	}
	s.last = append(s.last[:0], show...)
	p := s.cur
	switch {
	case width > s.cols:
		show, width = grapheme.Placeholder, 1
	case p.wrap, !s.noWrap && p.x+width > s.cols:
		s.wrapLine()
	}
	if s.insert {
		p.out = appendSeq(p.out, width, '@')
	}
	p.out = append(p.out, show...)
	s.advance(width)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (s *Screen) putASCII(run []byte) {
	if s.insert || s.special[b2i(s.shifted)] {
		for _, c := range run {
			s.put(string(rune(c)), 1)
		}
		return
	}
	for len(run) > 0 {
		if s.cur.wrap {
			s.wrapLine()
		}
		n := min(len(run), s.cols-s.cur.x)
		s.cur.out = append(s.cur.out, run[:n]...)
		s.advance(n)
		s.last = append(s.last[:0], run[n-1])
		run = run[n:]
	}
}

func (s *Screen) advance(width int) {
	p := s.cur
	p.x += width
	if p.x >= s.cols {
		p.x = s.cols - 1
		p.wrap = !s.noWrap
	}
}

func (s *Screen) wrapLine() {
	s.cur.out = append(s.cur.out, '\r')
	s.cur.x, s.cur.wrap = 0, false
	s.lineFeed()
}

// lineFeed moves the cursor down. It counts scrolls of the whole screen without doing them, so that flush does them in
// one step.
func (s *Screen) lineFeed() {
	p := s.cur
	p.wrap = false
	whole := p.top == 0 && p.bottom == s.rows-1
	if p.y == p.bottom && whole && !p.painted {
		if p.scroll >= p.rowBefore {
			s.flush()
		}
		if p.rowBefore > 0 {
			p.scroll++
		}
	}
	if p.y != p.bottom && p.y < s.rows-1 {
		p.y++
	}
	p.out = append(p.out, '\n')
	if s.rows == 1 || p.painted || !whole {
		s.flush() // scroll one line at a time, because the history would overflow otherwise
	}
}

func (s *Screen) flush() {
	p := s.cur
	if len(p.out) > 0 {
		out, n := p.out, p.scroll
		p.out, p.scroll = p.out[:0], 0
		if n > 0 {
			p.write(seq(n, 'S') + seq(n, 'A'))
		}
		_, _ = p.emulator.Write(out)
		s.collectHistory(p)
	}
	pos := p.emulator.CursorPosition()
	p.x, p.y = clamp(pos.X, 0, s.cols-1), clamp(pos.Y, 0, s.rows-1)
	p.rowBefore = p.y
}

func (s *Screen) sync() {
	s.commit(true)
	s.flush()
}

func (s *Screen) collectHistory(p *page) {
	if p.emulator.ScrollbackLen() == 0 {
		return
	}
	back := p.emulator.Scrollback()
	if p == &s.main && s.maxHistoryLines > 0 {
		s.drawn = s.drawn[:0]
		for _, line := range back.Lines() {
			s.scratch = s.scratch[:0]
			for x := range line {
				s.scratch = append(s.scratch, &line[x])
			}
			if n := len(line); n > 0 && n < s.cols && line[n-1].Width == 2 {
				// the emulator's scrollback drops the second cell of a wide character, because that cell is empty
				s.scratch = append(s.scratch, &uv.Cell{})
			}
			s.drawn = append(s.drawn, s.render())
		}
		s.remember(s.drawn)
	}
	back.Clear()
}

func seq(n int, final byte) string { return string(appendSeq(nil, n, final)) }

func appendSeq(to []byte, n int, final byte) []byte {
	to = append(to, "\x1b["...)
	to = strconv.AppendInt(to, int64(n), 10)
	return append(to, final)
}
