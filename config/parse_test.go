package config

import (
	"errors"
	"fmt"
	"gcity/config/keys"
	"os"
	"strings"
	"testing"
)

// Any input produces a valid city or problems with positions. The printed configuration can be loaded again.
func FuzzParse(f *testing.F) {
	stories, err := os.ReadFile("testdata/problems.txt")
	if err != nil {
		f.Fatal(err)
	}
	for story := range strings.SplitSeq(string(stories), "=== ") {
		_, rest, _ := strings.Cut(story, "\n")
		text, _, _ := strings.Cut(rest, "---\n")
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("/srv/app", data)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || len(e.Problems) == 0 {
				t.Fatalf("no *Error: %v", err)
			}
			lines := strings.Split(string(data), "\n")
			for _, p := range e.Problems {
				if p.File != FileName {
					continue
				}
				if p.Line < 0 || p.Line > len(lines) || p.Line > 0 &&
					(p.Column < 1 || p.Column > len(lines[p.Line-1])+1) {
					t.Fatalf("the position %s is outside the file", p)
				}
			}
			return
		}
		names := map[string]bool{}
		for i := range c.Agents {
			for m := range c.Agents[i].Spec().Max {
				a := c.Member(&c.Agents[i], m+1)
				if keys.CheckName(a.Name[:min(len(a.Name), keys.MaxName)]) != "" ||
					names[a.SessionName] ||
					a.SessionName == "" || names["agent "+a.Qualified()] {
					t.Fatalf("agent %q, session %q", a.Name, a.SessionName)
				}
				names[a.SessionName], names["agent "+a.Qualified()] = true, true
			}
		}
		again, err := Parse("/srv/app", []byte(c.TOML()))
		if err != nil {
			t.Fatalf("the output of TOML cannot be loaded: %v\n%s", err, c.TOML())
		}
		for i := range min(len(c.Agents), len(again.Agents)) {
			c.Agents[i].Fault, again.Agents[i].Fault = "", ""
		}
		if was, is := values(c), values(again); was != is && !strings.Contains(c.TOML(), `"***"`) {
			t.Fatalf("the output of TOML has other values\n%s\n%s", was, is)
		}
	})
}

func BenchmarkLoad500(b *testing.B) {
	dir := folder(b, benchCity(500))
	for b.Loop() {
		if _, err := Load(dir); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRevision500(b *testing.B) {
	dir := folder(b, benchCity(500))
	for b.Loop() {
		if _, err := (Source{Dir: dir}).Revision(); err != nil {
			b.Fatal(err)
		}
	}
}

func benchCity(n int) string {
	var b strings.Builder
	b.WriteString("[workspace]\nname = \"app\"\n[daemon]\npatrol_interval = \"10s\"\n")
	for i := range n {
		fmt.Fprintf(&b, "\n[[agents]]\nname = \"worker-%d\" # one of many\ndir = "+
			"\"work/{{.Agent}}\"\ndescription = \"does things\"\n"+
			"start_command = \"exec sh -i\"\nenv = { A = \"1\", B = \"$HOME/x\" }\npre_start = "+
			"[\"mkdir -p {{.WorkDir}}/tmp\"]\n", i)
	}
	return b.String()
}
