package output

import (
	"errors"
	"io"
	"os"

	"gcity/internal/termsize"
)

// TerminalSize returns the size of the terminal behind w.
func TerminalSize(w io.Writer) (cols, rows int, err error) {
	f, ok := w.(*os.File)
	if !ok {
		return 0, 0, errors.New("not a terminal")
	}
	return termsize.Of(f.Fd())
}
