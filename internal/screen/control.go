package screen

import (
	"bytes"
	"strconv"

	"gcity/internal/grapheme"
)

func (s *Screen) control(c byte) {
	s.commit(true)
	p := s.cur
	switch c {
	case '\r':
		p.out = append(p.out, c)
		p.x, p.wrap = 0, false
	case '\n', '\v', '\f':
		if s.newline {
			p.out = append(p.out, '\r')
			p.x = 0
		}
		s.lineFeed()
	case '\b':
		s.sequence("\b")
	case '\t':
		if s.tabs {
			s.sequence("\t")
			break
		}
		p.out = append(p.out, c)
		p.x = min(s.cols-1, (p.x/8+1)*8)
	case 0x0e, 0x0f:
		s.shifted = c == 0x0e
		return
	default:
		return
	}
	s.changed = true
}

func (s *Screen) sequence(seq string) {
	s.cur.out = append(s.cur.out, seq...)
	s.cur.wrap = false
	s.flush()
	s.changed = true
}

func (p *page) moveTo(x, y int) {
	p.write("\x1b[" + strconv.Itoa(y+1) + ";" + strconv.Itoa(x+1) + "H")
	p.x, p.y, p.rowBefore, p.wrap = x, y, y, false
}

func (s *Screen) escape(inter, final byte) {
	s.commit(true)
	s.flush()
	switch {
	case inter == '(' || inter == ')':
		s.special[inter-'('] = final == '0'
	case inter != 0:
	case final == '7':
		s.cur.write("\x1b7")
	case final == '8':
		s.restore()
	case final == 'D':
		s.lineFeed()
	case final == 'E':
		s.wrapLine()
	case final == 'H':
		s.tabs = true
		s.sequence("\x1bH")
	case final == 'M':
		s.sequence("\x1bM")
	case final == 'c':
		s.reset()
	}
}

func (s *Screen) restore() {
	s.sequence("\x1b8")
	s.cur.painted = true // the restored pen might have a background color
	s.cur.moveTo(s.cur.x, s.cur.y)
}

func (s *Screen) reset() {
	s.switchTo(false)
	s.modes = modes{}
	s.last = s.last[:0]
	s.cur.top, s.cur.bottom, s.cur.painted = 0, s.rows-1, false
	s.sequence("\x1bc\x1b[?7l")
}

func (s *Screen) csiInter(_ []byte, inter byte) {
	if inter != '!' {
		return
	}
	s.commit(true)
	s.flush()
	s.modes = modes{tabs: s.tabs}
	s.cur.top, s.cur.bottom, s.cur.painted = 0, s.rows-1, false
	x, y := s.cur.x, s.cur.y
	s.sequence("\x1b[r\x1b[m")
	s.cur.moveTo(x, y)
}

func (s *Screen) csi(params []byte, final byte) {
	s.commit(true)
	if final == 'm' {
		s.pen(params)
		return
	}
	s.flush()
	if len(params) > 0 && params[0] >= '<' {
		if params[0] == '?' && (final == 'h' || final == 'l') {
			eachNumber(params[1:], func(n int) { s.decMode(n, final == 'h') })
		}
		return
	}
	n, m := numbers(params)
	p := s.cur
	switch final {
	case '@', 'P', 'X', 'A', 'B', 'C', 'D', 'E', 'F', 'a', 'e', 'I', 'Z':
		s.sequence(seq(clamp(n, 1, maxCols), final))
	case 'S', 'T':
		if bytes.IndexByte(params, ';') < 0 {
			s.sequence(seq(clamp(n, 1, s.rows), final))
		}
	case 'G', '`':
		s.goTo(clamp(n, 1, s.cols)-1, p.y)
	case 'd':
		s.goTo(p.x, s.rowOf(n))
	case 'H', 'f':
		s.goTo(clamp(m, 1, s.cols)-1, s.rowOf(n))
	case 'L', 'M':
		if p.y >= p.top && p.y <= p.bottom {
			y := p.y
			s.sequence(seq(clamp(n, 1, s.rows), final))
			p.moveTo(0, y)
		}
	case 'J', 'K':
		s.erase(n, final)
	case 'b':
		s.repeat(clamp(n, 1, s.cols))
	case 'g':
		if n == 0 || n == 3 {
			s.tabs = true
			s.sequence(seq(n, 'g'))
		}
	case 'h', 'l':
		eachNumber(params, func(n int) { s.ansiMode(n, final == 'h') })
	case 'r':
		s.margins(n, m)
	case 's':
		p.write("\x1b7")
	case 'u':
		s.restore()
	}
}

func (s *Screen) goTo(x, y int) {
	s.cur.moveTo(x, y)
	s.changed = true
}

func (s *Screen) rowOf(n int) int {
	if s.origin {
		return clamp(s.cur.top+max(n, 1)-1, s.cur.top, s.cur.bottom)
	}
	return clamp(n, 1, s.rows) - 1
}

func (s *Screen) margins(top, bottom int) {
	top = max(top, 1)
	if bottom < 1 || bottom > s.rows {
		bottom = s.rows
	}
	if top >= bottom {
		return
	}
	s.cur.top, s.cur.bottom = top-1, bottom-1
	s.sequence("\x1b[" + strconv.Itoa(top) + ";" + strconv.Itoa(bottom) + "r")
	s.goTo(0, s.rowOf(1))
}

func (s *Screen) erase(n int, final byte) {
	p := s.cur
	x, y := p.x, p.y
	switch {
	case n == 0 || final == 'K' && n <= 2:
		s.sequence(seq(n, final))
	case final == 'K':
	case n == 1:
		s.sequence("\x1b[1K")
		if y > 0 {
			p.moveTo(s.cols-1, y-1)
			s.sequence("\x1b[1J")
		}
		p.moveTo(x, y)
	case n == 2:
		p.moveTo(0, 0)
		s.sequence("\x1b[J")
		p.moveTo(x, y)
	case n == 3 && p == &s.main:
		s.history, s.historyBytes = nil, 0
		s.changed = true
	}
}

func (s *Screen) repeat(n int) {
	if len(s.last) == 0 {
		return
	}
	_, _, show, width := grapheme.First(s.last)
	for range n {
		s.put(show, width)
	}
	s.changed = true
}

func (s *Screen) ansiMode(mode int, on bool) {
	switch mode {
	case 4:
		s.insert = on
	case 20:
		s.newline = on
	}
}

func (s *Screen) decMode(mode int, on bool) {
	switch mode {
	case 6:
		s.origin = on
		s.goTo(0, s.rowOf(1))
	case 7:
		s.noWrap = !on
		s.cur.wrap = false
	case 25:
		s.hidden = !on
		s.changed = true
	case 47, 1047, 1049:
		if on && mode == 1049 && s.cur == &s.main {
			s.cur.write("\x1b7")
		}
		s.switchTo(on)
	case 1048:
		if on {
			s.cur.write("\x1b7")
		} else {
			s.restore()
		}
	}
}

func (s *Screen) switchTo(alt bool) {
	if alt == (s.cur == &s.alt) {
		return
	}
	s.flush()
	s.changed = true
	if !alt {
		s.cur = &s.main
		return
	}
	x, y := s.cur.x, s.cur.y
	if s.alt.emulator == nil {
		s.alt.init(s.cols, s.rows)
	}
	s.cur = &s.alt
	s.alt.top, s.alt.bottom, s.alt.painted = 0, s.rows-1, false
	s.alt.write("\x1bc\x1b[?7l")
	s.alt.moveTo(x, y)
}

func (s *Screen) pen(params []byte) {
	for _, c := range params {
		if c > ';' {
			return // sequences of the forms ?…m and >…m are not SGR
		}
	}
	p := s.cur
	was, paints := p.painted, false
	eachNumber(params, func(n int) {
		paints = paints || n >= 40 && n <= 48 || n >= 100 && n <= 107
	})
	if paints {
		p.painted = true
	} else if len(params) == 0 || len(params) == 1 && params[0] == '0' {
		p.painted = false
	}
	if p.painted != was {
		s.flush() // pending scrolls use the old pen
	}
	p.out = append(p.out, "\x1b["...)
	p.out = append(p.out, params...)
	p.out = append(p.out, 'm')
	if p.painted != was {
		s.flush() // later scrolls use the new pen
	}
}

func numbers(params []byte) (n, m int) {
	i := 0
	eachNumber(params, func(v int) {
		switch i {
		case 0:
			n = v
		case 1:
			m = v
		}
		i++
	})
	return n, m
}

// eachNumber calls f with the value of each parameter, limited to 32767. A missing parameter counts as 0.
func eachNumber(params []byte, f func(int)) {
	n := 0
	for _, c := range params {
		if c < '0' || c > '9' {
			f(n)
			n = 0
			continue
		}
		n = min(n*10+int(c-'0'), 32767)
	}
	f(n)
}
