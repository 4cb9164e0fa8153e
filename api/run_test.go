package api_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"strings"
	"testing"

	"gcity/api"
	"gcity/beads"
	"gcity/city"
	"gcity/city/citytest"
)

type outputCity struct {
	*citytest.Fake
	script func(ctx context.Context, yield func(city.Piece, error) bool)
}

func (p *outputCity) RunOutput(ctx context.Context, _ string) iter.Seq2[city.Piece, error] {
	return func(yield func(city.Piece, error) bool) { p.script(ctx, yield) }
}

func withRuns() *citytest.Fake {
	f := citytest.NewFake("town")
	f.Set(func(s *city.Snapshot) {
		s.Automations = []city.Automation{{Name: citytest.Chore}, {Name: citytest.Wreck}}
	})
	return f
}

func aRun(t *testing.T, f *citytest.Fake, of string) string {
	t.Helper()
	b, err := f.Store().Create(t.Context(), beads.Bead{Title: "run", Type: city.RunType, Labels: []string{city.RunLabel + of}})
	if err != nil {
		t.Fatal(err)
	}
	return b.ID
}

// A reader that stalls is not disconnected. It misses some output, and the stream reports how much.
func TestSlowRunReader(t *testing.T) {
	f := withRuns()
	const n, size = 3000, 1000
	line := strings.Repeat("x", size-1) + "\n"
	begun, sent := make(chan struct{}), make(chan struct{})
	path, _ := serve(t, &outputCity{f, func(_ context.Context, yield func(city.Piece, error) bool) {
		defer close(sent)
		yield(city.Piece{Text: "begun"}, nil)
		<-begun // without this, the client could miss the first piece
		for range n {
			if !yield(city.Piece{Text: line}, nil) {
				return
			}
		}
	}}, api.Options{WriteTimeout: patience})
	c := dial(t, path)
	var text strings.Builder
	missed := int64(0)
	for p, err := range c.RunOutput(t.Context(), aRun(t, f, citytest.Chore)) {
		if err != nil {
			t.Fatal(err)
		}
		if text.Len() == 0 {
			close(begun)
			<-sent
		}
		text.WriteString(p.Text)
		missed += p.Dropped
	}
	rest, ok := strings.CutPrefix(text.String(), "begun")
	rest = strings.TrimPrefix(rest, "\n")
	if !ok || missed == 0 || missed+int64(len(rest)) != n*size || strings.Trim(rest, "x\n") != "" || strings.Count(rest, line) != len(rest)/size {
		t.Errorf("got %d bytes missed, %d received: %.20q", missed, len(rest), rest)
	}
}

func TestRunStreamEnds(t *testing.T) {
	f := withRuns()
	id, other := aRun(t, f, citytest.Chore), aRun(t, f, citytest.Wreck)
	began := make(chan struct{}, 10)
	path, stop := serve(t, &outputCity{f, func(ctx context.Context, yield func(city.Piece, error) bool) {
		yield(city.Piece{Text: "a"}, nil)
		began <- struct{}{}
		<-ctx.Done()
	}}, api.Options{})
	curl := curl(t, path)
	for at, want := range map[string]int{
		"chore/run/" + other: http.StatusNotFound, "chore/run/tw-none": http.StatusNotFound, "nothing/run/" + id: http.StatusNotFound,
	} {
		resp, err := curl.Get("http://city/v0/automation/" + at + "/stream")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("%s: %s", at, resp.Status)
		}
	}
	c := dial(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for p, err := range c.RunOutput(ctx, id) {
		if err != nil || p.Text != "a" {
			t.Errorf("%+v, %v", p, err)
		}
		cancel() // a cancellation is not an error
	}
	<-began
	resp, err := curl.Get("http://city/v0/city/town/automation/chore/run/" + id + "/stream")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	<-began
	var broken error
	for _, err := range c.RunOutput(t.Context(), id) {
		if err != nil {
			broken = err
			break
		}
		go stop()
	}
	if e, ok := errors.AsType[*city.Error](broken); !ok || e.Code != city.Unavailable {
		t.Errorf("after the controller's exit: got %v", broken)
	}
	all, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(all), "event: piece\ndata: {\"text\":\"a\"}\n\n") || !strings.Contains(string(all), "event: !error\n") {
		t.Errorf("%q, %v", all, err)
	}
}
