package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
)

// parseTOML reads a file as TOML: first what it may not be at all, then its grammar, then its sense. needs says what is
// lacking in a file without anything.
func parseTOML(data []byte, needs string) (*node, []*fault) {
	if len(data) > MaxSize {
		return nil, []*fault{tooLarge()}
	}
	if at := bytes.IndexByte(data, 0); at >= 0 {
		return nil, []*fault{{at: at, msg: "there is a NUL byte; this is no text file, or it was not written to its end"}}
	}
	data = unmarked(data)
	if msg := blank(data, needs); msg != "" {
		return nil, []*fault{{at: everywhere, msg: msg}}
	}
	if f := excess(data); f != nil {
		return nil, []*fault{f}
	}
	root, f := tree(data)
	if n := len(tablesOf(root.get("agents"))) + len(tablesOf(root.get("agent"))); n > MaxAgents {
		return nil, []*fault{{at: everywhere, msg: fmt.Sprintf("there are %d agents; %d are the most that a city can have", n, MaxAgents)}}
	}
	if twice := duplicates(root, "", data); len(twice) > 0 {
		return nil, twice
	}
	var pe toml.ParseError
	if _, strict := toml.Decode(string(data), &struct{}{}); errors.As(strict, &pe) {
		return nil, []*fault{{at: max(0, min(pe.Position.Start, len(data))), msg: plainSyntax(pe.Message)}}
	} else if strict != nil {
		return nil, []*fault{{at: everywhere, msg: strict.Error()}}
	}
	if f != nil {
		return nil, []*fault{f}
	}
	return root, nil
}

// plainSyntax says in our words what the strict decoder says, where it quotes: what stands in the file may be a secret.
func plainSyntax(msg string) string {
	const quotes = "; text must be in quotes"
	lower := strings.ToLower(msg)
	switch {
	case strings.Contains(lower, "expected value"):
		return "a value is expected here" + quotes
	case strings.HasPrefix(lower, "strings cannot contain newlines"):
		return "the closing quote is missing; text of several lines goes between \"\"\" and \"\"\""
	case strings.Contains(lower, "is out of range"), strings.Contains(lower, "out of the safe"):
		return "the number is too large"
	case strings.HasPrefix(lower, "invalid datetime"):
		return "this is no date" + quotes
	case strings.HasPrefix(lower, "invalid integer"), strings.HasPrefix(lower, "invalid float"), strings.HasPrefix(lower, "not a"),
		strings.HasPrefix(lower, "cannot use sign"), strings.HasPrefix(lower, "floats must"), strings.HasPrefix(lower, "expected a digit"):
		return "this is no number" + quotes
	}
	return strings.ReplaceAll(msg, `but got '\n' instead`, "but the line ends")
}

// duplicates finds the keys and tables that are written twice, all of them: the strict decoder stops at the first.
func duplicates(t *node, path string, data []byte) []*fault {
	if t == nil {
		return nil
	}
	var out []*fault
	seen := make(map[string]*node, len(t.kids))
	for _, kid := range t.kids {
		if len(out) > maxProblems {
			return out
		}
		at := path
		if t.shape == shapeTable {
			at = join(path, kid.key)
			if first := seen[kid.key]; first != nil {
				line := 1 + bytes.Count(data[:first.at], []byte("\n"))
				out = append(out, &fault{at: kid.at, key: at, msg: fmt.Sprintf("is written twice; it is on line %d already", line)})
			} else {
				seen[kid.key] = kid
			}
		}
		if len(kid.kids) > 0 {
			out = append(out, duplicates(kid, at, data)...)
		}
	}
	return out
}

// unmarked blanks a byte order mark, so that offsets stay as they are.
func unmarked(data []byte) []byte {
	if rest, ok := bytes.CutPrefix(data, []byte("\xef\xbb\xbf")); ok {
		return append([]byte("   "), rest...)
	}
	return data
}

// blank says what is there where no key and no table is.
func blank(data []byte, needs string) string {
	comments := false
	for line := range bytes.Lines(data) {
		line = bytes.TrimSpace(line)
		if len(line) > 0 && line[0] != '#' {
			return ""
		}
		comments = comments || len(line) > 0
	}
	switch {
	case comments:
		return "the file has nothing but comments; " + needs
	case len(data) > 0:
		return "the file is blank; " + needs
	}
	return "the file is empty; " + needs
}

func lineStarts(data []byte) []int {
	out := make([]int, 1, 1+bytes.Count(data, []byte("\n")))
	for i, c := range data {
		if c == '\n' {
			out = append(out, i+1)
		}
	}
	return out
}

// excess finds what is too much for any parser, before one sees it: parsers recurse, and hold a whole line as a tree.
func excess(data []byte) *fault {
	depth, dots, keys := 0, 0, 0
	for i := 0; i < len(data); i++ {
		switch c := data[i]; c {
		case '[', '{':
			depth++
			keys++
		case ']', '}':
			depth = max(0, depth-1)
		case '.':
			dots++
		case '=', ',', '\n':
			dots = 0
			if c != '\n' {
				keys++
			}
		case '#':
			i += lineEnd(data[i:]) - 1
		case '"', '\'':
			i += skipString(data[i:], c) - 1
		}
		if depth > maxDepth || dots > maxDepth {
			return &fault{at: i, msg: fmt.Sprintf("tables or lists are nested deeper than %d levels", maxDepth)}
		}
		if keys > maxKeys {
			return &fault{at: i, msg: fmt.Sprintf("there are more than %d keys and values; no city has so many", maxKeys)}
		}
	}
	return nil
}

func lineEnd(data []byte) int {
	if n := bytes.IndexByte(data, '\n'); n >= 0 {
		return n
	}
	return len(data)
}

// skipString is the length of the string that data starts with; an unfinished one ends with its line, or the file.
func skipString(data []byte, quote byte) int {
	long := []byte{quote, quote, quote}
	multi := bytes.HasPrefix(data, long)
	i := 1
	if multi {
		i = 3
	}
	for ; i < len(data); i++ {
		switch c := data[i]; {
		case c == '\\' && quote == '"':
			i++
		case multi && bytes.HasPrefix(data[i:], long):
			i += 3
			for i < len(data) && data[i] == quote { // up to two more belong to it
				i++
			}
			return i
		case !multi && (c == quote || c == '\n'):
			return i + 1
		}
	}
	return len(data)
}
