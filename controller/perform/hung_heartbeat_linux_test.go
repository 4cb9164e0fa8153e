package perform

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gcity/controller/effect"
	"gcity/internal/hungfs"
)

// A heartbeat file in a folder that does not respond blocks nothing and is reported. At most one read of the file
// hangs at a time.
func TestAHeartbeatThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	if !hungfs.InNamespace(t) {
		return
	}
	hung, _, _ := hungfs.Mount(t, false)
	w, _ := workBench(t)
	f := effect.ReadHeartbeat{Tier: "care", Path: filepath.Join(hung, "beats", "worker.json")}
	for range 2 {
		in := soon(t, "a look", func() effect.HeartbeatRead {
			return w.r.heartbeat(t.Context(), f).(effect.HeartbeatRead)
		})
		if !strings.HasSuffix(in.Problem, "does not respond") || in.Stamp != (time.Time{}) {
			t.Errorf("%+v", in)
		}
	}
	if n := w.r.looks.Pending(); n != 1 {
		t.Errorf("%d looks hang", n)
	}
}
