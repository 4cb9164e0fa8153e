package arch

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The files and functions that ARCHITECTURE.md names exist.
func TestWalksNameFunctions(t *testing.T) {
	page, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, walks, found := strings.Cut(string(page), "\n## Walks\n")
	if !found {
		t.Fatal("ARCHITECTURE.md has no walks")
	}
	walks, _, _ = strings.Cut(walks, "\n## ")
	calls := regexp.MustCompile("`([a-z/_]+\\.go)`:\\s+`([A-Za-z]+)`").FindAllStringSubmatch(walks, -1)
	if len(calls) < 10 {
		t.Errorf("found only %d functions in the walks", len(calls))
	}
	for _, c := range calls {
		code, err := os.ReadFile(filepath.Join("../..", c[1]))
		if err != nil {
			t.Error(err)
			continue
		}
		if !regexp.MustCompile(`(?m)^func (\([^)]*\) )?` + c[2] + `[\[(]`).Match(code) {
			t.Errorf("%s has no function %s", c[1], c[2])
		}
	}
	for _, name := range filesNamed(string(page)) {
		if _, err := os.Stat(filepath.Join("../..", name)); err != nil {
			t.Error(err)
		}
	}
}

// The section "A crash" in ARCHITECTURE.md follows a crash through at most eight files.
func TestTheWalkOfACrashIsShort(t *testing.T) {
	page, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, walk, found := strings.Cut(string(page), "\n### A crash")
	walk, _, ends := strings.Cut(walk, "\nLater inputs")
	if !found || !ends {
		t.Fatal("ARCHITECTURE.md has no walk of a crash")
	}
	entered, returns, last := map[string]bool{}, 0, ""
	for _, step := range regexp.MustCompile("`([a-z/_]+\\.go)`").FindAllStringSubmatch(walk, -1) {
		if file := step[1]; file != last {
			if last = file; entered[file] {
				returns++
			}
			entered[file] = true
		}
	}
	if len(entered) < 5 || len(entered) > 8 || returns > 8 {
		t.Errorf("the walk enters %d files and returns to files %d times; at most 8 of each are "+
			"allowed",
			len(entered), returns)
	}
}
