// Package toml reads TOML and knows where everything is written. Parse returns a tree of nodes with their offsets, for
// callers that edit a file or report every mistake in it. Load and Read return a Doc for small files: a caller
// takes its keys out of tables one by one, what does not fit is noted as a problem with line and column, and
// Problems returns all.
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

// maxProblems are told of one file.
const maxProblems = 20

// Place is where something stands.
type Place struct {
	File         string
	Line, Column int // from 1, in bytes; 0 = the file as a whole
}

func (p Place) String() string {
	if p.Line == 0 {
		return p.File
	}
	return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column)
}

// Problem is one thing wrong with, or worth saying about, a file.
type Problem struct {
	Place
	Key     string // dotted; "" = none in particular
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

// Reason is String for where there is little room: what is wrong comes first, and where after it.
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

// At is a problem at a place. Key and message are made fit to be shown.
func At(at Place, key, format string, args ...any) Problem {
	return Problem{Place: at, Key: visible(key), Message: visible(fmt.Sprintf(format, args...))}
}

// Problems is an error: everything that is wrong with a file, in the order of the file.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.String()
	}
	return strings.Join(lines, "\n")
}

// Doc is a file that was read. Not for concurrent use.
type Doc struct {
	file     string
	data     []byte
	places   places
	values   map[string]any
	problems Problems
	warnings Problems
}

// Load reads a file of at most so many bytes. It does not wait: what is no regular file may never answer. The error
// is one of the file system; what is wrong with the content is among the problems. The file is called name in them.
func Load(path, name string, most int) (*Doc, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
		return failed(name, "it is not a regular file"), nil
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err != nil {
		return nil, err
	}
	if err := ownership.Check(path); err != nil {
		return failed(name, err.Error()), nil
	}
	return Read(name, data, most), nil
}

// Read takes a file that is in memory already. A file that is not TOML has its problems and no values.
func Read(name string, data []byte, most int) *Doc {
	d := &Doc{file: name, data: data}
	if len(data) > most {
		return failed(
			name,
			fmt.Sprintf("the file is larger than %d kB; is it the right one?", most>>10),
		)
	}
	if bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")) {
		d.add(0, "this is UTF-16; save the file as UTF-8")
		return d
	}
	if at := bytes.IndexByte(data, 0); at >= 0 {
		d.add(at, "there is a NUL byte; this is no text file, or it was not written to its end")
		return d
	}
	if f := excess(data); f != nil {
		d.add(f.At, "%s", f.Msg)
		return d
	}
	data = Unmarked(data)
	d.data = data
	_, err := burnt.Decode(string(data), &d.values)
	var pe burnt.ParseError
	switch {
	case errors.As(err, &pe):
		d.values = nil
		what := plainSyntax(pe.Message)
		if strings.Contains(pe.Message, "already been defined") {
			what = "this key or table is written twice"
		}
		d.add(min(max(0, pe.Position.Start), len(data)), "%s", what)
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

// Root is the table that the whole file is.
func (d *Doc) Root() Table { return Table{doc: d, values: d.values} }

// Problems is what is wrong with the file, so far; an error only if it is not empty.
func (d *Doc) Problems() Problems { return Sorted(d.problems) }

// Warnings is what is worth saying besides.
func (d *Doc) Warnings() Problems { return Sorted(d.warnings) }

// Sorted gives problems in the order of their files' lines, and no more than anybody reads. It sorts in place.
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

// visible shows what a terminal would obey, or hide.
func visible(s string) string {
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
