// Package prompt renders the instructions that agents receive when they start. Templates use the syntax of
// text/template. Rendering is limited in time and size.
//
// # Concurrency
//
// A Template is immutable and safe for concurrent use.
package prompt

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
)

const (
	MaxSource = 512 << 10 // maximum size of a file in bytes
	MaxText   = 1 << 20   // maximum size of the rendered text in bytes
)

// File is a file of a template. Errors refer to it by its name.
type File struct{ Name, Text string }

// Error is an error in a template.
type Error struct {
	File    string
	Line    int // counted from 1; 0 = unknown
	Message string
	// the appended name (see Parse) that matches no fragment; "" for other errors
	Appended string
}

func (e *Error) Error() string {
	switch {
	case e.File == "":
		return e.Message
	case e.Line == 0:
		return e.File + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Message)
}

// Template is a parsed template.
type Template struct {
	set    *template.Template
	main   string
	append []string
	hash   string
	from   map[string]File
	calls  map[string][]named // each fragment's references to other fragments
	fields map[string][]Field
}

type named struct {
	name string
	line int
}

// Field is a reference to a value.
type Field struct {
	Name   string
	File   string
	Line   int
	Tested bool // the template only tests whether the value is set
}

// Parse parses a template. The parameter appended contains the names of the fragments to append. Among fragments with
// the same name, the last one counts. Parse returns an *Error if rendering would fail for all values.
func Parse(main File, fragments []File, appended []string) (*Template, error) {
	t := &Template{set: template.New(main.Name).Option("missingkey=zero").
		Funcs(functions(nil, nil)), main: main.Name, append: slices.Clone(appended),
		from: map[string]File{}, calls: map[string][]named{}, fields: map[string][]Field{}}
	for _, f := range fragments {
		if err := t.add(f, fragmentName(f.Name)); err != nil {
			return nil, err
		}
	}
	if err := t.add(main, main.Name); err != nil {
		return nil, err
	}
	for _, name := range appended {
		if t.from[name].Name == "" {
			return nil, &Error{Message: fmt.Sprintf("fragment %q not found; %s", name,
				t.fragments()), Appended: name}
		}
	}
	for _, name := range append([]string{main.Name}, appended...) {
		if err := t.walk(name, nil, map[string]bool{}); err != nil {
			return nil, err
		}
	}
	t.hash = t.sum()
	return t, nil
}

// fragmentName returns "a" for "shared/a.md.tmpl".
func fragmentName(file string) string {
	name, _, _ := strings.Cut(filepath.Base(file), ".")
	return name
}

func (t *Template) add(f File, name string) error {
	if len(f.Text) > MaxSource {
		return &Error{File: f.Name, Message: fmt.Sprintf("is larger than %d KiB; is it the "+
			"right file?", MaxSource>>10)}
	}
	if at := strings.IndexByte(f.Text, 0); at >= 0 {
		return &Error{File: f.Name, Line: 1 + strings.Count(f.Text[:at], "\n"),
			Message: "contains a NUL character, which no program accepts; remove it"}
	}
	if line := nested(f.Text); line > 0 {
		return &Error{File: f.Name, Line: line, Message: "contains blocks or parentheses " +
			"that are nested too deeply"}
	}
	one, err := template.New(f.Name).Funcs(functions(nil, nil)).Parse(f.Text)
	if err != nil {
		return parseError(f, err)
	}
	for _, d := range one.Templates() {
		if d.Tree == nil || d.Root == nil {
			continue
		}
		as := d.Name()
		if as == f.Name {
			if as = name; as != t.main && (parse.IsEmptyTree(d.Root) || one.Lookup(as) != nil) {
				continue
			}
		}
		t.from[as] = f
		s := scan{file: f}
		s.calls, s.fields = nil, nil
		s.node(d.Root, false)
		t.calls[as], t.fields[as] = s.calls, s.fields
		if _, err := t.set.AddParseTree(as, d.Tree); err != nil {
			return &Error{File: f.Name, Message: err.Error()}
		}
	}
	// the file is empty or contains only definitions
	if name == t.main && t.from[t.main].Name == "" {
		t.from[t.main] = f
	}
	return nil
}

// maxNested limits the nesting depth, because the parser and the renderer are recursive.
const maxNested = 1000

func nested(text string) int {
	parens, deep := 0, 0
	var blocks []int // levels of each open block; an "else if" adds one
	inside := false
	for i := range len(text) {
		switch {
		case !inside && strings.HasPrefix(text[i:], "{{"):
			inside, parens = true, 0
			switch word := firstWords(text[i+2:]); {
			case word == "else if", word == "else with":
				if n := len(blocks); n > 0 {
					blocks[n-1]++
					deep++
				}
			case word == "if", word == "range", word == "with", word == "define", word == "block":
				blocks, deep = append(blocks, 1), deep+1
			case word == "end" && len(blocks) > 0:
				deep -= blocks[len(blocks)-1]
				blocks = blocks[:len(blocks)-1]
			}
		case inside && strings.HasPrefix(text[i:], "}}"):
			inside = false
		case inside && text[i] == '(':
			parens++
		case inside && text[i] == ')':
			parens--
		}
		if parens > maxNested || deep > maxNested {
			return 1 + strings.Count(text[:i], "\n")
		}
	}
	return 0
}

func firstWords(action string) string {
	words := strings.FieldsFunc(strings.TrimPrefix(action[:min(len(action), 64)], "-"),
		func(r rune) bool {
			return r < 'a' || r > 'z'
		})
	switch {
	case len(words) == 0:
		return ""
	case words[0] == "else" && len(words) > 1:
		return "else " + words[1]
	}
	return words[0]
}

// parseError converts an error from the parser, which has the form "template: NAME:12: TEXT".
func parseError(f File, err error) *Error {
	msg := strings.TrimPrefix(err.Error(), "template: ")
	e := &Error{File: f.Name, Message: "is not a valid template: " + msg}
	if rest, ok := strings.CutPrefix(msg, f.Name+":"); ok {
		line, what, _ := strings.Cut(rest, ": ")
		line, _, _ = strings.Cut(line, ":")
		if n, err := strconv.Atoi(line); err == nil {
			e.Line, e.Message = n, "is not a valid template: "+what
		}
	}
	return e
}

func (t *Template) walk(name string, ancestors []string, seen map[string]bool) error {
	if at := slices.Index(ancestors, name); at >= 0 {
		circle := append(slices.Clone(ancestors[at:]), name)
		return &Error{File: t.from[name].Name, Message: "uses itself: " +
			strings.Join(circle, " → ") + "; the prompt would be endless"}
	}
	if seen[name] {
		return nil
	}
	seen[name] = true
	for _, c := range t.calls[name] {
		if t.from[c.name].Name == "" {
			return &Error{File: t.from[name].Name, Line: c.line,
				Message: fmt.Sprintf("uses the fragment %q, which does not exist; %s", c.name,
					t.fragments())}
		}
		if err := t.walk(c.name, append(ancestors, name), seen); err != nil {
			return err
		}
	}
	return nil
}

func (t *Template) fragments() string {
	names := t.Fragments()
	if len(names) == 0 {
		return "no fragments are defined"
	}
	return "defined fragments: " + strings.Join(names, ", ")
}

// Fragments returns the sorted names of all fragments, used or not.
func (t *Template) Fragments() []string {
	names := slices.Sorted(maps.Keys(t.from))
	return slices.DeleteFunc(names, func(name string) bool { return name == t.main })
}

func (t *Template) reachable() map[string]bool {
	seen := map[string]bool{}
	for _, name := range append([]string{t.main}, t.append...) {
		_ = t.walk(name, nil, seen) // cannot fail, because it succeeded in Parse
	}
	return seen
}

// Hash returns a hexadecimal hash of the files that affect the rendered text.
func (t *Template) Hash() string { return t.hash }

func (t *Template) sum() string {
	h := sha256.New()
	files := map[File]bool{}
	for name := range t.reachable() {
		files[t.from[name]] = true
	}
	for _, f := range slices.SortedFunc(maps.Keys(files), func(a, b File) int {
		return strings.Compare(a.Text, b.Text)
	}) {
		fmt.Fprintf(h, "%d\x00%s", len(f.Text), f.Text)
	}
	for _, name := range t.append {
		fmt.Fprintf(h, "\x00%s", name)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Fields returns the references to values, sorted by file and line. A value is listed once per line.
func (t *Template) Fields() []Field {
	var out []Field
	for name := range t.reachable() {
		out = append(out, t.fields[name]...)
	}
	slices.SortFunc(out, func(a, b Field) int {
		if c := strings.Compare(a.File, b.File); c != 0 {
			return c
		}
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return strings.Compare(a.Name, b.Name)
	})
	return slices.Compact(out)
}

// Mentions reports whether the rendered text may depend on a value.
func (t *Template) Mentions(field string) bool {
	for name := range t.reachable() {
		if strings.Contains(t.from[name].Text, field) {
			return true
		}
	}
	return false
}

// Render renders the template. It always terminates, because steps and output are limited. The error is an *Error.
func (t *Template) Render(ctx context.Context, v Values) (string, error) {
	set, err := t.set.Clone()
	if err != nil {
		return "", &Error{File: t.main, Message: err.Error()}
	}
	b := &budget{ctx: ctx, steps: maxSteps, bytes: maxWork}
	set.Funcs(functions(b, &v))
	out, data := &limitedText{}, v.data()
	for i, name := range append([]string{t.main}, t.append...) {
		if i > 0 {
			if trimmed := strings.TrimRight(out.String(), "\n"); trimmed != out.String() {
				out.Reset()
				out.WriteString(trimmed)
			}
			if out.Len() > 0 {
				_, _ = out.Write([]byte("\n\n")) // the next write returns the error
			}
		}
		// a file that contains only definitions renders to nothing
		if of := set.Lookup(name); of == nil || of.Tree == nil {
			continue
		}
		if err := set.ExecuteTemplate(out, name, data); err != nil {
			return "", t.renderError(name, err)
		}
	}
	if text := out.String(); strings.IndexByte(text, 0) < 0 {
		return text, nil
	}
	return "", &Error{File: t.main, Message: "renders to text with a NUL character, which no " +
		"program accepts"}
}

func (t *Template) renderError(name string, err error) *Error {
	e := &Error{File: t.from[name].Name, Message: "cannot be rendered: " +
		strings.TrimPrefix(err.Error(), "template: ")}
	if limit, ok := errors.AsType[*limitError](err); ok {
		e.Message = "cannot be rendered: " + limit.Error()
		return e
	}
	exec, ok := errors.AsType[template.ExecError](err)
	if !ok {
		return e
	}
	for _, f := range t.from {
		rest, found := strings.CutPrefix(strings.TrimPrefix(exec.Error(), "template: "), f.Name+":")
		if !found {
			continue
		}
		line, what, _ := strings.Cut(rest, ": ")
		line, _, _ = strings.Cut(line, ":")
		if n, err := strconv.Atoi(line); err == nil {
			return &Error{File: f.Name, Line: n, Message: "cannot be rendered: " + what}
		}
	}
	return e
}
