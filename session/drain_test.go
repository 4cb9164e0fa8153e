package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"gcity/session"
)

type scribe struct {
	marks map[string]string
	left  int // number of writes that still succeed
}

var errBroken = errors.New("broken")

func (s *scribe) SetMeta(_ context.Context, _, key, value string) error {
	if s.left--; s.left < 0 {
		return errBroken
	}
	if s.marks[key] = value; value == "" {
		delete(s.marks, key)
	}
	return nil
}

func (s *scribe) Meta(_ context.Context, _, key string) (string, error) { return s.marks[key], nil }

func (s *scribe) drain() session.Drain {
	return session.ParseDrain(func(key string) string { return s.marks[key] })
}

func TestDrainRoundTrip(t *testing.T) {
	since := time.Unix(1_790_000_000, 0)
	for _, d := range []session.Drain{
		{},
		{Since: since, By: "pool"},
		{Since: since, By: "operator", Acked: true},
		{Since: since},
	} {
		for _, old := range []session.Drain{{}, {Since: since.Add(-time.Hour), By: "other", Acked: true}} {
			s := &scribe{marks: map[string]string{}, left: 100}
			for _, d := range []session.Drain{old, d} {
				if err := session.SetDrain(t.Context(), s, "a", d); err != nil {
					t.Fatal(err)
				}
			}
			if got := s.drain(); got != d || got.On() != !d.Since.IsZero() {
				t.Errorf("%+v written over %+v: got %+v", d, old, got)
			}
			if !d.On() && len(s.marks) > 0 {
				t.Errorf("the drain was removed, but got marks %v", s.marks)
			}
		}
	}
}

// If a process dies while it writes a drain's marks, the session is neither draining nor finished.
func TestPartialDrainIsIgnored(t *testing.T) {
	finished := session.Drain{Since: time.Unix(1000, 0), By: "pool", Acked: true}
	for writes := range 3 {
		s := &scribe{marks: map[string]string{}, left: writes}
		if err := session.SetDrain(t.Context(), s, "a", finished); !errors.Is(err, errBroken) || s.drain().On() {
			t.Errorf("after %d writes: got %+v, %v", writes, s.drain(), err)
		}
		s.left = writes
		for key, value := range map[string]string{"GC_DRAIN": "900", "GC_DRAIN_BY": "pool", "GC_DRAIN_ACK": "1"} {
			s.marks[key] = value
		}
		if err := session.SetDrain(t.Context(), s, "a", session.Drain{}); !errors.Is(err, errBroken) || s.drain().On() != (writes == 0) {
			t.Errorf("after %d removals: got %+v, %v", writes, s.drain(), err)
		}
		s.left = 3
		if err := session.SetDrain(t.Context(), s, "a", session.Drain{Since: time.Unix(1100, 0), By: "pool"}); err != nil || s.drain().Acked {
			t.Errorf("new drain over remaining marks: got %+v, %v", s.drain(), err)
		}
	}
}

func TestDrainCannotBeStored(t *testing.T) {
	for _, d := range []session.Drain{
		{Since: time.Unix(-5, 0), By: "pool"},
		{Since: time.Date(12000, 1, 1, 0, 0, 0, 0, time.UTC), By: "pool"},
		{Since: time.Unix(1000, 0), By: "two words"},
		{Since: time.Unix(1000, 0), By: "a_word_of_seventee"},
	} {
		s := &scribe{marks: map[string]string{}, left: 100}
		if err := session.SetDrain(t.Context(), s, "a", d); err == nil || len(s.marks) > 0 {
			t.Errorf("%+v: got %v, marks %v", d, err, s.marks)
		}
	}
}

// Marks from an agent are either ignored, or parsed as a drain that can be shown and stored again.
func FuzzParseDrain(f *testing.F) {
	f.Add("1790000000", "pool", "1")
	f.Add(" 1790000000\n", "operator", "")
	f.Add("99999999999999999999", "\x1b[2J", "yes")
	f.Add("-1", "", "1")
	f.Add("0x10", "a word of more than sixteen bytes", "true")
	f.Fuzz(func(t *testing.T, since, by, ack string) {
		s := &scribe{left: 100, marks: map[string]string{"GC_DRAIN": since, "GC_DRAIN_BY": by, "GC_DRAIN_ACK": ack}}
		d := s.drain()
		if !d.On() {
			if d != (session.Drain{}) {
				t.Errorf("%+v", d)
			}
			return
		}
		if d.Acked != (ack == "1") || d.By != "" && d.By != by {
			t.Errorf("%q %q %q: got %+v", since, by, ack, d)
		}
		if _, err := json.Marshal(d); err != nil {
			t.Error(err)
		}
		if err := session.SetDrain(t.Context(), s, "a", d); err != nil || s.drain() != d {
			t.Errorf("%+v written again: got %+v, %v", d, s.drain(), err)
		}
	})
}
