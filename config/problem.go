package config

import (
	"fmt"
	"gcity/config/keys"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Problem is one error or warning in a configuration.
type Problem struct {
	Origin
	Key     string // dotted path such as "agents.idle_timeout"; "" = the whole file
	Message string
}

func (p Problem) String() string {
	out := p.Message
	if p.Key != "" {
		out = p.Key + ": " + out
	}
	if p.File != "" {
		out = fmt.Sprintf("%s: %s", p.Origin, out)
	}
	return out
}

// Error contains all errors in a configuration. Unreadable files come first, then file order.
type Error struct {
	Path     string // the city's folder
	Problems []Problem
	Warnings []Problem
}

func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// didYouMean returns the end of a message about the unknown name: the most similar of the names, or "" if none is
// similar.
func didYouMean(name string, names []string) string {
	if near := keys.Suggest(name, names); near != "" {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

// visible escapes the characters that a terminal would interpret or hide.
func visible(s string) string {
	shown := func(r rune) bool { return strconv.IsPrint(r) }
	if !strings.ContainsFunc(s, func(r rune) bool { return !shown(r) }) && utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if shown(r) && r != utf8.RuneError {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "\\u%04x", r)
		}
	}
	return b.String()
}
