package sessiontest

import (
	"errors"
	"testing"
	"time"

	"gcity/session"
)

func drafting(t *testing.T, h Harness, p session.Provider) func(keys string, draft bool) {
	if h.Draft != nil {
		return func(keys string, draft bool) { h.Draft(t, p, "a", keys, draft) }
	}
	term, err := optional[session.Attacher](t, p).Attach(t.Context(), "a", 80, 24)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { term.Close() })
	return func(keys string, _ bool) {
		if _, err := term.Write([]byte(keys)); err != nil {
			t.Fatal(err)
		}
	}
}

func draftIsListed(t *testing.T, h Harness) {
	p := h.New(t)
	needs(t, p, session.SeeingDrafts)
	look := optional[session.Looker](t, p)
	optional[session.PoliteSender](t, p) // skips providers that do not detect drafts
	if _, err := look.Look(t.Context(), "a"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("Look at a missing session: got %v", err)
	}
	s, _ := start(t, h, p, "a")
	types := drafting(t, h, p)
	for _, c := range []struct {
		keys  string
		draft bool
	}{{"half", true}, {"\r", false}, {"ab", true}, {"\x7f\x7f", false}, {"one more", true},
		{"\x15", false}} {
		types(c.keys, c.draft)
		wait(t, c.keys, func() bool {
			st, err := look.Look(t.Context(), "a")
			if err != nil || st.ID != s.ID || !st.Alive {
				t.Fatalf("%+v, %v", st, err)
			}
			return st.Draft == c.draft && !st.TypedAt.IsZero() && list(t, p)[0].Draft == c.draft
		})
	}
}

func politeText(t *testing.T, h Harness) {
	p := h.New(t)
	polite := optional[session.PoliteSender](t, p)
	if err := polite.SendPolitely(t.Context(), "a", "x", time.Second); !errors.Is(err,
		session.ErrNotFound) {
		t.Errorf("SendPolitely to a missing session: got %v", err)
	}
	start(t, h, p, "a")
	types := drafting(t, h, p)
	types("unfinished li", true)
	wait(t, "the draft", func() bool { return list(t, p)[0].Draft })
	if err := polite.SendPolitely(t.Context(), "a", "polite", time.Nanosecond); !errors.Is(err,
		session.ErrBusy) {
		t.Errorf("SendPolitely while there is a draft: got %v", err)
	}
	types("ne\r", false)
	wait(t, "the end of the draft", func() bool { return !list(t, p)[0].Draft })
	if err := polite.SendPolitely(t.Context(), "a", "polite", time.Hour); !errors.Is(err,
		session.ErrBusy) {
		t.Errorf("SendPolitely shortly after a viewer's input: got %v", err)
	}
	if err := polite.SendPolitely(t.Context(), "a", "polite", time.Nanosecond); err != nil {
		t.Error(err)
	}
	types("again", true)
	wait(t, "the draft", func() bool { return list(t, p)[0].Draft })
	if err := p.Send(t.Context(), "a", "an impolite text"); err != nil {
		t.Error(err)
	}
	wait(t, "the submission of the draft with the text", func() bool {
		return !list(t, p)[0].Draft
	})
}
