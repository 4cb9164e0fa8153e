package arch

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each test and script that docs/security.md names exists.
func TestSecurityPageNamesTests(t *testing.T) {
	const root = "../.."
	page, err := os.ReadFile(filepath.Join(root, "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	var code strings.Builder
	scripts := map[string]bool{}
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case strings.HasSuffix(path, ".txtar"):
			scripts[e.Name()] = true
		case strings.HasSuffix(path, "_test.go"):
			data, err := os.ReadFile(path)
			code.Write(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9]+)[`:]").FindAllStringSubmatch(string(page), -1)
	for _, m := range named {
		if !strings.Contains(code.String(), "func "+m[1]+"(") {
			t.Errorf("docs/security.md names the test %s, which does not exist", m[1])
		}
	}
	for _, m := range regexp.MustCompile(`([a-z_]+\.txtar)`).FindAllString(string(page), -1) {
		if !scripts[m] {
			t.Errorf("docs/security.md names the script %s, which does not exist", m)
		}
	}
	if len(named) < 20 {
		t.Errorf("found only %d tests in docs/security.md", len(named))
	}
}
