package widget

import "strings"

// ToASCII replaces typographic characters in a line with ASCII characters. The width of the line stays the same.
// Letters are not replaced.
func ToASCII(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 }) ||
		strings.ContainsAny(s, "\u200d\ufe0e\ufe0f") {
		return s // nothing to replace, or a character might be part of a wider one
	}
	return strings.Map(inASCII, spellArrows(s))
}

// spellArrows replaces "→" with "->", because ">" alone reads as "greater than". It removes a space to keep the width.
func spellArrows(s string) string {
	at := 0
	for {
		n := strings.Index(s[at:], "→")
		if n < 0 {
			return s
		}
		at += n
		before, after := s[:at], s[at+len("→"):]
		cell := after
		if end := strings.IndexFunc(cell, isBoxDrawing); end >= 0 {
			cell = cell[:end]
		}
		if gap := strings.Index(cell, "  "); gap >= 0 {
			s = before + "->" + after[:gap] + after[gap+1:]
		} else if spaced, ok := strings.CutSuffix(before, " "); ok {
			s = spaced + "->" + after
		}
		at++
	}
}

func isBoxDrawing(r rune) bool { return r >= 0x2500 && r <= 0x257f }

func inASCII(r rune) rune {
	const pairs = "×x·-•*…~→>←<↑^↓v⇒>●*○-◐o◌?↻@✗X✘X✓*✔*❯>›>‹<⏺*" +
		"▶>▸>►>◀<■*□-“\"”\"„\"«\"»\"‘'’'‚'–-—-−-‐-‑-\u00a0 ≤<≥>≈~"
	switch {
	case r < 0x80:
		return r
	case isBoxDrawing(r):
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
	case r > 0x2800 && r <= 0x28ff: // spinners and charts
		return '*'
	}
	if _, after, ok := strings.Cut(pairs, string(r)); ok {
		return rune(after[0])
	}
	return r
}
