// Package clipboard replaces github.com/atotto/clipboard, which bubbles' text fields import. The original searches the
// PATH for clipboard programs whenever a process starts. The control room does not need these programs: the terminal
// itself pastes into text fields, and tui/clipboard.go implements copying.
package clipboard

import "errors"

// ReadAll always fails.
func ReadAll() (string, error) {
	return "", errors.New("cannot read the clipboard: paste with the terminal")
}
