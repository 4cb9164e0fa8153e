package session

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// isFrame reports whether r is a blank or a character that programs draw around their text.
func isFrame(r rune) bool {
	return r == ' ' || r == '\n' || r == '\t' || r == '\r' || r == '\u00a0' ||
		r >= 0x2500 && r <= 0x259f
}

// PromptEnd returns the number of runes of a line up to the end of a prompt, or -1 if the line does not begin with the
// prompt. It ignores a frame before the prompt and blanks after it, and a no-break space counts as a blank.
func PromptEnd(line, prompt string) int {
	line, prompt = plainBlanks(line), strings.TrimRight(plainBlanks(prompt), " ")
	frame := 0
	if bare := strings.TrimLeftFunc(prompt, isFrame); bare != "" {
		rest := strings.TrimLeftFunc(line, isFrame)
		frame = utf8.RuneCountInString(line) - utf8.RuneCountInString(rest)
		line, prompt = rest, bare
	}
	if !strings.HasPrefix(line, prompt) {
		return -1
	}
	return frame + utf8.RuneCountInString(prompt)
}

func plainBlanks(s string) string { return strings.ReplaceAll(s, "\u00a0", " ") }

// Question returns the question on a program's screen, or nil. It is one of the program's dialogs or, without a name, a
// numbered list with an option that is highlighted with the prompt's character or with a dot. The last line that begins
// with one of these decides, because programs begin earlier messages the same way. If prefix is empty, Question finds
// only dialogs.
func Question(screen, prefix string, dialogs []Dialog) *Dialog {
	from, option := findPrompt(screen, prefix)
	open := findDialog(dialogs, normalize(screen), normalize(from))
	switch {
	case open != nil && !open.Loading:
		return open
	case option:
		return &Dialog{}
	}
	return nil
}

// Notice returns the dialog that is only a notice below the program's prompt, or nil.
func Notice(screen, prefix string, dialogs []Dialog) *Dialog {
	from, _ := findPrompt(screen, prefix)
	screen, from = normalize(screen), normalize(from)
	i := slices.IndexFunc(dialogs, func(d Dialog) bool { return d.Notice && d.shown(screen, from) })
	if i < 0 {
		return nil
	}
	return &dialogs[i]
}

// findPrompt looks at the last line of a screen that begins with prefix. If it, or a line below it that begins with a
// dot, is the highlighted option of a numbered list, option is true. Otherwise, it is the program's prompt, and from is
// the part of the screen from this line on. The blanks at the end of prefix may be missing if nothing follows, because
// providers trim lines. An empty prefix means that the prompt is not known; then findPrompt finds nothing.
func findPrompt(screen, prefix string) (from string, option bool) {
	if strings.TrimSpace(plainBlanks(prefix)) == "" {
		return "", false
	}
	blank := plainBlanks(prefix)
	blank = blank[len(strings.TrimRight(blank, " ")):]
	lines := strings.Split(plainBlanks(screen), "\n")
	for i, line := range slices.Backward(lines) {
		rest, dot := strings.CutPrefix(strings.TrimLeftFunc(line, isFrame), "●")
		if dot && isOption(lines, i, rest) {
			return "", true
		}
		end := PromptEnd(line, prefix)
		if end < 0 || line == "" {
			continue
		}
		if rest := string([]rune(line)[end:]); rest == "" || strings.HasPrefix(rest, blank) {
			if isOption(lines, i, rest) {
				return "", true
			}
			return strings.Join(lines[i:], "\n"), false
		}
	}
	return "", false
}

// isOption reports whether text, the end of a line, is an option of a numbered list. The number of another option must
// be in the same column, because a prompt can also contain a text that begins with a number.
func isOption(lines []string, at int, text string) bool {
	text = strings.TrimLeft(text, " ")
	_, n := cutNumber(text)
	column := utf8.RuneCountInString(lines[at]) - utf8.RuneCountInString(text)
	for i := max(0, at-listHeight); n > 0 && i <= min(at+listHeight, len(lines)-1); i++ {
		other := strings.TrimLeftFunc(lines[i], isFrame)
		_, m := cutNumber(other)
		if m > 0 && (i < at && m == n-1 || i > at && m == n+1) &&
			utf8.RuneCountInString(lines[i])-utf8.RuneCountInString(other) == column {
			return true
		}
	}
	return false
}

// cutNumber removes the number of an option: "1. Yes" becomes "Yes". Without a number, n is 0.
func cutNumber(text string) (rest string, n int) {
	number, rest, ok := strings.Cut(text, ". ")
	if n, _ = strconv.Atoi(number); !ok || n <= 0 {
		return text, 0
	}
	return strings.TrimLeft(rest, " "), n
}

// listHeight is the greatest distance in lines between the highlighted option and another one that gcity looks for.
const listHeight = 8

// keyToward returns the key that moves the highlight of a list towards an option, or Enter if the option is
// highlighted. If the screen does not show which option is highlighted, key is "".
func keyToward(screen, option string) (key, highlighted string) {
	var texts []string
	var marked []bool
	at := -1
	for line := range strings.Lines(screen) {
		text := strings.TrimFunc(line, isFrame)
		r, size := utf8.DecodeRuneInString(text)
		mark := size > 0 && strings.ContainsRune("❯›>●", r)
		if mark {
			text = strings.TrimLeftFunc(text[size:], isFrame)
		}
		text, _ = cutNumber(plainBlanks(text))
		if at < 0 && strings.HasPrefix(text, option) {
			at = len(texts)
		}
		texts, marked = append(texts, text), append(marked, mark)
	}
	if at < 0 {
		return "", ""
	}
	for d := range listHeight {
		switch {
		case d == 0 && marked[at]:
			return "Enter", texts[at]
		case at >= d && marked[at-d]:
			return "Down", texts[at-d]
		case at+d < len(marked) && marked[at+d]:
			return "Up", texts[at+d]
		}
	}
	return "", ""
}
