package themes

import (
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

func TestEmbeddedThemesLoad(t *testing.T) {
	for _, name := range []string{"terminal", "dark", "light", "high-contrast", "colour-blind"} {
		th, err := Load(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if th.Description == "" || th.Style(Bad) == (Style{}) || th.Style(Accent) == (Style{}) {
			t.Errorf("%s: the description or a required style is missing", name)
		}
	}
	if len(Names()) < 5 {
		t.Errorf("names: %v", Names())
	}
	if _, err := Load("../go.mod"); err == nil || !strings.Contains(err.Error(), "terminal") {
		t.Errorf("unknown theme: want the valid names, got %v", err)
	}
}

// The default theme fits any terminal: it uses only the sixteen basic colors and sets no background.
func TestDefaultUsesTerminalColors(t *testing.T) {
	th, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	for k := range Tokens {
		s := th.Style(k)
		if n, err := strconv.Atoi(s.Text); s.Ground != "" || s.Text != "" && (err != nil || n > 15) {
			t.Errorf("token %d: got %+v", k, s)
		}
	}
}

func TestParseStyle(t *testing.T) {
	for in, want := range map[string]Style{
		"":                                   {},
		"bold":                               {Bold: true},
		"bold cyan":                          {Bold: true, Text: "6"},
		"bright-red on 17":                   {Text: "9", Ground: "17"},
		"#0a0b0c on bright-red":              {Text: "#0a0b0c", Ground: "9"},
		"on #ffffff":                         {Ground: "#ffffff"},
		"faint italic underline reverse 007": {Faint: true, Italic: true, Underline: true, Reverse: true, Text: "7"},
	} {
		if got, err := parse(in); err != nil || got != want {
			t.Errorf("%q: got %+v, %v; want %+v", in, got, err, want)
		}
	}
	for _, in := range []string{"blod", "#12", "256", "bright-", "red on on-blue"} {
		if got, err := parse(in); err == nil {
			t.Errorf("%q gave %+v, want an error", in, got)
		}
	}
}

func TestParseErrors(t *testing.T) {
	for _, in := range []string{"[styles]\nborder = 'red'", "colors = 1", "[styles]\ntext = 'reddish'", "="} {
		if _, err := Parse("x", []byte(in)); err == nil || !strings.Contains(err.Error(), `theme "x"`) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func TestColorlessUsesNoColor(t *testing.T) {
	th := Colorless()
	for k := range Tokens {
		if s := th.Style(k); s.Text != "" || s.Ground != "" || s.Reverse != (k == Select) {
			t.Errorf("token %d: %+v", k, s)
		}
	}
}

func TestGlyphsAreOneColumn(t *testing.T) {
	for name, g := range map[string]Glyphs{"unicode": Unicode(), "ascii": ASCII()} {
		if g.OK == "ok" {
			g.OK = g.Done // the only symbol of two columns
		}
		walk(reflect.ValueOf(g), func(s string) {
			if ansi.StringWidth(s) != 1 || name == "ascii" && len(s) != 1 {
				t.Errorf("%s: %q does not have one column", name, s)
			}
		})
	}
}

// In ASCII, each symbol of a state differs from all others, and from the keys in the header.
func TestASCIISymbolsOfStatesDiffer(t *testing.T) {
	g := ASCII()
	used := map[string]bool{"?": true, "@": true, "~": true}
	for _, other := range []string{g.Cursor, g.Mark, g.Mail, g.Above, g.Below, g.Bar, g.Heavy} {
		used[other] = true
	}
	signs := []string{g.Running, g.Suspended, g.Exited, g.Failed, g.Starting, g.Waiting, g.Backoff, g.Leaving, g.Alert, g.Done, g.Here}
	walk(reflect.ValueOf(g.SharedStates), func(s string) { signs = append(signs, s) })
	for _, s := range signs {
		if used[s] {
			t.Errorf("%q has two meanings", s)
		}
		used[s] = true
	}
}

func walk(v reflect.Value, see func(string)) {
	switch v.Kind() {
	case reflect.String:
		see(v.String())
	case reflect.Array:
		for i := range v.Len() {
			walk(v.Index(i), see)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			walk(v.Field(i), see)
		}
	}
}
