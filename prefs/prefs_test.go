package prefs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gcity/internal/toml"
)

func home(t *testing.T, files map[string]string) Files {
	t.Helper()
	dir := t.TempDir()
	f := Find(func(name string) string { return map[string]string{"HOME": "/nowhere", "XDG_CONFIG_HOME": dir}[name] })
	for name, text := range files {
		path := filepath.Join(dir, "gcity", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return f
}

func TestFind(t *testing.T) {
	for env, want := range map[[2]string]string{
		{"/c", "/h"}:  "/c/gcity/config.toml",
		{"", "/h"}:    "/h/.config/gcity/config.toml",
		{"rel", "/h"}: "/h/.config/gcity/config.toml",
		{"", ""}:      "",
		{"", "rel"}:   "",
	} {
		got := Find(func(name string) string { return map[string]string{"XDG_CONFIG_HOME": env[0], "HOME": env[1]}[name] })
		if got.Config != want {
			t.Errorf("%v: got %q, want %q", env, got.Config, want)
		}
	}
}

func TestEverything(t *testing.T) {
	p := Load(home(t, map[string]string{"config.toml": `
theme = "mine"
columns = ["name", "cpu", "why"]
reduced_motion = true
mouse = false
ascii = false
fps = 20
confirm = "always"
on_hangup = "leave"
detach_keys = "ctrl+]"
[keys]
"agent.restart" = "R"
"agent.kill" = []
focus.agents = ["A", "1"]
agent.drain = ""
focus.peek = 9
`, "themes/mine.toml": "[styles]\naccent = 'red'\n", "themes/dark.toml": "description = 'another dark'", "themes/note.txt": "x"}), Prefs{})
	if len(p.Problems) > 0 {
		t.Errorf("problems: %q", p.Problems)
	}
	if p.Theme != "mine" || !p.ReducedMotion || !p.MouseOff || p.ASCII == nil || *p.ASCII || p.FPS != 20 || p.Confirm != AskAlways ||
		p.OnHangup != LeaveCity || p.Detach.String() != "ctrl+]" || strings.Join(p.Columns, " ") != "name cpu why" {
		t.Errorf("read: %+v", p)
	}
	keys := map[string]string{}
	for _, b := range p.Keys {
		keys[b.Action] = strings.Join(b.Keys, " ")
		if !strings.Contains(b.Position, "config.toml:1") {
			t.Errorf("%s: got the position %q", b.Action, b.Position)
		}
	}
	for id, want := range map[string]string{"agent.restart": "R", "agent.kill": "", "focus.agents": "A 1", "agent.drain": "", "focus.peek": "9"} {
		if got, ok := keys[id]; !ok || got != want {
			t.Errorf("%s has the keys %q, %v; want %q", id, got, ok, want)
		}
	}
	names := p.themeNames()
	if !slices.Contains(names, "mine") || !slices.Contains(names, "terminal") || len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names) {
		t.Errorf("themes: %v", names)
	}
	for _, th := range p.Themes {
		if th.Name == "dark" && th.Description != "another dark" {
			t.Error("a user's theme did not replace the built-in theme with the same name")
		}
	}
}

// A mistake is reported with its position and advice. All other settings apply.
func TestMistakesAreReportedAndIgnored(t *testing.T) {
	for text, want := range map[string]string{
		`theme = "drak"`:                      `config.toml:1:9: theme: unknown value "drak"; did you mean "dark"?`,
		`theme = 5`:                           `config.toml:1:9: theme: is a whole number`,
		`columns = ["name", "cpus"]`:          `config.toml:1:20: columns: unknown column "cpus"; did you mean "cpu"?`,
		`columns = ["name", "name"]`:          `config.toml:1:20: columns: "name" is listed twice`,
		`columns = ["cpu"]`:                   `config.toml:1:11: columns: does not contain "name"`,
		`columns = "name"`:                    `config.toml:1:11: columns: is a string; it must be a list`,
		`ascii = "yes"`:                       `config.toml:1:9: ascii: unknown value "yes"; the values are auto`,
		`ascii = 3`:                           `config.toml:1:9: ascii: is a whole number; it must be true or false`,
		`fps = 0`:                             `config.toml:1:7: fps: is 0; it must be from 1 to 120`,
		`confirm = "sometimes"`:               `config.toml:1:11: confirm: unknown value "sometimes"; the values are normal, always and never`,
		`on_hangup = "die"`:                   `config.toml:1:13: on_hangup: unknown value "die"`,
		`detach_keys = "ctrl+m"`:              `config.toml:1:15: detach_keys: "ctrl+m" is enter in a terminal`,
		`reduced_motions = true`:              `config.toml:1:1: reduced_motions: unknown key; did you mean "reduced_motion"?`,
		`colour = "red"`:                      `config.toml:1:1: colour: unknown key, which is ignored`,
		"keys = 1":                            `config.toml:1:8: keys: is a whole number; it must be a table`,
		"[keys]\n\"a.b\" = true":              `config.toml:2:9: keys.a.b: must be a key in quotes`,
		"[keys]\n\"a.b\" = [1]":               `config.toml:2:10: keys.a.b: is a whole number; every item must be a string`,
		"theme = \"dark\nreduced_motion=true": `config.toml:1:14: the closing quote is missing`,
	} {
		p := Load(home(t, map[string]string{"config.toml": text}), Prefs{})
		if len(p.Problems) == 0 || !strings.Contains(p.Problems[0], want) {
			t.Errorf("%s: got %q, want %q", text, p.Problems, want)
		}
		if p.Confirm != AskUsual || p.OnHangup != GoHeadless || p.Detach.String() != "ctrl+q" || len(p.Themes) < 5 {
			t.Errorf("%s: want the default for the invalid setting, got %+v", text, p)
		}
	}
	p := Load(home(t, map[string]string{"config.toml": "fps = 30\nthene = 'dark'\nconfirm = 'never'"}), Prefs{})
	if p.FPS != 30 || p.Confirm != AskNever || len(p.Problems) != 1 {
		t.Errorf("with a mistake in another line: got %+v", p)
	}
}

func TestOwnThemesMistakes(t *testing.T) {
	p := Load(home(t, map[string]string{"config.toml": `theme = "mine"`, "themes/mine.toml": "[styles]\nacent = 'red'\nbad = 'reddish'"}), Prefs{})
	all := strings.Join(p.Problems, "\n")
	for _, want := range []string{`mine.toml:2:1: styles.acent: unknown key; did you mean "accent"?`, `mine.toml:3:7: styles.bad: invalid color "reddish"`,
		`config.toml:1:9: theme: unknown value "mine"`} {
		if !strings.Contains(all, want) {
			t.Errorf("%q lacks %q", all, want)
		}
	}
}

// If a file is broken, for example half-written, its previous settings stay in effect and the problem is reported.
func TestBrokenFileKeepsThePreviousConfiguration(t *testing.T) {
	f := home(t, map[string]string{"config.toml": "confirm = 'never'\nfps = 30"})
	first := Load(f, Prefs{})
	if err := os.WriteFile(f.Config, []byte("confirm = "), 0o600); err != nil {
		t.Fatal(err)
	}
	second := Load(f, first)
	if second.Confirm != AskNever || second.FPS != 30 || len(second.Problems) != 1 {
		t.Errorf("after a broken file: got %+v", second)
	}
	if err := os.Remove(f.Config); err != nil {
		t.Fatal(err)
	}
	if third := Load(f, second); third.Confirm != AskUsual || third.FPS != 0 || len(third.Problems) != 0 {
		t.Errorf("after the file was removed: got %+v", third)
	}
	if p := Load(Files{}, Prefs{}); p.Confirm != AskUsual || len(p.Themes) < 5 {
		t.Errorf("without a preferences file: got %+v", p)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("theme='dark'\ncolumns=['name']\n[keys]\na.b='x'\n'c.d'=['y',1]")
	f.Add("ascii='auto'\nfps=3\ndetach_keys='ctrl+a'\nconfirm='never'\nkeys={a=[],b=''}")
	f.Fuzz(func(t *testing.T, text string) {
		doc := toml.Read("config.toml", []byte(text), MaxSize)
		var p Prefs
		p.read(doc.Root())
		if p.Confirm == "" || p.OnHangup == "" || p.FPS < 0 || p.FPS > 120 {
			t.Errorf("%q leaves %+v", text, p)
		}
		if len(p.Columns) > len(Columns()) || len(p.Columns) > 0 && !slices.Contains(p.Columns, "name") {
			t.Errorf("%q: got the columns %q", text, p.Columns)
		}
		for _, b := range p.Keys {
			if b.Position == "" {
				t.Errorf("%q: binding %+v has no position", text, b)
			}
		}
	})
}
