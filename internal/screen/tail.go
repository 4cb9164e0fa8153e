package screen

// tail returns a part from the end of a program's output. A replay of this part produces the same last lines as a
// replay of the whole output.
//
// The part starts at the last position that meets all of these conditions:
//   - The position follows a carriage return and a line feed, outside any sequence.
//   - The modes are those of a new terminal, and the main screen is active.
//   - After the position, the modes do not change, and the cursor moves only within its row or by line feeds.
//   - At least 2×rows line feeds follow, plus one for each requested line. The first half of the 2×rows scrolls away
//     everything that was on the screen before. The second half allows for blank rows at the bottom.
func tail(raw []byte, rows, lines int) []byte {
	if end, ok := cutTail(raw, rows, lines); ok {
		return end
	}
	return raw
}

func cutTail(raw []byte, rows, lines int) (end []byte, ok bool) {
	need := max(0, lines) + 2*clamp(rows, 1, maxRows)
	s := replayScanner{rows: clamp(rows, 1, maxRows)}
	var p parser
	for pos := 0; pos < len(raw); {
		n := p.step(raw[pos:], &s)
		if n == 0 {
			break
		}
		pos += n
		if s.atReset {
			s.atReset = false
			s.starts = append(s.starts, replayStart{pos, s.lineFeeds})
		}
	}
	for i := len(s.starts) - 1; i >= 0; i-- {
		if s.lineFeeds-s.starts[i].lineFeeds >= need {
			return raw[s.starts[i].pos:], true
		}
	}
	return nil, false
}

type replayStart struct{ pos, lineFeeds int }

type replayScanner struct {
	rows         int
	state        modeState
	unknownModes bool
	starts       []replayStart
	lineFeeds    int
	afterCR      bool
	atReset      bool
}

// modeState contains the modes that a tail must not change.
type modeState struct {
	alt, region, origin, insert, newline, noWrap, tabs, shifted bool
	special                                                     [2]bool
}

func (s *replayScanner) dropStarts() { s.starts = s.starts[:0] }

func (s *replayScanner) set(mode *bool, on bool) {
	if *mode != on {
		*mode = on
		s.dropStarts()
	}
}

func (s *replayScanner) ascii([]byte) { s.afterCR = false }
func (s *replayScanner) wide(rune)    { s.afterCR = false }

func (s *replayScanner) control(c byte) {
	switch c {
	case '\n':
		s.lineFeeds++
		s.atReset = s.afterCR && !s.unknownModes && s.state == modeState{}
	case '\v', '\f':
		s.dropStarts()
	case 0x0e, 0x0f:
		s.set(&s.state.shifted, c == 0x0e)
	}
	s.afterCR = c == '\r'
}

func (s *replayScanner) escape(inter, final byte) {
	s.afterCR = false
	switch {
	case inter == '(' || inter == ')':
		s.set(&s.state.special[inter-'('], final == '0')
	case inter != 0:
	case final == 'D' || final == 'E' || final == 'M':
		s.dropStarts()
	case final == '8':
		s.unknownModes = true
		s.dropStarts()
	case final == 'H':
		s.set(&s.state.tabs, true)
	case final == 'c':
		s.state = modeState{}
		s.dropStarts()
	}
}

func (s *replayScanner) csiInter([]byte, byte) {
	s.afterCR, s.unknownModes = false, true
	s.dropStarts()
}

func (s *replayScanner) csi(params []byte, final byte) {
	s.afterCR = false
	if len(params) > 0 && params[0] >= '<' {
		if params[0] == '?' && (final == 'h' || final == 'l') {
			eachNumber(params[1:], func(n int) { s.decMode(n, final == 'h') })
		}
		return
	}
	switch final {
	case 'A', 'B', 'E', 'F', 'e', 'S', 'T', 'd', 'H', 'f', 'L', 'M', 'J', 'b':
		s.dropStarts()
	case 'u':
		s.unknownModes = true
		s.dropStarts()
	case 'g':
		s.set(&s.state.tabs, true)
	case 'r':
		s.margins(numbers(params))
	case 'h', 'l':
		eachNumber(params, func(n int) { s.ansiMode(n, final == 'h') })
	}
}

// margins records whether the main screen has a scroll region. It ignores the alternate screen, because its region is
// lost when the program leaves that screen.
func (s *replayScanner) margins(top, bottom int) {
	s.dropStarts()
	if !s.state.alt {
		s.state.region = top > 1 || bottom > 0 && bottom < s.rows
	}
}

func (s *replayScanner) ansiMode(mode int, on bool) {
	switch mode {
	case 4:
		s.set(&s.state.insert, on)
	case 20:
		s.set(&s.state.newline, on)
	}
}

func (s *replayScanner) decMode(mode int, on bool) {
	switch mode {
	case 6:
		s.state.origin = on
		s.dropStarts() // the cursor moves even if the mode does not change
	case 7:
		s.set(&s.state.noWrap, !on)
	case 47, 1047, 1049:
		s.set(&s.state.alt, on)
	case 1048:
		s.unknownModes = true
		s.dropStarts()
	}
}
