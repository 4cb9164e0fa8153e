package toml

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode"

	burnt "github.com/BurntSushi/toml"
)

// Parse returns the tree of a TOML file and its faults. If there are faults, the tree is incomplete or nil.
func Parse(data []byte) (*Node, []*Fault) {
	if f := excess(data); f != nil {
		return nil, []*Fault{f}
	}
	root, f := readTree(data)
	if twice := duplicates(root, "", data); len(twice) > 0 {
		return root, twice
	}
	var pe burnt.ParseError
	if _, strict := burnt.Decode(string(data), &struct{}{}); errors.As(strict, &pe) {
		return root, []*Fault{syntaxFault(data, pe)}
	} else if strict != nil {
		return root, []*Fault{{At: Everywhere, Msg: strict.Error()}}
	}
	if f != nil {
		return nil, []*Fault{f}
	}
	return root, nil
}

// syntaxFault describes an error of the strict decoder.
func syntaxFault(data []byte, err burnt.ParseError) *Fault {
	at := max(0, min(err.Position.Start, len(data)))
	line := 1 + bytes.LastIndexByte(data[:at], '\n')
	for _, marker := range []string{"<<<<<<<", "|||||||", "=======", ">>>>>>>"} {
		if bytes.HasPrefix(data[line:], []byte(marker)) {
			return &Fault{At: line, Msg: "git could not merge this file; edit the lines " +
				"between the markers <<<<<<< and >>>>>>>, and remove the markers"}
		}
	}
	const rule = `must be TOML: name = "value" sets a key, and [name] begins a table`
	text := data[line : line+LineEnd(data[line:])]
	switch key := strings.HasPrefix(err.Message, "expected"); { // not a string without an end
	case isLikeJSON(data):
		return &Fault{At: bytes.IndexAny(data, "{["), Msg: "the file is JSON, but it " + rule}
	case key && isLikeYAML(string(text)):
		return &Fault{At: line, Msg: "this line looks like YAML or JSON, but the file " + rule}
	}
	return &Fault{At: at, Msg: plainSyntax(err.Message)}
}

// isLikeJSON reports whether a file begins like a JSON object, or like a list of objects.
func isLikeJSON(data []byte) bool {
	list := bytes.TrimPrefix(bytes.TrimSpace(data), []byte("["))
	return bytes.HasPrefix(bytes.TrimSpace(list), []byte("{"))
}

// isLikeYAML reports whether a line begins like YAML or JSON: with a key and a colon, a dash, or "---".
func isLikeYAML(line string) bool {
	line = strings.TrimSpace(line)
	if line == "---" || strings.HasPrefix(line, "- ") {
		return true
	}
	key, value, found := strings.Cut(line, ":")
	return found && key != "" && (value == "" || strings.HasPrefix(value, " ")) &&
		!strings.ContainsFunc(key, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune(`_-"'`, r)
		})
}

// plainSyntax replaces messages of the strict decoder, because they quote the file, which can contain secrets.
func plainSyntax(msg string) string {
	const quotes = "; text must be in quotes"
	lower := strings.ToLower(msg)
	switch {
	case strings.Contains(lower, "expected value"):
		return "a value is missing or invalid here" + quotes +
			", a boolean is true or false, and a list ends with ]"
	case strings.HasPrefix(lower, "strings cannot contain newlines"):
		return "the closing quote is missing; put text with several lines between \"\"\" and \"\"\""
	case strings.Contains(lower, "is out of range"), strings.Contains(lower, "out of the safe"):
		return "the number is too large"
	case strings.HasPrefix(lower, "expected a top-level item to end"):
		return `the line must end here, after the value or [header]; write a quote in a text as \"`
	case strings.HasPrefix(lower, "invalid utf-8"):
		return msg + "; save the file in UTF-8"
	case strings.HasPrefix(lower, "invalid datetime"):
		return "this is not a date" + quotes
	case strings.HasPrefix(lower, "invalid integer"),
		strings.HasPrefix(lower, "invalid float"),
		strings.HasPrefix(lower, "not a"),
		strings.HasPrefix(
			lower,
			"cannot use sign",
		),
		strings.HasPrefix(lower, "floats must"),
		strings.HasPrefix(lower, "expected a digit"):
		return "this is not a number" + quotes
	}
	return strings.ReplaceAll(msg, `but got '\n' instead`, "but the line ends")
}

const maxFaults = 50

// duplicates finds all duplicate keys; the strict decoder reports only the first.
func duplicates(t *Node, path string, data []byte) []*Fault {
	if t == nil {
		return nil
	}
	var out []*Fault
	seen := make(map[string]*Node, len(t.Kids))
	for _, kid := range t.Kids {
		if len(out) > maxFaults {
			return out
		}
		at := path
		if t.Shape == ShapeTable {
			at = dotted(path, kid.Key)
			if first := seen[kid.Key]; first != nil {
				line := 1 + bytes.Count(data[:first.At], []byte("\n"))
				out = append(
					out,
					&Fault{
						At:  kid.At,
						Key: at,
						Msg: fmt.Sprintf("is defined twice; the first is on line %d", line),
					},
				)
			} else {
				seen[kid.Key] = kid
			}
		}
		if len(kid.Kids) > 0 {
			out = append(out, duplicates(kid, at, data)...)
		}
	}
	return out
}

// BlankBOM replaces a byte order mark with blanks, so that offsets do not change.
func BlankBOM(data []byte) []byte {
	if rest, ok := bytes.CutPrefix(data, []byte("\xef\xbb\xbf")); ok {
		return append([]byte("   "), rest...)
	}
	return data
}

// LineStarts returns the offset of each line.
func LineStarts(data []byte) []int {
	out := make([]int, 1, 1+bytes.Count(data, []byte("\n")))
	for i, c := range data {
		if c == '\n' {
			out = append(out, i+1)
		}
	}
	return out
}

// excess returns a Fault if the file is nested too deeply or has too many keys. It must run before the parsers, which
// are recursive and would build a tree of any size.
func excess(data []byte) *Fault {
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
			i += LineEnd(data[i:]) - 1
		case '"', '\'':
			i += skipString(data[i:], c) - 1
		}
		if depth > maxDepth || dots > maxDepth {
			return &Fault{
				At:  i,
				Msg: fmt.Sprintf("tables or lists are nested deeper than %d levels", maxDepth),
			}
		}
		if keys > maxKeys {
			return &Fault{
				At: i,
				Msg: fmt.Sprintf(
					"there are too many keys and values; the limit is %d",
					maxKeys,
				),
			}
		}
	}
	return nil
}

// LineEnd returns the offset of the first newline in data, or the length of data.
func LineEnd(data []byte) int {
	if n := bytes.IndexByte(data, '\n'); n >= 0 {
		return n
	}
	return len(data)
}

// skipString returns the length of the string at the start of data.
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
			for i < len(data) && data[i] == quote { // up to two more quotes are part of the string
				i++
			}
			return i
		case !multi && (c == quote || c == '\n'):
			return i + 1
		}
	}
	return len(data)
}

func dotted(table, key string) string {
	if table == "" {
		return key
	}
	return table + "." + key
}

// Values returns the values of a TOML file without their positions.
func Values(data []byte) (map[string]any, error) {
	var out map[string]any
	_, err := burnt.Decode(string(BlankBOM(data)), &out)
	return out, err
}

// Decode decodes TOML into a struct. A key without a field is an error.
func Decode(data []byte, into any) error {
	meta, err := burnt.Decode(string(data), into)
	if unknown := meta.Undecoded(); err == nil && len(unknown) > 0 {
		return fmt.Errorf("unknown key %q", unknown[0].String())
	}
	return err
}

// Encode encodes a struct or a map as TOML.
func Encode(v any) ([]byte, error) { return burnt.Marshal(v) }
