package details

import (
	"gcity/city"
	"gcity/tui/panel"
)

// Source is what details are made from.
type Source struct {
	*panel.Env
	*panel.Lists

	// Declared describes where something is declared and changed
	Declared func(source string, patched []string) string
	// Printed returns the output of a run as far as it is known
	Printed func(*city.Run) []string
}
