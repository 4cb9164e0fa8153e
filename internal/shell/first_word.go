package shell

import "strings"

// FirstWord returns the program in a command line, or "" if only a shell can determine it.
func FirstWord(line string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
	if strings.ContainsAny(word, "\t\n'\"\\$`;&|<>(){}[]*?~#=!") {
		return ""
	}
	return word
}
