// Package themes defines the appearance of the control room: styles that are named by their meaning, and the glyphs. A
// theme is a small TOML file. The built-in themes are embedded.
package themes

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"gcity/internal/suggest"
	"gcity/internal/toml"
)

// Token says what a piece of text on the screen means. A theme gives each token a style.
type Token int

const (
	Text   Token = iota // main text
	Dim                 // secondary text: units, times, hints
	Accent              // focus and cursor
	Title               // of panels and dialogs
	Rule                // thin lines
	Good                // running as configured
	Busy                // in transition: starting, stopping, draining, waiting
	Warn                // a problem that gcity handles
	Bad                 // a problem that the user must solve
	Off                 // inactive on purpose
	Select              // row under the cursor, combined with other styles
	Key
	Alert // text of a problem, shown below the header; the default is Warn

	Tokens
)

func names() [Tokens]string {
	return [Tokens]string{"text", "dim", "accent", "title", "rule", "good", "busy", "warn", "bad",
		"off", "select", "key", "alert"}
}

// Theme maps tokens to styles. It is immutable.
type Theme struct {
	Name        string
	Description string
	styles      [Tokens]Style
}

// Style returns the style of a token.
func (t *Theme) Style(k Token) Style { return t.styles[k] }

// Default is the theme that uses the terminal's own sixteen colors.
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

// Load returns an embedded theme. Load("") returns Default.
func Load(name string) (Theme, error) {
	if name == "" {
		name = Default
	}
	data, err := files.ReadFile(name + ".toml")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrInvalid) {
		return Theme{}, suggest.NotFound(suggest.Theme, name, Names()).Then("use one of " +
			strings.Join(Names(), ", "))
	}
	if err != nil {
		return Theme{}, fmt.Errorf("cannot read theme %q: %w", name, err)
	}
	return Parse(name, data)
}

// MaxSize is the maximum size of a theme file, in bytes.
const MaxSize = 64 << 10

// Parse parses a theme file. Errors call it NAME.toml. Missing tokens have no style.
func Parse(name string, data []byte) (Theme, error) {
	return read(name, toml.Read(name+".toml", data, MaxSize))
}

// Open reads a user's theme file. The theme is named after the file.
func Open(path string) (Theme, error) {
	name := strings.TrimSuffix(filepath.Base(path), ".toml")
	doc, err := toml.Load(path, path, MaxSize)
	if err != nil {
		return Theme{}, fmt.Errorf("cannot read theme %q: %w", name, err)
	}
	return read(name, doc)
}

func read(name string, doc *toml.Doc) (Theme, error) {
	t := Theme{Name: name}
	known := names()
	root := doc.Root()
	root.RejectUnknown("description", "styles")
	t.Description = root.Text("description")
	if styles, ok := root.Table("styles"); ok {
		styles.RejectUnknown(known[:]...)
		for i, key := range known {
			style, err := parse(styles.Text(key))
			if err != nil {
				styles.Wrong(key, "%v", err)
			}
			t.styles[i] = style
		}
		if styles.Text("alert") == "" {
			t.styles[Alert] = t.styles[Warn]
		}
	}
	if wrong := doc.Problems(); len(wrong) > 0 {
		return Theme{}, fmt.Errorf("theme %q: %w", name, wrong)
	}
	return t, nil
}

// OnLight returns the theme for a light background.
func (t *Theme) OnLight() Theme {
	light := *t
	darker := map[string]string{"1": "124", "2": "22", "3": "94", "6": "24"}
	for k := range light.styles {
		if s := &light.styles[k]; darker[s.Text] != "" {
			s.Text = darker[s.Text]
		}
	}
	return light
}

// Colorless returns the theme without colors.
func Colorless() Theme {
	t := Theme{Name: "colorless", Description: "bold, faint and reversed text only"}
	t.styles[Select].Reverse = true
	for _, k := range []Token{Accent, Title, Warn, Bad, Key, Alert} {
		t.styles[k].Bold = true
	}
	for _, k := range []Token{Dim, Rule, Off} {
		t.styles[k].Faint = true
	}
	return t
}
