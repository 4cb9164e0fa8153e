package api_test

import (
	"context"
	"iter"
	"log/slog"
	"strings"
	"testing"

	"gcity/api"
	"gcity/city"
	"gcity/city/citytest"
)

type broken struct{ *citytest.Fake }

func (f broken) Output(context.Context, string, int) (string, error) {
	panic("Output is not implemented")
}

func (f broken) Snapshots(context.Context) iter.Seq2[*city.Snapshot, error] {
	return func(func(*city.Snapshot, error) bool) { panic("Snapshots is not implemented") }
}

func (f broken) Attach(context.Context, string, city.Viewer) (city.Terminal, error) {
	return screen{}, nil
}

type screen struct{ city.Terminal }

func (screen) Read([]byte) (int, error) { panic("Read is not implemented") }

func (screen) Close() error { return nil }

// A panic in a handler fails only its own request. The log contains the reason.
func TestPanicFailsOneRequest(t *testing.T) {
	log := &logBuffer{}
	f := broken{town()}
	path, stop := serve(t, f, api.Options{Log: slog.New(slog.NewTextHandler(log, nil))})
	c := dial(t, path)
	if text, err := c.Output(t.Context(), citytest.Worker, 3); err == nil {
		t.Errorf("output: %q", text)
	}
	for s, err := range c.Snapshots(t.Context()) {
		if err == nil {
			t.Errorf("snapshot: %+v", s)
		}
	}
	term, err := c.Attach(t.Context(), citytest.Worker, city.Viewer{Cols: 80, Rows: 24})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := term.Read(make([]byte, 9)); err == nil {
		t.Errorf("read %d bytes", n)
	}
	if err := term.Close(); err != nil {
		t.Log(err) // the server has closed the connection
	}
	if s, err := c.Snapshot(t.Context()); err != nil || s.Name != "town" {
		t.Errorf("afterwards: %+v, %v", s, err)
	}
	stop()
	for _, what := range []string{"Output is not implemented", "Snapshots is not implemented", "Read is not implemented", "broken_test.go"} {
		if !strings.Contains(log.String(), what) {
			t.Errorf("want %q in the log:\n%s", what, log)
		}
	}
}
