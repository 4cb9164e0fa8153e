package tui

import "gcity/internal/screen"

// plain makes one safe line of any text (law L12).
func plain(s string) string { return screen.Plain(s) }

// screenMaker makes a terminal's screen.
type screenMaker func(cols, rows, scrollback int) terminal

func newScreen(cols, rows, scrollback int) terminal { return screen.New(cols, rows, scrollback) }
