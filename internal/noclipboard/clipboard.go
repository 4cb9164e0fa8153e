// Package clipboard replaces github.com/atotto/clipboard, which bubbles' text fields import. The original searches the
// PATH for clipboard programs whenever a process starts. The control room never reads the clipboard through a text
// field: terminals paste by themselves, and tui/clipboard.go copies.
package clipboard

import "errors"

// ReadAll always fails.
func ReadAll() (string, error) {
	return "", errors.New("cannot read the clipboard: paste with the terminal")
}
