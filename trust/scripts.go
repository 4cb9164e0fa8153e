package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
)

// Limits of what is read of the scripts that a command line names.
const (
	maxWords  = 64
	maxScript = 4 << 20 // bytes
)

// Scripts returns the hashes of the files that the words of a command line name, where they lie in one of the folders. What
// lies elsewhere on the machine is not the city's to change.
func Scripts(line string, folders ...string) []string {
	words := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\r\n'\"`;|&<>()=$", r) })
	var out []string
	for _, word := range words[:min(len(words), maxWords)] {
		for _, folder := range folders {
			path := word
			if !filepath.IsAbs(path) {
				path = filepath.Join(folder, path)
			}
			if !within(folder, path) {
				continue
			}
			if sum, ok := sumOf(path); ok {
				out = append(out, word+" "+sum)
				break
			}
		}
	}
	return out
}

func sumOf(path string) (string, bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxScript {
		return "", false
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", false
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16]), true
}
