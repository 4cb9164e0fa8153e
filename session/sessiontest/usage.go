package sessiontest

import (
	"testing"
	"time"

	"gcity/session"
)

func usage(t *testing.T, h Harness) {
	p := h.New(t)
	m := optional[session.Meter](t, p, session.Measuring)
	measure := func() map[string]session.Usage {
		t.Helper()
		all, err := m.Usage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	if all := measure(); len(all) != 0 {
		t.Errorf("usage without sessions: got %+v", all)
	}
	start(t, h, p, "busy")
	start(t, h, p, "idle")
	start(t, h, p, "gone")
	if all := measure(); len(all) != 3 {
		t.Errorf("usage of three sessions: got %+v", all)
	}
	h.Crash(t, p, "gone")
	dead(t, p, "gone")
	idle := measure()["idle"]
	h.Work(t, p, "busy")
	wait(t, "the usage of a child process", func() bool {
		busy := measure()["busy"]
		return busy.CPU >= 100*time.Millisecond && busy.RSS > 0 && busy.Procs == idle.Procs+1
	})
	all := measure()
	if _, ok := all["gone"]; ok || len(all) != 2 {
		t.Errorf("usage of two sessions: got %+v", all)
	}
	if now := all["idle"]; now.Procs != idle.Procs || now.CPU > idle.CPU+50*time.Millisecond {
		t.Errorf("usage of the idle session: had %+v, got %+v", idle, now)
	}
}
