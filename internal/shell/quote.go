package shell

import "strings"

// Quote quotes text as one word for a shell. The text can contain any character except NUL.
func Quote(text string) string {
	if text != "" && strings.Trim(text, plainLetters) == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

const plainLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:@%+,"
