// Package themes holds the control room's looks: a dozen styles by meaning, never by place, and the glyphs that go with
// them. A theme is a small TOML file; those that come with gcity are embedded.
package themes

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"gcity/internal/toml"
)

// Token is what a piece of the screen means.
type Token int

const (
	Text   Token = iota // what is there to be read
	Dim                 // secondary: units, times, hints
	Accent              // the one colour that says "here": focus, cursor
	Title               // names of panels and dialogs
	Rule                // thin lines
	Good                // runs as wanted
	Busy                // on its way: starting, stopping, draining, waiting
	Warn                // goes wrong and mends itself
	Bad                 // needs a person
	Off                 // rests on purpose
	Select              // the row under the cursor, laid under the other styles
	Key                 // a key to press

	Tokens // how many there are
)

// names are the keys of a theme file, in the order of the tokens.
func names() [Tokens]string {
	return [Tokens]string{"text", "dim", "accent", "title", "rule", "good", "busy", "warn", "bad",
		"off", "select", "key"}
}

// Theme maps tokens to styles. It is immutable; the zero value has no style at all.
type Theme struct {
	Name        string
	Description string
	styles      [Tokens]Style
}

// Style is how a token looks.
func (t *Theme) Style(k Token) Style { return t.styles[k] }

// Default is the name of the theme that follows the terminal's own sixteen colours and paints no background.
const Default = "terminal"

//go:embed *.toml
var files embed.FS

// Names lists the embedded themes.
func Names() []string {
	found, err := fs.Glob(files, "*.toml")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	for i, f := range found {
		found[i] = strings.TrimSuffix(f, ".toml")
	}
	return found
}

// Load returns an embedded theme; "" is Default.
func Load(name string) (Theme, error) {
	if name == "" {
		name = Default
	}
	data, err := files.ReadFile(name + ".toml")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return Theme{}, fmt.Errorf("there is no theme %q; choose one of %s", name,
			strings.Join(Names(), ", "))
	}
	if err != nil {
		return Theme{}, fmt.Errorf("cannot read the theme %q: %w", name, err)
	}
	return Parse(name, data)
}

// MaxSize bounds a theme file, in bytes.
const MaxSize = 64 << 10

// Parse reads a theme file, called NAME.toml in errors. Tokens it leaves out have no style.
func Parse(name string, data []byte) (Theme, error) {
	return read(name, toml.Read(name+".toml", data, MaxSize))
}

// Open reads a theme file of a person's own; the theme is called as the file is. Errors name file, line and column.
func Open(path string) (Theme, error) {
	name := strings.TrimSuffix(filepath.Base(path), ".toml")
	doc, err := toml.Load(path, path, MaxSize)
	if err != nil {
		return Theme{}, fmt.Errorf("cannot read the theme %q: %w", name, err)
	}
	return read(name, doc)
}

func read(name string, doc *toml.Doc) (Theme, error) {
	t := Theme{Name: name}
	known := names()
	root := doc.Root()
	root.Only("description", "styles")
	t.Description = root.Text("description")
	if styles, ok := root.Table("styles"); ok {
		styles.Only(known[:]...)
		for i, key := range known {
			style, err := parse(styles.Text(key))
			if err != nil {
				styles.Wrong(key, "%v", err)
			}
			t.styles[i] = style
		}
	}
	if wrong := doc.Problems(); len(wrong) > 0 {
		return Theme{}, fmt.Errorf("theme %q: %w", name, wrong)
	}
	return t, nil
}

// Colourless is what remains of any theme where colours are not wanted: weight only. Everything it tells apart is told
// by words and glyphs as well.
func Colourless() Theme {
	t := Theme{Name: "colourless", Description: "bold and faint only"}
	for _, k := range []Token{Accent, Title, Warn, Bad, Key, Select} {
		t.styles[k].Bold = true
	}
	for _, k := range []Token{Dim, Rule, Off} {
		t.styles[k].Faint = true
	}
	return t
}
