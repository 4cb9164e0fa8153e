package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

// Any topology file produces a valid city or problems with positions. The printed configuration can be loaded again.
func FuzzTopology(f *testing.F) {
	stories, err := os.ReadFile("testdata/compose.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range txtar.Parse(stories).Files {
		if base := filepath.Base(file.Name); base == TopologyFile || base == PackFile {
			f.Add(file.Data)
		}
	}
	f.Add([]byte(basePack))
	const city = "[workspace]\nname = \"app\"\ntopologies = [\"p\", \"q\"]\n[[rigs]]\nname = " +
		"\"r\"\npath = \"/usr\"\ntopology = \"p\"\n[[rigs]]\nname = \"s\"\npath = \"/etc\"\n" +
		"topologies = [\"q\"]\n"
	const other = "[pack]\nname = \"q\"\nschema = 1\nincludes = [\"../p\"]\n[[agents]]\n" +
		"name = \"q\"\n"
	f.Fuzz(func(t *testing.T, data []byte) {
		dir := folderOf(t, map[string]string{FileName: city, "p/topology.toml": string(data),
			"q/pack.toml": other})
		c, err := Load(dir)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || len(e.Problems) == 0 {
				t.Fatalf("no *Error: %v", err)
			}
			lines := strings.Split(string(data), "\n")
			for _, p := range e.Problems {
				if p.File == "p/topology.toml" &&
					(p.Line < 0 || p.Line > len(lines) || p.Line > 0 &&
						(p.Column < 1 || p.Column > len(lines[p.Line-1])+1)) {
					t.Fatalf("the position %s is outside the file", p)
				}
			}
			return
		}
		names := map[string]bool{}
		for i := range c.Agents {
			a := &c.Agents[i]
			if names[a.Qualified()] || a.Topology == "" || a.Origin.Line == 0 {
				t.Fatalf("%+v", a)
			}
			names[a.Qualified()] = true
		}
		text := strings.ReplaceAll(c.TOML(), "ConfigDir", "CityRoot")
		again, err := Parse(dir, []byte(text))
		if err != nil {
			t.Fatalf("the output of TOML cannot be loaded: %v\n%s", err, text)
		}
		if len(again.Agents) != len(c.Agents) {
			t.Fatalf("the output of TOML has other values\n%s", text)
		}
	})
}

func composedCity(tb testing.TB, rigs, each int) string {
	files := map[string]string{}
	var root, more strings.Builder
	root.WriteString("include = [\"more.toml\"]\n[workspace]\nname = \"app\"\ntopologies = " +
		"[\"packs/one\", \"packs/two\"]\n")
	for i := range rigs {
		fmt.Fprintf(&more, "[[rigs]]\nname = \"rig%d\"\npath = \"rigs/%d\"\nprefix = \"r%d\"\n"+
			"topologies = [\"packs/one\", \"packs/two\"]\n"+
			"[[rigs.overrides]]\nname = \"one-0\"\nsuspended = true\n", i, i, i)
		fmt.Fprintf(&root, "[[patches.agents]]\ndir = \"rig%d\"\nname = \"two-0\"\n"+
			"suspended = true\n", i)
		files[fmt.Sprintf("rigs/%d/x", i)] = ""
	}
	for _, name := range []string{"one", "two"} {
		var b strings.Builder
		fmt.Fprintf(&b, "[topology]\nname = %q\nschema = 1\ncity_agents = [\"%s-chief\"]\n"+
			"[[agents]]\nname = \"%s-chief\"\n", name, name, name)
		for i := range each {
			fmt.Fprintf(&b, "[[agents]]\nname = \"%s-%d\"\nstart_command = \"exec sh\"\n"+
				"session_setup_script = \"setup.sh\"\nenv = { A = \"1\" }\n", name, i)
			if i == 1 {
				fmt.Fprintf(&b, "depends_on = [\"%s-0\"]\n[agents.pool]\nmin = 1\nmax = 3\n", name)
			}
		}
		files["packs/"+name+"/topology.toml"], files["packs/"+name+"/setup.sh"] = b.String(),
			"true\n"
		for i := range 6 {
			files[fmt.Sprintf("packs/%s/formulas/%d.formula.toml", name, i)] =
				strings.Repeat("# a recipe\n", 40)
		}
	}
	files[FileName], files["more.toml"] = root.String(), more.String()
	return folderOf(tb, files)
}

func benchComposed(b *testing.B, rigs, each int) {
	dir := composedCity(b, rigs, each)
	for b.Loop() {
		c, err := Load(dir)
		if err != nil {
			b.Fatal(err)
		}
		if len(c.Agents) != 2+2*rigs*each || !slices.ContainsFunc(c.Agents,
			func(a Agent) bool { return a.Suspended }) {
			b.Fatal(len(c.Agents))
		}
	}
}

func BenchmarkCompose(b *testing.B)      { benchComposed(b, 4, 6) }
func BenchmarkCompose10000(b *testing.B) { benchComposed(b, 99, 48) }

func BenchmarkComposeRevision(b *testing.B) {
	dir := composedCity(b, 4, 6)
	for b.Loop() {
		if _, err := (Source{Dir: dir}).Revision(); err != nil {
			b.Fatal(err)
		}
	}
}
