package widget

import "strings"

// ToASCII is a line for a terminal that shows nothing beyond ASCII: the typographic signs in it that have one of one
// column that says the same become that. They come in what the city says ("crashed 6×"), and in what agents print.
// Letters stay what they are: there is nothing else that says them.
func ToASCII(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 }) ||
		strings.ContainsAny(s, "\u200d\ufe0e\ufe0f") {
		return s // there is nothing, or signs are part of something broader
	}
	return strings.Map(inASCII, s)
}

// inASCII is a sign as a typewriter has it, else the sign itself.
func inASCII(r rune) rune {
	const signs = "×x·-•*…~→>←<↑^↓v⇒>●*○-◐~◌?↻@✗X✘X✓*✔*❯>›>‹<⏺*" +
		"▶>▸>►>◀<■*□-“\"”\"„\"«\"»\"‘'’'‚'–-—-−-‐-‑-\u00a0 ≤<≥>≈~"
	switch {
	case r < 0x80:
		return r
	case r >= 0x2500 && r <= 0x257f: // lines of boxes
		switch {
		case strings.ContainsRune("─╌┄┈╴╶", r):
			return '-'
		case strings.ContainsRune("━═╍┅┉╸╺╼╾", r):
			return '='
		case strings.ContainsRune("│┃║╎╏┆┇┊┋╵╷╹╻╽╿", r):
			return '|'
		}
		return '+'
	case r >= 0x2581 && r <= 0x2593: // blocks and bars
		return '#'
	case r == 0x2800:
		return ' '
	case r > 0x2800 && r <= 0x28ff: // dots of spinners and charts
		return '*'
	}
	if _, after, ok := strings.Cut(signs, string(r)); ok {
		return rune(after[0])
	}
	return r
}
