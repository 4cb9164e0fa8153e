package config

import (
	"fmt"
	"gcity/config/keys"
	"gcity/internal/toml"
	"strings"
)

// Problem is one error or warning.
type Problem = toml.Problem

// Error contains the errors in a configuration. Those that can cause others, such as unreadable files, come first. The
// others are in file order.
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
