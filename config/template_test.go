package config

import (
	"fmt"
	"gcity/config/placeholder"
	"strings"
	"testing"
	"text/template"
)

// An expansion terminates, is limited in size, and agrees with text/template.
func FuzzExpand(f *testing.F) {
	for _, s := range []string{"", "x", "{{.Agent}}", "a{{.City}}-{{.Agent}}b", "{{ .Agent }}",
		"{{- .Agent -}} x", "{{.Agent", "{{.Nope}}",
		"{{if .Rig}}a{{else}}b{{end}}", "{{with .Dir}}{{.}}{{end}}", "{{range 9}}x{{end}}",
		"{{.WorkDir}}", `{{"{{"}}`, "{{/* x */}}y", "}}{{.Name}}{{{",
		`{{eq .City "app" | not}}`, `{{define "x"}}{{end}}`, `{{block "x" .}}{{end}}`,
		`{{slice .Agent 0 1}}`, "{{$}}", "{{len .Agent}}"} {
		f.Add(s)
	}
	v := placeholder.Values{City: "app", CityName: "app", CityRoot: "/srv/app",
		ConfigDir: "/srv/app", Agent: "a.b", Name: "a.b", Session: "gc-app-a_db",
		Dir: "{{.Name}}", WorkDir: "/srv/app/{{.Name}}"}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := placeholder.Expand(text, v)
		if len(got) > placeholder.Max {
			t.Fatalf("%d bytes", len(got))
		}
		if err != nil {
			return
		}
		var want strings.Builder
		tt, err := template.New("").Parse(text)
		if err == nil {
			err = tt.Execute(&want, v)
		}
		if err != nil || want.String() != got {
			t.Fatalf("%q: got %q, text/template says %q, %v", text, got, want.String(), err)
		}
	})
}

func TestExpandWithoutValue(t *testing.T) {
	for text, want := range map[string]string{
		"[[agents]]\nname = \"a\"\ndir = " +
			"\"x/{{.WorkDir}}\"\n": "city.toml:3:7: agents.dir: uses {{.WorkDir}}, which " +
			"has no value yet at this point",
		"[workspace]\nsession_template = \"{{.Agent}}{{.Session}}\"\n[[agents]]\n" +
			"name=\"a\"": "city.toml:2:20: workspace.session_template: uses {{.Session}}, which " +
			"has no value yet at this point",
	} {
		c, err := Parse("/srv/app", []byte(text))
		said := fmt.Sprint(err)
		if err == nil {
			said = c.Agents[0].Fault
		}
		if !strings.HasPrefix(said, want) {
			t.Error(said)
		}
	}
}
