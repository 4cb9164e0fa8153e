package controller

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gcity/internal/mute"
)

// A heartbeat on a folder that does not answer keeps nobody waiting, is told, and is looked for by one look at a time.
func TestAHeartbeatThatDoesNotAnswer(t *testing.T) {
	if !mute.Apart(t) {
		return
	}
	hung, _, _ := mute.Folder(t, false)
	w, _ := workTown(t)
	f := fxHeartbeat{tier: "care", path: filepath.Join(hung, "beats", "worker.json")}
	for range 2 {
		in := soon(t, "a look", func() inHeartbeat { return w.runner.heartbeat(t.Context(), f).(inHeartbeat) })
		if !strings.HasSuffix(in.problem, "does not answer") || in.stamp != (time.Time{}) {
			t.Errorf("%+v", in)
		}
	}
	if n := w.runner.shop.looks.Under(); n != 1 {
		t.Errorf("%d looks hang", n)
	}
}
