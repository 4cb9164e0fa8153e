package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The files and folders that docs/changing.md names exist.
func TestChangingNamesFiles(t *testing.T) {
	page, err := os.ReadFile("../../docs/changing.md")
	if err != nil {
		t.Fatal(err)
	}
	step := regexp.MustCompile(`(?m)^\d+\. `)
	recipes := strings.Split(string(page), "\n## ")[1:]
	if len(recipes) != 5 {
		t.Errorf("got %d recipes, want 5", len(recipes))
	}
	for _, recipe := range recipes {
		title, _, _ := strings.Cut(recipe, "\n")
		named := filesNamed(recipe)
		if steps := len(step.FindAllString(recipe, -1)); title == "A verb" && steps > 4 {
			t.Errorf("%s: has %d steps, want at most 4", title, steps)
		}
		if len(named) == 0 {
			t.Errorf("%s: the recipe names no file", title)
		}
		for _, name := range named {
			if _, err := os.Stat(filepath.Join("../..", name)); err != nil {
				t.Errorf("docs/changing.md, %s: %v", title, err)
			}
		}
	}
}

func filesNamed(text string) (paths []string) {
	for _, m := range regexp.MustCompile("`([a-z][a-zA-Z0-9_./-]*)`").FindAllStringSubmatch(text, -1) {
		if strings.Contains(m[1], "/") {
			paths = append(paths, m[1])
		}
	}
	return paths
}

func TestFilesNamed(t *testing.T) {
	got := strings.Join(filesNamed("`a/b.go` and `go test ./x`, `city.Snapshot`, `c/d`, e/f"), " ")
	if got != "a/b.go c/d" {
		t.Error(got)
	}
}
