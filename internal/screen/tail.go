package screen

// tail returns the end of a program's output from which a replay gives the same last lines as a replay of all of it.
// Replaying costs a hundred times as much as the scan that finds that place.
//
// The place is the newest one that fulfils all of this; without one, the whole output is returned:
//   - It is behind a carriage return and a line feed, outside any sequence.
//   - The modes there are those of a fresh terminal, and the main screen is in use.
//   - Behind it the modes stay as they are, and the cursor moves only within its row and by line feeds.
//   - 2×rows line feeds and one for each wanted line follow. The first rows of them scroll away whatever the screen
//     showed before. Up to rows blank rows below the last line are not part of the text.
func tail(raw []byte, rows, lines int) []byte {
	if end, ok := cutTail(raw, rows, lines); ok {
		return end
	}
	return raw
}

// cutTail is tail; not ok without such a place.
func cutTail(raw []byte, rows, lines int) (end []byte, ok bool) {
	need := max(0, lines) + 2*clamp(rows, 1, maxRows)
	s := scout{rows: clamp(rows, 1, maxRows)}
	var p parser
	for pos := 0; pos < len(raw); {
		n := p.step(raw[pos:], &s)
		if n == 0 {
			break
		}
		pos += n
		if s.ended {
			s.ended = false
			s.places = append(s.places, place{pos, s.feeds})
		}
	}
	for i := len(s.places) - 1; i >= 0; i-- {
		if s.feeds-s.places[i].feeds >= need {
			return raw[s.places[i].pos:], true
		}
	}
	return nil, false
}

// place is a position from which a replay may begin, and the number of line feeds before it.
type place struct{ pos, feeds int }

// scout is the sink that looks for places.
type scout struct {
	rows    int
	state   lasting
	unclear bool // the modes are not known any more
	places  []place
	feeds   int
	back    bool // the newest item was a carriage return
	// the newest item was a line feed behind a carriage return, in a fresh terminal's modes
	ended bool
}

// lasting is what of a terminal's state outlives a line, but for the cursor, the pen and the cells. Zero is a fresh
// one.
type lasting struct {
	alt, region, origin, insert, newline, noWrap, tabs, shifted bool
	special                                                     [2]bool
}

// forget drops the places: none of them fulfils the conditions any more.
func (s *scout) forget() { s.places = s.places[:0] }

// set changes a mode.
func (s *scout) set(mode *bool, on bool) {
	if *mode != on {
		*mode = on
		s.forget()
	}
}

func (s *scout) ascii([]byte) { s.back = false }
func (s *scout) wide(rune)    { s.back = false }

func (s *scout) control(c byte) {
	switch c {
	case '\n':
		s.feeds++
		s.ended = s.back && !s.unclear && s.state == lasting{}
	case '\v', '\f':
		s.forget()
	case 0x0e, 0x0f:
		s.set(&s.state.shifted, c == 0x0e)
	}
	s.back = c == '\r'
}

func (s *scout) escape(inter, final byte) {
	s.back = false
	switch {
	case inter == '(' || inter == ')':
		s.set(&s.state.special[inter-'('], final == '0')
	case inter != 0:
	case final == 'D' || final == 'E' || final == 'M':
		s.forget()
	case final == '8':
		s.unclear = true
		s.forget()
	case final == 'H':
		s.set(&s.state.tabs, true)
	case final == 'c':
		s.state = lasting{}
		s.forget()
	}
}

func (s *scout) csiInter([]byte, byte) {
	s.back, s.unclear = false, true
	s.forget()
}

func (s *scout) csi(params []byte, final byte) {
	s.back = false
	if len(params) > 0 && params[0] >= '<' {
		if params[0] == '?' && (final == 'h' || final == 'l') {
			eachNumber(params[1:], func(n int) { s.private(n, final == 'h') })
		}
		return
	}
	switch final {
	case 'A', 'B', 'E', 'F', 'e', 'S', 'T', 'd', 'H', 'f', 'L', 'M', 'J', 'b':
		s.forget()
	case 'u':
		s.unclear = true
		s.forget()
	case 'g':
		s.set(&s.state.tabs, true)
	case 'r':
		s.margins(numbers(params))
	case 'h', 'l':
		eachNumber(params, func(n int) { s.public(n, final == 'h') })
	}
}

// margins moves the cursor too. Those of the alternate screen end with it.
func (s *scout) margins(top, bottom int) {
	s.forget()
	if !s.state.alt {
		s.state.region = top > 1 || bottom > 0 && bottom < s.rows
	}
}

func (s *scout) public(mode int, on bool) {
	switch mode {
	case 4:
		s.set(&s.state.insert, on)
	case 20:
		s.set(&s.state.newline, on)
	}
}

func (s *scout) private(mode int, on bool) {
	switch mode {
	case 6:
		s.state.origin = on
		s.forget() // the cursor moves in any case
	case 7:
		s.set(&s.state.noWrap, !on)
	case 47, 1047, 1049:
		s.set(&s.state.alt, on)
	case 1048:
		s.unclear = true
		s.forget()
	}
}
