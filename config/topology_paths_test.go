package config

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A fetched topology may refer only to files in its own repository. The city's own files may use any path.
func TestFetchedTopologiesStayInside(t *testing.T) {
	t.Parallel()
	const agent = "[topology]\nname = \"x\"\nschema = 1\n%EXTRA%\n[[agents]]\nname = \"a\"\n" +
		"start_command = \"x\"\n%KEY%\n"
	write := func(city, key, patch string) {
		t.Helper()
		extra := ""
		if strings.HasPrefix(key, "!") {
			extra, key = key[1:], ""
		}
		text := strings.NewReplacer("%EXTRA%", extra, "%KEY%", key).Replace(agent)
		for path, text := range map[string]string{
			".gc/topologies/far/pack/topology.toml": text,
			".gc/topologies/far/base/topology.toml": "[topology]\nname = \"base\"\nschema = 1\n",
			".gc/topologies/far/prompts/a.md":       "x",
			".gc/topologies/far/pack/scripts/s.sh":  "x",
			".gc/topologies/far/formulas/.keep":     "",
			".gc/topologies/far/overlay/x":          "x",
			".gc/topologies/far/.git/HEAD":          strings.Repeat("a", 40) + "\n",
			".gc/topologies/other/prompts/a.md":     "x",
			"prompts/a.md":                          "x",
			"topologies.lock": "[topologies.far]\nsource = \"/r\"\n" +
				"commit = \"" + strings.Repeat("a", 40) + "\"\n",
			"city.toml": "[workspace]\nname = \"t\"\ntopology = \"far\"\n[topologies.far]\n" +
				"source = \"/r\"\npath = \"pack\"\n" + patch,
		} {
			path = filepath.Join(city, path)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	for key, refused := range map[string]bool{
		`prompt_template = "../prompts/a.md"`: false, `overlay_dir = "../overlay"`: false,
		`session_setup_script = "scripts/s.sh"`: false,
		// as in any topology, formulas must be below the topology's own folder
		"!includes = [\"../base\"]": false, "![formulas]\ndir = \"../formulas\"": true,
		`prompt_template = "/etc/passwd"`: true, `prompt_template = "//prompts/a.md"`: true,
		`prompt_template = "../../../../prompts/a.md"`: true,
		`prompt_template = "../../other/prompts/a.md"`: true, `overlay_dir = "/etc"`: true,
		`overlay_dir = "../../../../prompts"`:         true,
		`session_setup_script = "//x.sh"`:             true,
		`session_setup_script = "{{.CityRoot}}/x.sh"`: true,
		`session_setup_script = "/bin/true"`:          true,
		"!includes = [\"//prompts\"]":                 true, "!includes = [\"../../other\"]": true,
		"![formulas]\ndir = \"//prompts\"": true,
	} {
		city := t.TempDir()
		write(city, key, "")
		_, err := Load(city)
		switch {
		case !refused && err != nil:
			t.Errorf("path %s was rejected: %v", key, err)
		case refused && (err == nil || !strings.Contains(err.Error(),
			"outside the repository of the topology \"far\"") &&
			!strings.Contains(key, "../formulas")):
			t.Errorf("%s: %v", key, err)
		}
	}
	city := t.TempDir()
	write(city, `prompt_template = "/etc/passwd"`, "[[patches.agents]]\nname = \"a\"\n"+
		"prompt_template = \"prompts/a.md\"\n")
	c, err := Load(city)
	if err != nil || c.Agents[0].PromptTemplate != filepath.Join(c.Path, "prompts", "a.md") {
		t.Errorf("a prompt in the city's folder: got %v", err)
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(city, ".gc", "topologies", "far",
		"link")); err != nil {
		t.Fatal(err)
	}
	if _, err := Load(city); err == nil || !strings.Contains(err.Error(),
		"a link to a path outside the topology: link -> /etc/passwd") {
		t.Errorf("a link out of the repository: got %v", err)
	}
}

// A folder and a symbolic link to it are one topology.
func TestLinkToTopology(t *testing.T) {
	t.Parallel()
	city := t.TempDir()
	for path, text := range map[string]string{
		"base/topology.toml": "[topology]\nname = \"base\"\nschema = 1\n[[agents]]\nname = \"a\"\n" +
			"start_command = \"x\"\n",
		"top/topology.toml": "[topology]\nname = \"top\"\nschema = 1\nincludes = [\"../link\"]\n",
		"city.toml":         "[workspace]\nname = \"t\"\ntopologies = [\"base\", \"top\"]\n",
	} {
		path = filepath.Join(city, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(city, "link")
	if err := os.Symlink("base", link); err != nil {
		t.Fatal(err)
	}
	c, err := Load(city)
	if err != nil || len(c.Agents) != 1 {
		t.Fatalf("%v: %d agents", err, len(c.Agents))
	}
	watched := filepath.Join(c.Path, "link", TopologyFile)
	if !slices.Contains(c.Sources, watched) {
		t.Errorf("%s is not watched: %q", watched, c.Sources)
	}
}
