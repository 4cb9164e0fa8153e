// Package typing prepares texts that a session provider types into a terminal.
package typing

import "strings"

// EndMention adds a blank to a text that ends with the mention of a file, such as @main.go. OpenCode shows a list of
// files for a mention, and Enter would only select one of them. Other programs that support bracketed paste ignore a
// blank at the end.
func EndMention(text string) string {
	last := text[strings.LastIndexAny(text, " \t\n")+1:]
	if strings.HasPrefix(last, "@") {
		return text + " "
	}
	return text
}

// LongestLine returns the length of the longest line in bytes.
func LongestLine(text string) int {
	longest := 0
	for line := range strings.SplitSeq(text, "\n") {
		longest = max(longest, len(line))
	}
	return longest
}
