package perform

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"gcity/internal/screen"
	"gcity/session"
)

// hasDraft reports whether the cursor is in a line that begins with prefix and has text after the prefix. It ignores
// faint text, because programs show suggestions as faint text.
func hasDraft(f session.Frame, prefix string) bool {
	s := screen.New(f.Cols, f.Rows, 0)
	defer s.Close()
	_, _ = s.Write(f.Data) // cannot fail
	shot := s.Shot(0)
	if shot.Y < 0 || shot.Y >= len(shot.Lines) {
		return false
	}
	line, solid := cells(shot.Lines[shot.Y])
	before := []rune(strings.TrimRight(normalizeBlanks(prefix), " "))
	if len(line) < len(before) || normalizeBlanks(string(line[:len(before)])) != string(before) {
		return false
	}
	return strings.TrimFunc(string(solid[len(before):]), isFrame) != ""
}

// normalizeBlanks replaces no-break spaces with spaces. Programs print them in their prompts, but prefixes in
// configurations do not contain them.
func normalizeBlanks(s string) string { return strings.ReplaceAll(s, "\u00a0", " ") }

// isFrame reports whether r may be part of the frame around an input line: a space or a box-drawing character.
func isFrame(r rune) bool {
	return r == ' ' || r == '\u00a0' || r >= 0x2500 && r <= 0x259f
}

// cells removes the styles from a line of a screen. line contains all characters. In solid, faint characters are
// replaced with spaces.
func cells(styled string) (line, solid []rune) {
	faint := false
	for styled != "" {
		if rest, ok := strings.CutPrefix(styled, "\x1b["); ok {
			if end := strings.IndexByte(rest, 'm'); end >= 0 {
				faint = fainter(rest[:end], faint)
				styled = rest[end+1:]
				continue
			}
		}
		r, size := utf8.DecodeRuneInString(styled)
		styled = styled[size:]
		line = append(line, r)
		if faint {
			r = ' '
		}
		solid = append(solid, r)
	}
	return line, solid
}

// fainter reports whether text is faint after an SGR sequence with these parameters. It skips color parameters.
func fainter(params string, faint bool) bool {
	fields := strings.Split(params, ";")
	for i := 0; i < len(fields); i++ {
		n, _ := strconv.Atoi(fields[i])
		switch n {
		case 0, 22:
			faint = false
		case 2:
			faint = fields[i] == "2"
		case 38, 48, 58:
			if i+1 < len(fields) && fields[i+1] == "5" {
				i += 2
			} else if i+1 < len(fields) && fields[i+1] == "2" {
				i += 4
			}
		}
	}
	return faint
}
