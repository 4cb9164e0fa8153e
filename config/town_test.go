package config

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func exampleTown(tb testing.TB) string {
	tb.Helper()
	dir := filepath.Join(tb.TempDir(), "town")
	if err := os.CopyFS(dir, os.DirFS("../examples/town")); err != nil {
		tb.Fatal(err)
	}
	for i := range 11 {
		text := fmt.Sprintf("formula = \"recipe-%d\"\n[[steps]]\nid = \"one\"\ntitle = "+
			"\"first\"\n[[steps]]\nid = \"two\"\ntitle = \"then\"\nneeds = [\"one\"]\n", i)
		topology := []string{"hall", "yard"}[i%2]
		if err := os.WriteFile(filepath.Join(dir, "topologies", topology, "formulas",
			fmt.Sprintf("recipe-%d.formula.toml", i)), []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

// Every value of a composed city has an origin, and the key is at that place.
func TestEveryValueHasAnOrigin(t *testing.T) {
	dir := exampleTown(t)
	c, err := Load(dir)
	if err != nil || len(c.Warnings) > 0 {
		t.Fatal(err, c.Warnings)
	}
	place := regexp.MustCompile(`^(.+):(\d+):(\d+)$`)
	from := map[string]int{}
	for line := range strings.Lines(c.TOML()) {
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' || line[0] == '[' {
			continue
		}
		key, _, _ := strings.Cut(line, " = ")
		at := strings.LastIndex(line, "  # ")
		if at < 0 {
			t.Errorf("no origin: %s", line)
			continue
		}
		origin := line[at+len("  # "):]
		if origin == "default" || origin == "derived from the name" {
			from["default"]++
			continue
		}
		part := place.FindStringSubmatch(origin)
		if part == nil {
			t.Errorf("origin of %s: got %q", key, origin)
			continue
		}
		from[part[1]]++
		if key == "dir" { // a topology's agent gets its rig from the rig's topology
			key = "topology"
		}
		if got := lineOf(t, filepath.Join(dir, part[1]), part[2]); !strings.Contains(got,
			key[strings.LastIndexByte(key, '.')+1:]) {
			t.Errorf("origin of %s: got %s, which contains %q", key, origin, got)
		}
	}
	for _, file := range []string{"default", "city.toml", "rigs.toml",
		"topologies/hall/topology.toml", "topologies/yard/topology.toml"} {
		if from[file] < 3 {
			t.Errorf("got %d values from %s", from[file], file)
		}
	}
	for i := range c.Agents {
		if text, err := c.Explain(c.Agents[i].Qualified()); err != nil ||
			!strings.Contains(text, "derived values") {
			t.Errorf("explain %s: got %v\n%s", c.Agents[i].Qualified(), err, text)
		}
	}
	if got := named(c, "mill/joiner").Description; !strings.HasPrefix(got, "assembles what the mill's") {
		t.Errorf("description after the patch: got %q", got)
	}
	if mill, ferry := named(c, "mill/hand").Pool.Max, named(c, "ferry/hand").Pool.Max; mill != 3 ||
		ferry != 1 {
		t.Errorf("effects of the override: got %d and %d", mill, ferry)
	}
}

func lineOf(t *testing.T, path, number string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
		return ""
	}
	n, err := strconv.Atoi(number)
	lines := strings.Split(string(text), "\n")
	if err != nil || n < 1 || n > len(lines) {
		t.Errorf("want line %[2]s in %[1]s", path, number)
		return ""
	}
	return lines[n-1]
}

func BenchmarkTown(b *testing.B) {
	dir := exampleTown(b)
	for b.Loop() {
		if _, err := Load(dir); err != nil {
			b.Fatal(err)
		}
	}
}

func named(c *City, name string) *Agent {
	return &c.Agents[slices.IndexFunc(c.Agents, func(a Agent) bool {
		return a.Qualified() == name
	})]
}
