package config

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gcity/internal/toml"
)

var update = flag.Bool("update", false, "rewrite testdata and docs/config.md")

// The configurations in testdata/problems.txt produce exactly the recorded problems. Invisible characters are written
// as «CR», «NUL» and «BOM».
func TestProblems(t *testing.T) {
	const path = "testdata/problems.txt"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, cases, _ := strings.Cut(string(data), "=== ")
	invisible := strings.NewReplacer("«CR»", "\r", "«NUL»", "\x00", "«BOM»", "\ufeff")
	out := head
	for story := range strings.SplitSeq(cases, "=== ") {
		name, rest, _ := strings.Cut(story, "\n")
		text, want, ok := strings.Cut(rest, "---\n")
		if !ok && !*update {
			t.Fatalf("%s: no line ---", name)
		}
		got := said(invisible.Replace(text))
		if !*update && got != want {
			t.Errorf("%s\n got:\n%s\nwant:\n%s", name, got, want)
		}
		out += "=== " + name + "\n" + text + "---\n" + got
	}
	if *update {
		if err := os.WriteFile(path, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func said(text string) string {
	var out strings.Builder
	c, err := Parse("/srv/app", []byte(text))
	var e *Error
	switch {
	case errors.As(err, &e):
		out.WriteString(e.Error() + "\n")
	case err != nil:
		out.WriteString("not an *Error: " + err.Error() + "\n")
	default:
		out.WriteString("ok\n")
		for _, w := range c.Warnings {
			out.WriteString("warning: " + w.String() + "\n")
		}
	}
	return out.String()
}

func folder(t testing.TB, text string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, FileName), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

func folderOf(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := folder(t, "")
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func values(c *City) string {
	bare := *c
	bare.Revision, bare.Origins, bare.Warnings, bare.Sources, bare.Include, bare.patches.agents,
		bare.overrides = "", nil, nil, nil, nil, nil, nil
	bare.patches.providers, bare.Providers = nil, printer{City: c}.mergedTables()
	for i := range bare.Providers {
		bare.Providers[i].Origin, bare.Providers[i].Origins = Origin{}, nil
	}
	bare.topologyPrompts, bare.Remotes, bare.patches.rigs = nil, nil, nil
	bare.cityTopologies, bare.topologyDirs, bare.packs = nil, nil, nil
	w := &bare.Workspace
	w.Topology, w.Topologies, w.Includes = "", nil, nil
	bare.Agents = slices.Clone(c.Agents)
	var pools []Pool
	for i := range bare.Agents {
		if p := bare.Agents[i].Pool; p != nil {
			pools = append(pools, *p)
		}
		bare.Agents[i].Origin, bare.Agents[i].Origins, bare.Agents[i].Pool, bare.Agents[i].Topology,
			bare.Agents[i].Patches = Origin{}, nil, nil, "", nil
	}
	bare.Rigs = slices.Clone(c.Rigs)
	for i := range bare.Rigs {
		r := &bare.Rigs[i]
		r.Origin, r.Origins, r.Topology, r.Topologies, r.Includes, r.overrides,
			r.packs = Origin{}, nil, "", nil, nil, nil, nil
	}
	bare.Automations.Overrides = slices.Clone(c.Automations.Overrides)
	for i := range bare.Automations.Overrides {
		bare.Automations.Overrides[i].At, bare.Automations.Overrides[i].Places = toml.Place{}, nil
	}
	overrides, err := json.Marshal(bare.Automations.Overrides)
	bare.Automations.Overrides = nil
	return fmt.Sprintf("%+v %+v %s %v", bare, pools, overrides, err)
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
