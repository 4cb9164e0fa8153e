package prompt

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

func parsed(t testing.TB, text string, fragments ...File) *Template {
	t.Helper()
	p, err := Parse(File{"prompts/a.md.tmpl", text}, fragments, nil)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func sample() Values {
	return Values{
		CityRoot: "/c", AgentName: "demo/worker-1", TemplateName: "worker", RigName: "demo", WorkDir: "/c/w", IssuePrefix: "de",
		Branch: "topic", DefaultBranch: "main", WorkQuery: "gc hook", SlingQuery: "gc sling demo/worker {}",
		Env:     map[string]string{"MODE": "quick", "AgentName": "liar"},
		Session: func(name string) string { return "gc-c-" + name },
	}
}

func TestRender(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "plain\n": "plain\n",
		"{{.CityRoot}} {{.AgentName}} {{.TemplateName}} {{.RigName}} {{.WorkDir}}":                "/c demo/worker-1 worker demo /c/w",
		"{{.IssuePrefix}} {{.Branch}} {{.DefaultBranch}} {{.WorkQuery}} {{.SlingQuery}}":          "de topic main gc hook gc sling demo/worker {}",
		"{{.MODE}}|{{.Nothing}}|{{if .Nothing}}x{{else}}y{{end}}":                                 "quick||y",
		`{{cmd}} {{session "a/b"}} {{basename .AgentName}} {{basename ""}}`:                       "gc gc-c-a/b worker-1 ",
		`{{define "x"}}[{{.RigName}}]{{end}}{{template "x" .}}{{template "x" .}}`:                 "[demo][demo]",
		`{{range $i := 3}}{{$i}}{{end}}{{with .RigName}}{{.}}{{end}}{{printf "%s-%03d" .MODE 7}}`: "012demoquick-007",
		`{{$x := print .MODE 1}}{{html "<"}}{{js "'"}}{{urlquery "a b"}}{{$x}}{{println "z"}}`:    "&lt;\\'a+bquick1z\n",
		"{{- /* told to nobody */ -}}\n  text":                                                    "text",
	} {
		got, err := parsed(t, in).Render(t.Context(), sample())
		if err != nil || got != want {
			t.Errorf("%q: got %q, %v; want %q", in, got, err, want)
		}
	}
}

func TestFragments(t *testing.T) {
	fragments := []File{
		{"city/prompts/shared/a.md.tmpl", `{{define "manners"}}be kind{{end}}{{define "aim"}}city{{end}}`},
		{"prompts/shared/b.md.tmpl", `{{define "aim"}}{{.RigName}}{{end}}`},
		{"prompts/shared/whole.md.tmpl", "the whole of {{.AgentName}}\n"},
	}
	p, err := Parse(File{"p", "{{template \"aim\" .}}\n\n\n"}, fragments, []string{"manners", "whole"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Render(t.Context(), sample())
	if want := "demo\n\nbe kind\n\nthe whole of demo/worker-1\n"; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	if want := []string{"aim", "manners", "whole"}; !slices.Equal(p.Fragments(), want) {
		t.Errorf("%q", p.Fragments())
	}
	if !p.Mentions("RigName") || p.Mentions("Branch") {
		t.Error("Mentions does not find a value that the template uses")
	}
}

func TestParseSaysWhereAndWhat(t *testing.T) {
	shared := File{"shared/s.md.tmpl", "{{define \"ok\"}}\n{{template \"gone\" .}}{{end}}{{define \"one\"}}{{template \"two\" .}}{{end}}{{define \"two\"}}{{template \"one\" .}}{{end}}"}
	for in, want := range map[string]string{
		"a\nb {{if}}":                 "p:2: is not a valid template: missing value for if",
		"{{.A":                        "p:1: is not a valid template: unclosed action",
		"{{end}}":                     "p:1: is not a valid template: unexpected {{end}}",
		"\n{{shell \"rm\"}}":          `p:2: is not a valid template: function "shell" not defined`,
		"\n\n{{template \"nope\" .}}": `p:3: uses the fragment "nope", which does not exist; defined fragments: ok, one, two`,
		"{{template \"ok\" .}}":       `shared/s.md.tmpl:2: uses the fragment "gone", which does not exist; defined fragments: ok, one, two`,
		"{{template \"one\" .}}":      "shared/s.md.tmpl: uses itself: one → two → one; the prompt would be endless",
		"{{template \"p\" .}}":        "p: uses itself: p → p; the prompt would be endless",
		"x\n\x00":                     "p:2: contains a NUL character, which no program accepts; remove it",
		strings.Repeat("{{if 1}}", 2000) + strings.Repeat("{{end}}", 2000): "p:1: contains blocks or parentheses that are nested too deeply",
		"{{" + strings.Repeat("(", 200_000):                                "p:1: contains blocks or parentheses that are nested too deeply",
		strings.Repeat("x", MaxSource+1):                                   "p: is larger than 512 KiB; is it the right file?",
	} {
		_, err := Parse(File{"p", in}, []File{shared}, nil)
		if err == nil || err.Error() != want {
			t.Errorf("%.40q: %v\nwant %s", in, err, want)
		}
	}
	if _, err := Parse(File{"p", "x"}, []File{{"s", "{{define"}}, nil); err == nil || err.Error() != "s:1: is not a valid template: unclosed action" {
		t.Error(err)
	}
	if _, err := Parse(File{"p", "x"}, nil, []string{"nope"}); err == nil || err.Error() != `fragment "nope" not found; no fragments are defined` {
		t.Error(err)
	}
	if _, err := Parse(File{"p", strings.Repeat("{{if .A}}x{{else if .B}}y{{else}}z{{end}}(", 5000)}, nil, nil); err != nil {
		t.Errorf("many blocks in sequence were rejected as nested: %v", err)
	}
}

// A template can neither block a start nor use too much memory.
func TestRenderEnds(t *testing.T) {
	double := strings.Repeat("{{$x = print $x $x}}", 60)
	for in, want := range map[string]string{
		"{{range 10000000000}}{{end}}":                                                           "p: cannot be rendered: it takes more than 20000 steps; does it loop endlessly?",
		"{{range 1000}}{{range 1000}}{{range 1000}}x{{end}}{{end}}{{end}}":                       "p: cannot be rendered: it takes more than 20000 steps; does it loop endlessly?",
		"{{range 19000}}0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef{{end}}": "p: cannot be rendered: it is too long; the limit of a prompt is 1024 KiB",
		"{{$x := \"aaaa\"}}" + double:                                                            "p: cannot be rendered: it is too long; the limit of a prompt is 1024 KiB",
		`{{printf "%999999d" 1}}`:                                                                "p: cannot be rendered: it is too long; the limit of a prompt is 1024 KiB",
		`{{printf "%*d" 999999 1}}`:                                                              "p: cannot be rendered: it is too long; the limit of a prompt is 1024 KiB",
		`{{$x := "\\"}}` + strings.Repeat("{{$x = js $x}}", 60):                                  "p: cannot be rendered: it is too long; the limit of a prompt is 1024 KiB",
		"a\n{{index .AgentName 99}}":                                                             `p:2: cannot be rendered: executing "p" at <index .AgentName 99>: error calling index: index out of range: 99`,
		`{{"\x00"}}`:                                                                             "p: renders to text with a NUL character, which no program accepts",
	} {
		p, err := Parse(File{"p", in}, nil, nil)
		if err != nil {
			t.Errorf("%.40q: %v", in, err)
			continue
		}
		if _, err = p.Render(t.Context(), sample()); err == nil || err.Error() != want {
			t.Errorf("%.40q: %v\nwant %s", in, err, want)
		}
	}
}

func TestRenderEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := parsed(t, "{{range 100000}}{{end}}").Render(ctx, sample())
	if err == nil || err.Error() != "prompts/a.md.tmpl: cannot be rendered: it took too long" {
		t.Error(err)
	}
}

// The hash covers only the prompt and the fragments that it uses.
func TestHash(t *testing.T) {
	hash := func(text string, behind []string, fragments ...File) string {
		p, err := Parse(File{"p", text}, fragments, behind)
		if err != nil {
			t.Fatal(err)
		}
		return p.Hash()
	}
	used, idle := File{"s/u.md.tmpl", `{{define "u"}}1{{end}}`}, File{"s/i.md.tmpl", `{{define "i"}}1{{end}}`}
	base := hash(`{{template "u" .}}`, nil, used, idle)
	if other := hash(`{{template "u" .}}`, nil, used, File{"s/i.md.tmpl", `{{define "i"}}2{{end}}`}); other != base {
		t.Error("a fragment that the template does not use changed the hash")
	}
	for name, other := range map[string]string{
		"its text":             hash(`{{template "u" .}}!`, nil, used, idle),
		"a fragment":           hash(`{{template "u" .}}`, nil, File{"s/u.md.tmpl", `{{define "u"}}2{{end}}`}, idle),
		"an added fragment":    hash(`{{template "u" .}}`, []string{"i"}, used, idle),
		"the fragments' order": hash(`{{template "u" .}}`, []string{"i", "u"}, used, idle),
	} {
		if other == base {
			t.Errorf("%s did not change the hash", name)
		}
	}
}

func TestFields(t *testing.T) {
	p := parsed(t, "{{.A}}\n{{if .B}}{{.C}}{{end}}{{$.D}}{{with .E}}{{.}}{{end}}{{template \"f\" .}}", File{"s/f.md.tmpl", `{{define "f"}}{{.G}}{{end}}{{define "idle"}}{{.H}}{{end}}`})
	var got []string
	for _, f := range p.Fields() {
		got = append(got, f.Name+map[bool]string{true: "?"}[f.Tested])
	}
	if want := []string{"A", "B?", "C", "D", "E?", "G"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func FuzzTemplate(f *testing.F) {
	for _, s := range []string{"{{.AgentName}}", "{{range 9}}{{printf \"%d\" .}}{{end}}", "{{define \"a\"}}{{template \"a\" .}}{{end}}", "{{$x := .}}{{print $x $x}}",
		"{{block \"b\" .}}{{.}}{{end}}", "{{with $x := 1}}{{else with 2}}{{end}}", "{{slice .WorkDir 1 2}}{{len .}}{{call .}}", "{{/* a */}}", "{{1 | printf \"%v\" | html}}"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, main, fragment string) {
		p, err := Parse(File{"p", main}, []File{{"s/f.md.tmpl", fragment}}, nil)
		if err != nil {
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Fatalf("%T", err)
			}
			return
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		one, err := p.Render(ctx, sample())
		if ctx.Err() != nil {
			t.Fatal("Render did not return")
		}
		two, again := p.Render(ctx, sample())
		if one != two || (err == nil) != (again == nil) {
			t.Fatalf("Render twice: got %q and %q", one, two)
		}
		if len(one) > MaxText || strings.IndexByte(one, 0) >= 0 {
			t.Fatal("the rendered text is too long or contains a NUL character")
		}
		p.Hash()
		p.Fields()
	})
}
