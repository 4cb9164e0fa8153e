package config

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
)

func TestComposeStories(t *testing.T) {
	const path = "testdata/compose.txt"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	out, stories, _ := strings.Cut(string(data), "=== ")
	for story := range strings.SplitSeq(stories, "=== ") {
		name, text, _ := strings.Cut(story, "\n")
		text, want, _ := strings.Cut(text, "-- want --\n")
		got := saidOf(t, txtar.Parse([]byte(text)))
		if !*update && got != want {
			t.Errorf("%s\n got:\n%s\nwant:\n%s", name, got, want)
		}
		out += "=== " + name + "\n" + text + "-- want --\n" + got
	}
	if *update {
		if err := os.WriteFile(path, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// saidOf returns all problems of a city. Its folder is shown as DIR.
func saidOf(t *testing.T, files *txtar.Archive) string {
	t.Helper()
	all := map[string]string{}
	for _, f := range files.Files {
		all[f.Name] = string(f.Data)
	}
	dir := filepath.Join(folderOf(t, nil), "app")
	for name, text := range all {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		put(t, path, text)
	}
	c, err := Source{Dir: dir, Strict: strings.Contains(string(files.Comment), "strict")}.Load()
	var e *Error
	var out strings.Builder
	switch {
	case errors.As(err, &e):
		out.WriteString(e.Error() + "\n")
	case err != nil:
		out.WriteString("not an *Error: " + err.Error() + "\n")
	default:
		out.WriteString("ok: " + strings.Join(agentsOf(c), ", ") + "\n")
		for _, w := range c.Warnings {
			out.WriteString("warning: " + w.String() + "\n")
		}
	}
	return strings.NewReplacer(dir, "DIR", filepath.Dir(dir), "UP").Replace(out.String())
}
