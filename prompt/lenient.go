package prompt

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/template/parse"
)

// Note describes an unusable part of a template, and how Lenient handled it.
type Note struct {
	Error
	Column int
}

// Lenient is like Parse, but ignores unusable or unknown fragments. It uses the text of an invalid main file verbatim.
// It fails only if even that is impossible.
func Lenient(main File, fragments []File, appended []string) (*Template, []Note, error) {
	var notes []Note
	all := append(slices.Clone(fragments), main)
	for {
		t, err := Parse(main, fragments, appended)
		e, wrong := errors.AsType[*Error](err)
		if !wrong {
			return t, notes, err
		}
		n := Note{Error: *e, Column: columnOf(e, all)}
		i := slices.IndexFunc(fragments, func(f File) bool { return f.Name == e.File })
		switch {
		case e.Appended != "":
			n.Message += "; the missing fragment is ignored"
			appended = slices.DeleteFunc(slices.Clone(appended),
				func(s string) bool { return s == e.Appended })
		case i >= 0:
			n.Message += "; the fragment is ignored"
			fragments = slices.Delete(slices.Clone(fragments), i, i+1)
		default:
			raw, rawErr := Raw(main)
			if rawErr != nil {
				return nil, nil, rawErr
			}
			n.Message += "; the text is used verbatim"
			return raw, append(notes, n), nil
		}
		notes = append(notes, n)
	}
}

func columnOf(e *Error, files []File) int {
	i := slices.IndexFunc(files, func(f File) bool { return f.Name == e.File })
	if i < 0 || e.Line == 0 {
		return 0
	}
	lines := strings.Split(files[i].Text, "\n")
	if e.Line > len(lines) {
		return 1
	}
	line := lines[e.Line-1]
	_, quoted, _ := strings.Cut(e.Message, `"`)
	quoted, _, closed := strings.Cut(quoted, `"`)
	if at := strings.Index(line, quoted); closed && quoted != "" && at >= 0 {
		return at + 1
	}
	return max(1, strings.Index(line, "{{")+1)
}

// Raw returns a template that renders to the unchanged text of a file.
func Raw(main File) (*Template, error) {
	t, err := Parse(File{Name: main.Name}, nil, nil)
	if err != nil {
		return nil, err
	}
	switch {
	case len(main.Text) > MaxSource:
		return nil, &Error{File: main.Name, Message: fmt.Sprintf("is larger than %d KiB",
			MaxSource>>10)}
	case strings.IndexByte(main.Text, 0) >= 0:
		return nil, &Error{File: main.Name, Message: "contains a NUL character"}
	}
	text := &parse.TextNode{NodeType: parse.NodeText, Text: []byte(main.Text)}
	tree := parse.New(main.Name)
	tree.Root = &parse.ListNode{NodeType: parse.NodeList, Nodes: []parse.Node{text}}
	if _, err := t.set.AddParseTree(main.Name, tree); err != nil {
		return nil, &Error{File: main.Name, Message: err.Error()}
	}
	t.from[main.Name] = main
	t.hash = t.sum()
	return t, nil
}
