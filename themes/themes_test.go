package themes

import (
	"reflect"
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
		if th.Description == "" || th.On(Bad) == "" || th.On(Accent) == "" {
			t.Errorf("%s lacks a description or a style that matters", name)
		}
	}
	if len(Names()) < 5 {
		t.Errorf("names: %v", Names())
	}
	if _, err := Load("../go.mod"); err == nil || !strings.Contains(err.Error(), "terminal") {
		t.Errorf("an unknown theme must name those there are, got %v", err)
	}
}

// The default theme must fit any terminal: sixteen colours, no background of its own.
func TestDefaultStaysWithTheTerminal(t *testing.T) {
	th, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	for k := range tokens {
		for _, code := range strings.Split(strings.Trim(th.On(k), "\x1b[m"), ";") {
			if code == "38" || code == "48" || len(code) == 2 && code[0] == '4' {
				t.Errorf("token %d paints %q", k, th.On(k))
			}
		}
	}
}

func TestCompile(t *testing.T) {
	for in, want := range map[string]string{
		"":                      "",
		"bold":                  "\x1b[1m",
		"bold cyan":             "\x1b[1;36m",
		"bright-red on 17":      "\x1b[91;48;5;17m",
		"#0a0b0c on bright-red": "\x1b[38;2;10;11;12;101m",
		"on #ffffff":            "\x1b[48;2;255;255;255m",
	} {
		if got, err := compile(in); err != nil || got != want {
			t.Errorf("%q: %q, %v; want %q", in, got, err, want)
		}
	}
	for _, in := range []string{"blod", "#12", "#12345g", "256", "-1", "bright-"} {
		if got, err := compile(in); err == nil {
			t.Errorf("%q gave %q, want an error", in, got)
		}
	}
}

func TestParseRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, in := range []string{"[styles]\nborder = 'red'", "colours = 1", "[styles]\ntext = 'reddish'", "="} {
		if _, err := Parse("x", []byte(in)); err == nil || !strings.Contains(err.Error(), `theme "x"`) {
			t.Errorf("%q: %v", in, err)
		}
	}
}

func TestColourlessUsesNoColour(t *testing.T) {
	th := Colourless()
	for k := range tokens {
		if on := th.On(k); on != "" && on != "\x1b[1m" && on != "\x1b[2m" {
			t.Errorf("token %d: %q", k, on)
		}
	}
}

func TestGlyphsAreOneColumn(t *testing.T) {
	for name, g := range map[string]Glyphs{"unicode": Unicode(), "ascii": ASCII()} {
		walk(reflect.ValueOf(g), func(s string) {
			if ansi.StringWidth(s) != 1 || name == "ascii" && len(s) != 1 {
				t.Errorf("%s: %q is not one column", name, s)
			}
		})
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
