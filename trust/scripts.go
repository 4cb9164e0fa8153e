package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gcity/internal/shell"
)

// Limits for reading the scripts that a command line names.
const (
	maxWords  = 512     // for each line
	maxScript = 4 << 20 // bytes
)

// WithScripts returns the program with the paths and hashes of its scripts in these folders. It omits other scripts,
// because a city cannot change them. A command line can name a script relative to any of the folders.
func (p Program) WithScripts(folders ...string) Program {
	p.Files, p.Sums = slices.Clone(p.Files), slices.Clone(p.Sums)
	lines := p.Runs
	if len(lines) == 0 {
		lines = []string{p.Line}
	}
	for _, s := range scripts(lines, folders) {
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

func scripts(lines, folders []string) []script {
	inside := func(path string) bool {
		return slices.ContainsFunc(folders, func(f string) bool {
			return f != "" && within(f, path)
		})
	}
	var out []script
	seen := map[string]bool{}
	for _, word := range wordsOf(lines) {
		for _, folder := range folders {
			path := filepath.Clean(word)
			if !filepath.IsAbs(word) {
				path = filepath.Join(folder, pathIn(word))
			}
			if folder == "" || seen[path] || !inside(path) {
				continue
			}
			seen[path] = true
			if sum, ok := sumOf(path); ok {
				out = append(out, script{word, path, sum})
			}
		}
	}
	return out
}

// pathIn returns a word without a variable at its start, such as $AUTOMATION_DIR/ or ${GC_CITY_PATH}/. These variables
// contain the path of one of the folders in which WithScripts searches.
func pathIn(word string) string {
	if strings.HasPrefix(word, "$") {
		_, word, _ = strings.Cut(word, "/")
	}
	return word
}

// separators end a word of a command line, outside and inside quotes.
const separators = " \t\r\n'\"`;|&<>()="

func wordsOf(lines []string) []string {
	var out []string
	seen := map[string]bool{}
	for _, line := range lines {
		words := slices.Concat(strings.FieldsFunc(line, func(r rune) bool {
			return strings.ContainsRune(separators+"$", r)
		}), shellWords(line))
		for _, word := range words[:min(len(words), maxWords)] {
			if !seen[word] {
				seen[word] = true
				out = append(out, word)
			}
		}
	}
	return out
}

// shellWords returns the words of a command line without their quotes. If a quoted word can be a command line itself,
// as in sh -c 'exec ./run', its words follow.
func shellWords(line string) []string {
	var out []string
	var word strings.Builder
	end := func() {
		text := word.String()
		word.Reset()
		if text == "" {
			return
		}
		out = append(out, text)
		if len(text) < len(line) && strings.ContainsAny(text, separators) {
			out = append(out, shellWords(text)...)
		}
	}
	var quote rune
	escaped := false
	for _, r := range line {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped = true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '\'' || r == '"'):
			quote = r
		case quote == 0 && strings.ContainsRune(separators, r):
			end()
		default:
			word.WriteRune(r)
		}
	}
	end()
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

// Environment formats variables for the trust question, because PATH and LD_PRELOAD can change which programs run.
func Environment(env map[string]string) string {
	var pairs []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		pairs = append(pairs, name+"="+shell.Quote(env[name]))
	}
	return strings.Join(pairs, " ")
}
