package automation

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gcity/formula"
	"gcity/internal/eventually"
	"gcity/internal/hungfs"
)

// A layer that does not respond is reported, keeps its known automations, and does not block other layers. It is read
// again when it responds.
func TestUnresponsiveLayer(t *testing.T) {
	if !hungfs.InNamespace(t) {
		return
	}
	w := newTown(t, "city", "demo/own")
	w.write("city", "a", byHand("one"))
	w.write("demo/own", "b", byHand("two"))
	hung, _, free := hungfs.Mount(t, false)
	w.o.Patience = 100 * time.Millisecond
	never := formula.Layer{Dir: filepath.Join(hung, "formulas"), Title: "rig hung", Rig: "hung"}
	w.layers = []formula.Layer{w.layers[0], never, w.layers[1]}
	const both = "a manual \"one\"\nb:rig:demo manual \"two\"\n"
	told := "problem: " + filepath.Join(never.Dir, Folder) + ": cannot read automations (rig " +
		"hung): the folder does not respond; the automations that were read earlier stay in use\n"
	first := w.scan()
	w.want(first, both+told)
	for scoped, want := range map[string]bool{"c:rig:hung": true, "c": false, "c:rig:demo": false} {
		if first.mayContain(scoped) != want {
			t.Errorf("%s can still exist: got %v, want %v", scoped, !want, want)
		}
	}
	w.write("city", "a", byHand("new"))
	again := w.scan() // does not wait a second time
	w.want(again, strings.Replace(both, "one", "new", 1)+told)
	if n := w.s.reading.Pending(); n != 1 {
		t.Errorf("got %d reads in progress, want 1", n)
	}
	free()
	eventually.True(t, "the layer is read again once it responds", func() bool {
		return !strings.Contains(w.show(w.scan()), "does not respond")
	})
}
