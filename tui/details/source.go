package details

import (
	"time"

	"gcity/city"
	"gcity/tui/panel"
	"gcity/tui/widget"
)

// page is a detail view.
type page struct {
	*Source
	widget.Page
}

func newPage(src *Source) *page { return &page{src, widget.Page{Styles: src.Look}} }

func (p *page) dot() string { return p.Between() }

// Source contains the data that details are generated from.
type Source struct {
	*panel.Env
	*panel.Lists

	// returns text that says where something is declared and patched
	Declared func(source string, patched []string) string
	RunLines func(*city.Run) []string
	// returns the time at which the pane last received output from an agent; zero = unknown
	Heard func(agent string) time.Time
}
