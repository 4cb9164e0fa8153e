package sessiontest

import (
	"errors"
	"testing"
	"time"

	"gcity/session"
)

func listed(t *testing.T, p session.Provider) session.Status {
	t.Helper()
	all := list(t, p)
	if len(all) != 1 {
		t.Fatalf("%+v", all)
	}
	return all[0]
}

func drained(t *testing.T, h Harness, p session.Provider) (session.Marker, session.Drain) {
	t.Helper()
	m := optional[session.Marker](t, p, session.Marking)
	start(t, h, p, "a")
	d := session.Drain{Since: time.Unix(1_790_000_000, 0), By: "operator"}
	mark(t, m, d)
	return m, d
}

func mark(t *testing.T, m session.Marker, d session.Drain) {
	t.Helper()
	if err := session.SetDrain(t.Context(), m, "a", d); err != nil {
		t.Fatal(err)
	}
}

func drainIsListed(t *testing.T, h Harness) {
	p := h.New(t)
	m, d := drained(t, h, p)
	for _, d := range []session.Drain{
		d,
		{Since: d.Since, By: d.By, Acked: true},
		{},
		{Since: d.Since.Add(time.Hour), By: "pool"},
		{},
	} {
		mark(t, m, d)
		if got := listed(t, p).Drain; got != d {
			t.Errorf("got drain %+v, want %+v", got, d)
		}
	}
	mark(t, m, d)
	// the agent's tools read and set the marks directly
	if v, err := m.Meta(t.Context(), "a", "GC_DRAIN"); v != "1790000000" || err != nil {
		t.Errorf("GC_DRAIN: got %q, %v", v, err)
	}
	if err := m.SetMeta(t.Context(), "a", "GC_DRAIN_ACK", "1"); err != nil {
		t.Fatal(err)
	}
	if d.Acked = true; listed(t, p).Drain != d {
		t.Errorf("got drain %+v, want %+v", listed(t, p).Drain, d)
	}
}

func drainEndsWithSession(t *testing.T, h Harness) {
	p := h.New(t)
	m, d := drained(t, h, p)
	h.Crash(t, p, "a")
	if st := dead(t, p, "a"); st.Drain.On() {
		t.Errorf("drain of an ended session: got %+v", st.Drain)
	}
	if err := session.SetDrain(t.Context(), m, "a", d); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("SetDrain on an ended session: got %v", err)
	}
	if _, st := start(t, h, p, "a"); st.Drain.On() || listed(t, p).Drain.On() {
		t.Errorf("drain of the next session: got %+v", listed(t, p).Drain)
	}
}

func invalidDrainIsIgnored(t *testing.T, h Harness) {
	p := h.New(t)
	m, _ := drained(t, h, p)
	for _, v := range []string{"soon", "-1", "99999999999999999999", "1e9"} {
		if err := m.SetMeta(t.Context(), "a", session.DrainMark, v); err != nil {
			t.Fatal(err)
		}
		if st := listed(t, p); st.Drain.On() {
			t.Errorf("drain with the mark %q: got %+v", v, st.Drain)
		}
	}
}

func drainOutlivesProvider(t *testing.T, h Harness) {
	if h.Adopt == nil {
		t.Skip("this provider's sessions end with the provider")
	}
	p := h.New(t)
	_, d := drained(t, h, p)
	before := listed(t, p)
	next := h.Adopt(t, p)
	if st := listed(t, next); st.Drain != d || st.PID != before.PID || !st.Alive {
		t.Errorf("adopted session: got %+v, want %+v", st, before)
	}
	mark(t, next.(session.Marker), session.Drain{})
	if st := listed(t, h.Adopt(t, next)); st.Drain.On() || st.PID != before.PID {
		t.Errorf("session after the second adoption: got %+v", st)
	}
}
