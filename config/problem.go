package config

import (
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
