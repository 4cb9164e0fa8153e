package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Limits for reading the scripts that a command line names.
const (
	maxWords  = 64
	maxScript = 4 << 20 // bytes
)

// WithScripts returns the program with the paths and hashes of its scripts in these folders. It omits other scripts,
// because a city cannot change them.
func (p Program) WithScripts(folders ...string) Program {
	p.Files, p.Sums = slices.Clone(p.Files), slices.Clone(p.Sums)
	for _, s := range scripts(p.Line, folders) {
		p.Files, p.Sums = append(p.Files, s.path), append(p.Sums, s.word+" "+s.sum)
	}
	return p
}

// WithFile returns the program with the path and hash of a file that it reads.
func (p Program) WithFile(path string) Program {
	sum, _ := sumOf(path)
	p.Files = append(slices.Clone(p.Files), path)
	p.Sums = append(slices.Clone(p.Sums), path+" "+sum)
	return p
}

type script struct{ word, path, sum string }

func scripts(line string, folders []string) []script {
	words := strings.FieldsFunc(line, func(r rune) bool {
		return strings.ContainsRune(" \t\r\n'\"`;|&<>()=$", r)
	})
	var out []script
	for _, word := range words[:min(len(words), maxWords)] {
		for _, folder := range folders {
			path := word
			if !filepath.IsAbs(path) {
				path = filepath.Join(folder, path)
			}
			if folder == "" || !within(folder, path) {
				continue
			}
			if sum, ok := sumOf(path); ok {
				out = append(out, script{word, path, sum})
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
