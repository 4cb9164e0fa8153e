package output

import (
	"errors"
	"io"
	"os"

	"github.com/charmbracelet/x/term"
)

// TerminalSize returns the size of the terminal behind w.
func TerminalSize(w io.Writer) (cols, rows int, err error) {
	f, ok := w.(*os.File)
	if !ok {
		return 0, 0, errors.New("not a terminal")
	}
	return term.GetSize(f.Fd())
}
