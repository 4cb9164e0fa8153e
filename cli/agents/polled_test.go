package agents

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/output"
)

func TestNewLinesOfAScreen(t *testing.T) {
	for _, c := range []struct {
		before, now, want string
		unprinted         bool // the last line of before
		skipped           bool
	}{
		{before: "", now: "a|b", want: "a|b"},
		{before: "a|b", now: "a|b|c", want: "c"},
		{before: "a|b|c", now: "b|c|d|e", want: "d|e"},
		{before: "a|$", now: "a|$ echo x|x|$", want: "$ echo x|x|$"},
		{before: "a|$", now: "a|$|b", want: "$|b", unprinted: true},
		{before: "a|b", now: "a|b", want: ""},
		{before: "a|b", now: "c|d", want: "c|d", skipped: true},
		{before: "top|work 1|bottom", now: "top|work 2|bottom", want: "work 2"},
		{before: "a|b|$", now: "$", want: ""},
		{before: "a|b", now: "", want: ""},
		{before: "$", now: "$ x|$", want: "$ x|$"},
	} {
		s := polledScreen{strings.Split(c.before, "|"), !c.unprinted}
		got, skipped := s.newLines(strings.Split(c.now, "|"))
		if want := strings.Split(c.want, "|"); c.want == "" && len(got) > 0 || c.want != "" && !slices.Equal(got, want) ||
			skipped != c.skipped {
			t.Errorf("%q after %q: got %q, %t", c.now, c.before, got, skipped)
		}
	}
}

func TestFollowedLines(t *testing.T) {
	f := followed{cols: 20, rows: 5}
	for in, want := range map[string]string{
		"abc\b\b\bX\r":      "Xbc",
		"|\b/\b-\bdone":     "done",
		"50%\r100%":         "100%",
		"\x1b[1mbold\x1b[m": "bold",
		// bash marks pasted text, and then removes the mark
		"$ \x1b[7mecho out 1\x1b[27m\b\b\b\b\b\b\b\b\b\becho out 1\x1b[m\r": "$ echo out 1",
		"a line of 20 cells, that goes on\b\b__":                            "a line of 20 cells, that goes __",
		"words up to the edge and over it\b!":                               "words up to the edge and over i!",
		strings.Repeat("longer than a screen ", 20) + "x\b!":                strings.Repeat("longer than a screen ", 20) + "!",
	} {
		if got := f.plain(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// After a reconnect, output is printed once. A line that the agent has finished in the meantime is printed again.
func TestOutputAfterAReconnect(t *testing.T) {
	for retained, want := range map[string]string{
		"one\r\ntwo\r\n$ ":                 "one\ntwo\n$ \n",
		"one\r\ntwo\r\n$ ls\r\nfile\r\n$ ": "one\ntwo\n$ \n$ ls\nfile\n",
		"one\r\ntwo\r\none\r\ntwo\r\n$ ":   "one\ntwo\n$ \none\ntwo\n",
		"file\r\n$ ":                       "one\ntwo\n$ \n… some output was skipped\n",
	} {
		var out strings.Builder
		e := &env.Env{Printer: output.Printer{Out: &out}}
		w := &outputFollower{e: e, followed: followed{agent: "a", lines: 10}}
		for _, p := range []*linePrinter{{outputFollower: w, first: true}, {outputFollower: w, seen: true}} {
			frames := []city.Frame{{Reset: true, Cols: 80, Rows: 10, Data: []byte("one\r\n")}, {Data: []byte("two\r\n$ ")}}
			if p.seen {
				frames = []city.Frame{{Reset: true, Cols: 80, Rows: 10, Data: []byte(retained)}}
			}
			for _, f := range frames {
				if err := p.print(t.Context(), f); err != nil {
					t.Fatal(err)
				}
			}
			p.finish()
		}
		if out.String() != want {
			t.Errorf("%q: got %q, want %q", retained, out.String(), want)
		}
	}
}

// replacedSession is a city whose agent is restarted while a client reconnects: the client has found session s1, but
// watches s2.
type replacedSession struct {
	city.Control
	lookups, watches int
}

func (c *replacedSession) snapshot(session string) *city.Snapshot {
	return &city.Snapshot{Agents: []city.Agent{{Name: "a", State: city.Running, Session: &city.Session{ID: session}}}}
}

func (c *replacedSession) Snapshot(context.Context) (*city.Snapshot, error) {
	return c.snapshot("s2"), nil
}

func (c *replacedSession) Snapshots(context.Context) iter.Seq2[*city.Snapshot, error] {
	return func(yield func(*city.Snapshot, error) bool) {
		switch c.lookups++; c.lookups {
		case 1, 2:
			yield(c.snapshot("s1"), nil)
		case 3:
			yield(c.snapshot("s2"), nil)
		}
	}
}

func (c *replacedSession) Output(context.Context, string, int) (string, error) { return "", nil }

func (c *replacedSession) Watch(context.Context, string) iter.Seq2[city.Frame, error] {
	return func(yield func(city.Frame, error) bool) {
		c.watches++
		if c.watches > 1 {
			yield(city.Frame{Reset: true, Cols: 80, Rows: 10, Data: []byte("two\r\n")}, nil)
			return
		}
		if yield(city.Frame{Reset: true, Cols: 80, Rows: 10, Data: []byte("one\r\n")}, nil) {
			yield(city.Frame{}, errors.New("the connection was lost"))
		}
	}
}

// After a reconnect, the output of a session that has started in the meantime is printed from its beginning.
func TestNewSessionAfterAReconnect(t *testing.T) {
	var out strings.Builder
	e := &env.Env{Printer: output.Printer{Out: &out}}
	w := &outputFollower{e: e, followed: followed{agent: "a", lines: 10}}
	l := &env.Link{Control: &replacedSession{}, Live: true}
	if err := w.follow(t.Context(), l); err == nil {
		t.Error("the lost connection was not reported")
	}
	if err := w.follow(t.Context(), l); err != nil || out.String() != "one\ntwo\n" {
		t.Errorf("got %q, %v", out.String(), err)
	}
}
