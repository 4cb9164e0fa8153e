package pty

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// text is the last lines of raw output as plain text.
func text(raw []byte, cols, rows, lines int) string {
	if lines <= 0 {
		lines = rows
	}
	plain := strings.ReplaceAll(ansi.Strip(string(raw)), "\r", "")
	all := strings.Split(strings.TrimRight(plain, "\n"), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}
