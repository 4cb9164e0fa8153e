package citytest

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"

	"gcity/city"
)

func testSend(t *testing.T, ctx context.Context, ctl city.Control) {
	seen(t, ctx, ctl, Ready)
	r := do(t, ctx, ctl, city.Nudge{Agent: Worker, Text: "two lines;\n--of it"})
	if s := r.Send; s == nil || !s.Stage.Over() || s.ID == 0 || s.Text != "two lines;" ||
		s.Lines != 2 || s.Bytes != 18 || r.Message == "" {
		t.Errorf("%+v, %+v", r, r.Send)
	}
	seen(t, ctx, ctl, "--of it")
	_, err := ctl.Do(ctx, city.Unsend{Agent: Worker})
	wantCode(t, "Unsend without queued nudges", err, city.Conflict)
	_, err = ctl.Do(ctx, city.Unsend{Agent: "nobody"})
	wantCode(t, "Unsend to an unknown agent", err, city.NotFound)
}

func drafting(t *testing.T, ctx context.Context, ctl city.Control, half string) io.WriteCloser {
	t.Helper()
	seen(t, ctx, ctl, Ready)
	term, err := ctl.Attach(ctx, Worker, city.Viewer{Cols: 100, Rows: 30})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { term.Close() })
	if _, err := io.WriteString(term, half); err != nil {
		t.Fatal(err)
	}
	readUntil(t, term, half)
	return term
}

func queued(t *testing.T, ctx context.Context, ctl city.Control, text string) city.Send {
	t.Helper()
	r := do(t, ctx, ctl, city.Nudge{Agent: Worker, Text: text})
	s := r.Send
	if s == nil || s.Stage != city.Queued || s.Why == "" || s.Since.IsZero() ||
		!strings.Contains(r.Message, "queued") {
		t.Fatalf("%+v, %+v", r, s)
	}
	awaitAgent(t, ctx, ctl, Worker, func(a *city.Agent) bool {
		return slices.ContainsFunc(a.Sends, func(d city.Send) bool {
			return d.ID == s.ID && d.Stage == city.Queued
		})
	})
	return *s
}

func waits(a *city.Agent) bool {
	return slices.ContainsFunc(a.Sends, func(d city.Send) bool { return !d.Stage.Over() })
}

// A nudge is not typed while a draft is on the input line.
func testSendQueued(t *testing.T, ctx context.Context, ctl city.Control) {
	term := drafting(t, ctx, ctl, "half a li")
	queued(t, ctx, ctl, "after it")
	if _, err := io.WriteString(term, "ne\r"); err != nil {
		t.Fatal(err)
	}
	awaitAgent(t, ctx, ctl, Worker, func(a *city.Agent) bool { return !waits(a) })
	do(t, ctx, ctl, city.Nudge{Agent: Worker, Text: "the last", Now: true})
	seen(t, ctx, ctl, "the last")
	text, err := ctl.Output(ctx, Worker, 100)
	// the terminal echoes the text, and the program can print it again
	if n := strings.Count(text, "after it"); err != nil || n < 1 || n > 2 ||
		!strings.Contains(text, "half a line\n") {
		t.Errorf("%q, %v", text, err)
	}
}

// A nudge with Now set is typed even if a draft is on the input line.
func testSendNow(t *testing.T, ctx context.Context, ctl city.Control) {
	drafting(t, ctx, ctl, "half ")
	s := queued(t, ctx, ctl, "patient")
	_, err := ctl.Do(ctx, city.Unsend{Agent: Worker, ID: s.ID + 1000})
	wantCode(t, "Unsend of another sender's nudge", err, city.Conflict)
	do(t, ctx, ctl, city.Unsend{Agent: Worker, ID: s.ID})
	_, err = ctl.Do(ctx, city.Unsend{Agent: Worker, ID: s.ID})
	wantCode(t, "Unsend again", err, city.Conflict)
	awaitAgent(t, ctx, ctl, Worker, func(a *city.Agent) bool { return !waits(a) })
	if r := do(t, ctx, ctl, city.Nudge{Agent: Worker, Text: "at once", Now: true}); r.Send == nil ||
		!r.Send.Stage.Over() {
		t.Errorf("%+v", r.Send)
	}
	seen(t, ctx, ctl, "half at once")
	if text, err := ctl.Output(ctx, Worker, 100); err != nil || strings.Contains(text, "patient") {
		t.Errorf("%q, %v", text, err)
	}
}
