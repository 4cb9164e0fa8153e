// Package termsize returns the size of a terminal.
package termsize

import "github.com/charmbracelet/x/term"

// Of returns the size of the terminal with this file descriptor. See Known.
func Of(fd uintptr) (cols, rows int, err error) {
	cols, rows, err = term.GetSize(fd)
	if err == nil {
		cols, rows = Known(cols, rows)
	}
	return cols, rows, err
}

// Known returns the reported size, or 80×24 if the terminal does not know its size, such as a serial console.
func Known(cols, rows int) (int, int) {
	if cols <= 0 || rows <= 0 {
		return 80, 24
	}
	return cols, rows
}
