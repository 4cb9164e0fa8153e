package screen

// tail returns the end of a program's output that gives the same last lines in a replay as the whole output. A replay
// costs a hundred times as much as the scan for this position.
//
// The position is the newest one that fulfils all of these conditions. Without such a position, tail returns the whole
// output:
//   - It is after a carriage return and a line feed, outside any sequence.
//   - The modes are those of a new terminal, and the main screen is active.
//   - After it the modes do not change, and the cursor moves only within its row and by line feeds.
//   - It is followed by 2×rows line feeds, and by one more for each wanted line. The first rows of these scroll away
//     everything that was on the screen before. Up to rows blank rows below the last line are not part of the text.
func tail(raw []byte, rows, lines int) []byte {
	if end, ok := cutTail(raw, rows, lines); ok {
		return end
	}
	return raw
}

// cutTail is like tail. ok is false if there is no such position.
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

// place is a position at which a replay may start, with the number of line feeds before it.
type place struct{ pos, feeds int }

// scout is the sink that searches for places.
type scout struct {
	rows    int
	state   lasting
	unclear bool // the modes are unknown
	places  []place
	feeds   int
	back    bool // the previous element of the stream was a carriage return
	// the previous element was a line feed after a carriage return, and all modes are those of a new terminal
	ended bool
}

// lasting is the state of a terminal that persists beyond a line, except cursor, pen and cells. The zero value is the
// state of a new terminal.
type lasting struct {
	alt, region, origin, insert, newline, noWrap, tabs, shifted bool
	special                                                     [2]bool
}

// forget drops the places, because they no longer fulfil the conditions.
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

// margins sets the scrolling region, which also moves the cursor. A region that is set on the alternate screen is lost
// with that screen.
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
		s.forget() // the cursor moves whether or not the region changes
	case 7:
		s.set(&s.state.noWrap, !on)
	case 47, 1047, 1049:
		s.set(&s.state.alt, on)
	case 1048:
		s.unclear = true
		s.forget()
	}
}
