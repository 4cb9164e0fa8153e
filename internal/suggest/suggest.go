// Package suggest finds the name that a user most likely meant.
package suggest

import "strings"

// Nearest returns the candidate with the fewest edits from word, or "" if none is near. Near means at most one edit, or
// a third of word's length.
func Nearest(word string, candidates []string) string {
	best, limit := "", max(1, len(word)/3)
	for _, c := range candidates {
		if c == word {
			continue
		}
		if d := distance(word, c, limit); d <= limit {
			best, limit = c, d-1
		}
	}
	return best
}

// NearestCommand returns the command that word most likely means, or "" if none is near. Near means at most two edits,
// or that the name begins with word, which is nearer than any edit. Of equally near names, it prefers one that isSafe
// accepts.
func NearestCommand(word string, names []string, isSafe func(name string) bool) string {
	word = strings.ToLower(word)
	best, least := "", min(2, (len(word)+1)/2)+1
	for _, name := range names {
		d := distance(word, name, least)
		if strings.HasPrefix(name, word) {
			d = 0
		}
		if d < least || d == least && best != "" && isSafe(name) && !isSafe(best) {
			best, least = name, d
		}
	}
	return best
}

// distance counts insertions, deletions, replacements and swaps of adjacent bytes. Above limit, it returns limit+1.
func distance(a, b string, limit int) int {
	if d := len(a) - len(b); d > limit || -d > limit {
		return limit + 1
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}
