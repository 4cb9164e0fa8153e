package shell

import "strings"

// Quote makes a text one word of a shell line. It may have any character but NUL, and comes back from the shell as
// it was.
func Quote(text string) string {
	if text != "" && strings.Trim(text, plainLetters) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// plainLetters mean nothing to a shell, wherever in a word they stand.
const plainLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+,"
