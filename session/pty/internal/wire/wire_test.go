package wire

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"time"

	"gcity/internal/wallclock"
)

func TestMessages(t *testing.T) {
	var b bytes.Buffer
	payloads := []string{"", "short", strings.Repeat("long", 5000)}
	for _, p := range payloads {
		if err := Write(&b, Output, []byte(p)); err != nil {
			t.Fatal(err)
		}
	}
	r := NewReader(&b)
	for _, p := range payloads {
		m, err := r.Next()
		if err != nil || m.Kind != Output || string(m.Data) != p {
			t.Fatalf("got %c, %d bytes, %v", m.Kind, len(m.Data), err)
		}
	}
	if _, err := r.Next(); err != io.EOF {
		t.Errorf("at the end: got %v", err)
	}
	if err := Write(&b, Output, make([]byte, MaxMessage+1)); err == nil {
		t.Error("a message over the limit was written")
	}
}

// For any input, the reader returns an error or messages within the limit.
func FuzzReader(f *testing.F) {
	f.Add([]byte("o\x02\x00\x00\x00ab"))
	f.Add([]byte("o\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := NewReader(bytes.NewReader(in))
		for total := 0; ; {
			m, err := r.Next()
			if err != nil {
				return
			}
			if total += 5 + len(m.Data); total > len(in) {
				t.Fatal("the messages are longer than the input")
			}
		}
	})
}

func TestActivity(t *testing.T) {
	drain := Drain{Since: 1_790_000_000, By: "operator-of-the_", Acked: true}
	a := Activity{
		Alive: true, Frozen: true, Draft: true, PID: 4711, Attached: 2, Started: 1, Output: 2, Input: 3, Typed: 4, Bytes: 5,
		Life: LifeHash("x"), Marked: true, Drain: drain,
	}
	for _, d := range []Drain{drain, {Since: drain.Since}, {}} {
		a.Drain = d
		b := a.Encode()
		if got, ok := DecodeActivity(b[:]); !ok || got != a {
			t.Errorf("%+v: got %+v", a, got)
		}
	}
	b := a.Encode()
	if _, ok := DecodeActivity(b[:10]); ok {
		t.Error("a truncated record was accepted")
	}
	b[0]++
	if _, ok := DecodeActivity(b[:]); ok {
		t.Error("a record of a different version was accepted")
	}
}

// An older holder writes only the first 64 bytes of the record.
func TestActivityOfOlderBuild(t *testing.T) {
	want := Activity{Alive: true, Ready: true, PID: 4711, Life: LifeHash("x")}
	old := want.Encode()
	leftover := Activity{Marked: true, Drain: Drain{Since: 1000, By: "pool"}}.Encode()
	for _, b := range [][]byte{old[:64], append(old[:64:64], leftover[64:]...)} {
		if got, ok := DecodeActivity(b); !ok || got != want {
			t.Errorf("%d bytes: %+v", len(b), got)
		}
	}
}

// Any input that can be decoded can be encoded again.
func FuzzActivity(f *testing.F) {
	b := Activity{Alive: true, Marked: true, Drain: Drain{Since: 1000, By: "pool", Acked: true}}.Encode()
	f.Add(b[:])
	f.Add(b[:64])
	f.Fuzz(func(t *testing.T, in []byte) {
		a, ok := DecodeActivity(in)
		if !ok {
			return
		}
		out := a.Encode()
		if again, ok := DecodeActivity(out[:]); !ok || again != a {
			t.Errorf("%+v, encoded and decoded again: got %+v", a, again)
		}
	})
}

func TestClock(t *testing.T) {
	a, b := NewClock(), NewClock()
	now := time.Now()
	if d := b.Time(a.Mono(now)).Sub(now).Abs(); d > time.Millisecond {
		t.Errorf("the clocks differ by %v", d)
	}
	if !a.Time(0).IsZero() {
		t.Error("want the zero time for 0")
	}
}

// After the wall clock was set, or the computer slept, times are shown by the present wall clock. Their monotonic
// readings stay the same.
func TestClockFollowsTheWallClock(t *testing.T) {
	c := NewClock()
	now := time.Now()
	mono := c.Mono(now)
	before := c.Time(mono)
	if again := c.Time(mono); again != before {
		t.Errorf("the wall clock was not set: got %v, then %v", before, again)
	}
	c.at.Store(new(wallclock.Shift(t, *c.at.Load(), -time.Hour)))
	after := c.Time(mono)
	if !after.Equal(before) {
		t.Errorf("monotonic: got %v, want %v", after, before)
	}
	if d := after.Round(0).Sub(now.Round(0)).Abs(); d > time.Second {
		t.Errorf("wall clock: got %v, want %v", after, now)
	}
	if again := c.Time(mono); again != after {
		t.Errorf("after the wall clock was set: got %v, then %v", after, again)
	}
}
