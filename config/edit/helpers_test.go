package edit

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gcity/config"
	"gcity/internal/toml"
)

func folder(t testing.TB, text string) string {
	t.Helper()
	return folderOf(t, map[string]string{config.FileName: text})
}

func folderOf(t testing.TB, files map[string]string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		put(t, path, text)
	}
	return dir
}

func put(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func values(c *config.City) string {
	bare := *c
	bare.Revision, bare.Origins, bare.Warnings, bare.Sources = "", nil, nil, nil
	bare.Providers = slices.Clone(c.Providers)
	for i := range bare.Providers {
		bare.Providers[i].Origin, bare.Providers[i].Origins = config.Origin{}, nil
	}
	bare.Agents = slices.Clone(c.Agents)
	for i := range bare.Agents {
		a := &bare.Agents[i]
		a.Origin, a.Origins, a.Patches, a.Prompt = config.Origin{}, nil, nil, nil
	}
	bare.Rigs = slices.Clone(c.Rigs)
	for i := range bare.Rigs {
		bare.Rigs[i].Origin, bare.Rigs[i].Origins = config.Origin{}, nil
	}
	bare.Automations.Overrides = slices.Clone(c.Automations.Overrides)
	for i := range bare.Automations.Overrides {
		bare.Automations.Overrides[i].At, bare.Automations.Overrides[i].Places = toml.Place{}, nil
	}
	text, err := json.Marshal(bare)
	return fmt.Sprint(string(text), err)
}
