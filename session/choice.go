package session

import (
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

// AsksByList reports whether a program highlights an option of a numbered list with the character of its prompt. The
// last line that begins with the prompt decides, because programs begin earlier messages in the same way.
func AsksByList(screen, prefix string) bool {
	_, option := findPrompt(screen, prefix)
	return option
}

// findPrompt reports whether the last line that begins with prefix is the program's prompt or an option of a numbered
// list. The blanks at the end of prefix may be missing if nothing follows, because providers trim lines.
func findPrompt(screen, prefix string) (prompt, option bool) {
	blank := plainBlanks(prefix)
	blank = blank[len(strings.TrimRight(blank, " ")):]
	for line := range strings.Lines(screen) {
		line = plainBlanks(strings.TrimRight(line, "\n"))
		end := PromptEnd(line, prefix)
		if end < 0 || line == "" {
			continue
		}
		if rest := string([]rune(line)[end:]); rest == "" || strings.HasPrefix(rest, blank) {
			_, option = cutNumber(strings.TrimLeft(rest, " "))
			prompt = !option
		}
	}
	return prompt, option
}

// cutNumber removes the number of an option: "1. Yes" becomes "Yes".
func cutNumber(text string) (rest string, numbered bool) {
	after := strings.TrimLeft(text, "0123456789")
	rest, ok := strings.CutPrefix(after, ". ")
	if !ok || after == text {
		return text, false
	}
	return strings.TrimLeft(rest, " "), true
}

// listHeight is the greatest distance between the highlighted option and the one that gcity looks for.
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
