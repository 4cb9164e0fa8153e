package tui

import (
	"gcity/city"
	"gcity/tui/panel"
)

// source is what details are made from.
type source struct {
	*panel.Env
	*panel.Lists

	// declared describes where something is declared and changed
	declared func(source string, patched []string) string
	// printed is the output of a run as far as it is known
	printed func(*city.Run) []string
}
