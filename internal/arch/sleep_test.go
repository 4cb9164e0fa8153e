package arch

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Tests sleep only in a testing/synctest bubble, or with a reason in a comment on the same line. Polling loops use
// internal/eventually.
func TestNoTestSleeps(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	err = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && p != root && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(p, "_test.go") || p == filepath.Join(root, "internal", "arch", "sleep_test.go") {
			return nil
		}
		text, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		read++
		for _, n := range sleeps(string(text)) {
			t.Errorf("%s:%d: the test sleeps: wait for the event itself, or poll with internal/eventually; if the sleep is not a wait, add a comment with its reason", p, n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if read < 10 {
		t.Error("too few tests were read; the walk is broken")
	}
}

func sleeps(text string) (lines []int) {
	if strings.Contains(text, `"testing/synctest"`) {
		return nil
	}
	n := 0
	for line := range strings.Lines(text) {
		n++
		before, after, found := strings.Cut(line, "time.Sleep(")
		loop := strings.HasPrefix(strings.TrimSpace(line), "for ") && strings.HasSuffix(before, "; ")
		if found && !strings.Contains(before, "//") && (loop || !strings.Contains(after, "// ")) {
			lines = append(lines, n)
		}
	}
	return lines
}

func TestSleepsAreFound(t *testing.T) {
	for text, want := range map[string][]int{
		"\ntime.Sleep(x)\n": {2}, "time.Sleep(x) // the moment\n": nil, "// not time.Sleep(x)\n": nil, "a\n\nb": nil,
		"\tfor !so(); time.Sleep(x) { // waits\n": {1}, "\"testing/synctest\"\ntime.Sleep(x)": nil,
	} {
		if got := sleeps(text); !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}
