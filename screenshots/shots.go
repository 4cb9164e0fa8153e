package main

import (
	"context"
	"errors"
	"fmt"
	"image/png"
	"os"
	"path/filepath"
)

type shot struct {
	name       string
	cols, rows int
	at         float64 // seconds since the start of the tape
	// "plain" without colors, "ascii", "fleet" with all cities, "watchdogs"
	as    string
	light bool // the terminal has a light background
	steps []step
}

// Useful times on the tape, in seconds since its start.
const (
	calm = 46.5 // one agent is in quarantine, two are draining, an automation is failing
	busy = 49.9 // like calm, but with a run in progress
)

func shots() []shot {
	builder := []step{{"jjj", "0 builder"}}
	return []shot{
		{name: "room-200x60", cols: 200, rows: 60, at: calm, steps: builder},
		{name: "room-120x36", cols: 120, rows: 36, at: calm, steps: builder},
		{name: "room-80x24", cols: 80, rows: 24, at: calm, steps: builder},
		{name: "light-120x36", cols: 120, rows: 36, at: calm, light: true, steps: builder},
		{name: "plain-120x36", cols: 120, rows: 36, at: calm, as: "plain", steps: builder},
		{name: "ascii-120x36", cols: 120, rows: 36, at: calm, as: "ascii", steps: builder},
		{name: "pools-120x36", cols: 120, rows: 36, at: calm, steps: []step{{"2", "loader"}}},
		{name: "automations-120x36", cols: 120, rows: 36, at: busy,
			steps: []step{{"4", "weathervane"}, {"jjj", "0 stocktaking"}}},
		{name: "crash-120x36", cols: 120, rows: 36, at: calm,
			steps: []step{{"3", "acrobat"}, {"d", "quarantine"}}},
		{name: "details-120x36", cols: 120, rows: 36, at: calm,
			steps: []step{{"jjj", "0 builder"}, {"d", "builder"}}},
		{name: "events-120x36", cols: 120, rows: 36, at: calm,
			steps: []step{{"5", "automation.fired"}}},
		{name: "work-120x36", cols: 120, rows: 36, at: calm, steps: []step{{"b", "8 Work"}}},
		{name: "mail-120x36", cols: 120, rows: 36, at: calm,
			steps: []step{{"L", "9 Mail"}, {"t", "for users"}, {"j", ""}}},
		{name: "palette-120x36", cols: 120, rows: 36, at: calm,
			steps: []step{{":", ""}, {"re", "restart"}}},
		{name: "help-120x36", cols: 120, rows: 36, at: calm, steps: []step{{"?", "Help"}}},
		{name: "send-120x36", cols: 120, rows: 36, at: calm, steps: []step{
			{"/scribe\r", "1 of"}, {"i", "send to scribe"},
			{"How is the wind?\nTell me before six.", "2 lines"}}},
		{name: "fleet-120x36", cols: 120, rows: 36, at: calm, as: "fleet",
			steps: []step{{"", "24/24"}, {"jj", "lens-grinder"}}},
		{name: "watchdogs-120x36", cols: 120, rows: 36, at: calm, as: "watchdogs",
			steps: []step{{"6", "checking"}}},
		{name: "quit-80x24", cols: 80, rows: 24, at: calm, steps: []step{{"q", "Quit demo?"}}},
	}
}

func (s shot) take(ctx context.Context, tapeFile, folder string, p *pen) (err error) {
	st, err := openRoom(ctx, tapeFile, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, st.close()) }()
	if err := st.sees("demo"); err != nil {
		return err
	}
	for i, do := range s.steps {
		if err := st.play(do); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	lines, _, err := st.look()
	if err != nil {
		return err
	}
	img := p.draw(lines, s.cols, s.rows, s.light)
	if x, y, shown := st.cursor(); shown {
		p.cursor(img, x, y, s.light)
	}
	f, err := os.Create(filepath.Join(folder, s.name+".png"))
	if err != nil {
		return err
	}
	e := png.Encoder{CompressionLevel: png.BestCompression}
	return errors.Join(e.Encode(f, img), f.Close())
}
