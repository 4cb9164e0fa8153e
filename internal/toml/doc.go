// Package toml reads TOML with the positions of all values. Parse returns a tree of nodes, for callers that edit a
// file. Load and Read return a Doc, for callers that read a small file key by key.
package toml

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	burnt "github.com/BurntSushi/toml"

	"gcity/internal/ownership"
)

const maxProblems = 20

// Place is a position in a file.
type Place struct {
	File         string // "" = the value is a default
	Line, Column int    // counted from 1, columns in bytes; 0 = the whole file
}

// String returns "city.toml:12:3", "city.toml" or "default".
func (p Place) String() string {
	switch {
	case p.File == "":
		return "default"
	case p.Line == 0:
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Problem is one error or warning about a file.
type Problem struct {
	Place
	Key     string // dotted path; "" if the problem is not about one key
	Message string // what is wrong, and what to write instead
}

func (p Problem) String() string {
	out := p.Message
	if p.Key != "" {
		out = p.Key + ": " + out
	}
	if p.File != "" {
		out = p.Place.String() + ": " + out
	}
	return out
}

// Reason returns the problem with the message first and the position last.
func (p Problem) Reason() string {
	out := p.Message
	if p.Key != "" {
		out = p.Key + ": " + out
	}
	if p.File != "" {
		out += " (" + p.Place.String() + ")"
	}
	return out
}

// At returns a problem at a position. It escapes unprintable characters in key and message.
func At(at Place, key, format string, args ...any) Problem {
	return Problem{Place: at, Key: Visible(key), Message: Visible(fmt.Sprintf(format, args...))}
}

// Problems is an error that lists the problems in a file, in file order.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}

// Doc is a parsed file. It is not safe for concurrent use.
type Doc struct {
	file     string
	data     []byte
	places   places
	values   map[string]any
	problems Problems
	warnings Problems
}

// Load reads a file of at most maxBytes bytes. The file must be regular, and other users must not be able to change it.
// Errors in the content become problems of the Doc, with name as the file's name.
func Load(path, name string, maxBytes int) (*Doc, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
		return failed(name, "it is not a regular file"), nil
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(maxBytes)+1))
	if err != nil {
		return nil, err
	}
	if err := ownership.Check(path); err != nil {
		return failed(name, err.Error()), nil
	}
	return Read(name, data, maxBytes), nil
}

// Read parses the content of a file. If the content is not valid TOML, the Doc has problems and no values.
func Read(name string, data []byte, maxBytes int) *Doc {
	d := &Doc{file: name, data: data}
	if len(data) > maxBytes {
		return failed(
			name,
			fmt.Sprintf("the file is larger than %d kB; is this the right file?", maxBytes>>10),
		)
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		d.add(0, "the file is UTF-16; save it as UTF-8")
		return d
	}
	if at := bytes.IndexByte(data, 0); at >= 0 {
		d.add(at, "contains a NUL byte; it is not a text file, or was not written completely")
		return d
	}
	if f := excess(data); f != nil {
		d.add(f.At, "%s", f.Msg)
		return d
	}
	data = BlankBOM(data)
	d.data = data
	_, err := burnt.Decode(string(data), &d.values)
	var pe burnt.ParseError
	switch {
	case errors.As(err, &pe):
		d.values = nil
		f := syntaxFault(data, pe)
		if strings.Contains(pe.Message, "already been defined") {
			f.Msg = "this key or table is defined twice"
		}
		d.add(f.At, "%s", f.Msg)
	case err != nil:
		d.values = nil
		d.problems = append(d.problems, At(Place{File: name}, "", "%v", err))
	default:
		d.places = places{}
		if root, f := readTree(data); f == nil {
			d.places.note("", root)
		}
	}
	return d
}

func failed(name, message string) *Doc {
	return &Doc{file: name, problems: Problems{{Place: Place{File: name}, Message: message}}}
}

// Root returns the table of the whole file.
func (d *Doc) Root() Table { return Table{doc: d, values: d.values} }

// Problems returns the errors so far. The caller must not use an empty result as an error.
func (d *Doc) Problems() Problems { return Sorted(d.problems) }

// Warnings returns the warnings so far.
func (d *Doc) Warnings() Problems { return Sorted(d.warnings) }

// Sorted sorts a file's problems by position, in place, and returns the first maxProblems of them.
func Sorted(all Problems) Problems {
	slices.SortStableFunc(all, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return all[:min(len(all), maxProblems)]
}

func (d *Doc) add(at int, format string, args ...any) {
	d.problems = append(d.problems, At(d.place(at), "", format, args...))
}

func (d *Doc) place(at int) Place {
	before := d.data[:min(at, len(d.data))]
	return Place{
		d.file,
		1 + bytes.Count(before, []byte("\n")),
		at - bytes.LastIndexByte(before, '\n'),
	}
}

// Visible escapes the characters that a terminal would interpret or hide.
func Visible(s string) string {
	if utf8.ValidString(s) &&
		!strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) }) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if strconv.IsPrint(r) && r != utf8.RuneError {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "\\u%04x", r)
		}
	}
	return b.String()
}
