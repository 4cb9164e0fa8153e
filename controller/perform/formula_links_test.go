package perform

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gcity/agent"
	"gcity/controller/effect"
	"gcity/formula"
)

// A rig's folder gets links to the formulas of the city and to its own formulas, which take precedence. Unusable
// rigs are skipped. A failure for one rig does not affect other rigs.
func TestFormulasOfRigsAreLinked(t *testing.T) {
	w, _ := workBench(t)
	rig, bare, gone, blocked := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "gone"),
		t.TempDir()
	ours, theirs := filepath.Join(w.dir, "ours"), filepath.Join(rig, "theirs")
	for _, path := range []string{filepath.Join(ours, "a"), filepath.Join(ours, "b"),
		filepath.Join(theirs, "b"), filepath.Join(theirs, "c")} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
			os.WriteFile(path+formula.Suffix, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(blocked, ".beads"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	f := effect.Scan{
		Layers: []formula.Layer{{Dir: ours, Title: "city"},
			{Dir: theirs, Title: "rig r", Rig: "r"}},
		Rigs: []agent.Rig{{Name: "x", Path: blocked}, {Name: "r", Path: rig},
			{Name: "bare", Path: bare}, {Name: "gone", Path: gone, Problem: "is not there"}},
	}
	for range 2 {
		in := w.r.automations.scan(t.Context(), f).(effect.Scanned)
		if !strings.HasPrefix(in.Trouble, "cannot link the formulas of rig x: ") ||
			strings.Count(in.Trouble, "cannot link") != 1 {
			t.Errorf("trouble: %q", in.Trouble)
		}
	}
	links := func(dir string) string {
		var out []string
		names, err := filepath.Glob(filepath.Join(dir, ".beads", "formulas", "?"+formula.Suffix))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			target, err := os.Readlink(name)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, strings.TrimSuffix(filepath.Base(name), formula.Suffix)+" "+
				filepath.Base(filepath.Dir(target)))
		}
		return strings.Join(out, ", ")
	}
	for dir, want := range map[string]string{w.dir: "a ours, b ours", bare: "a ours, b ours",
		rig: "a ours, b theirs, c theirs", gone: ""} {
		if got := links(dir); got != want {
			t.Errorf("%s: %s, want %s", dir, got, want)
		}
	}
	if _, err := os.Stat(gone); err == nil {
		t.Error("the folder of a rig that is gone was made")
	}
}
