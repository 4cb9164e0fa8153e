package feed

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"

	"gcity/city"
	"gcity/internal/detach"
)

// recorder is a terminal that records its input.
type recorder struct {
	city.Terminal
	opened, closed chan struct{}
	end            func() // closes closed
	input          bytes.Buffer
	full           bool // Write blocks until the terminal is closed
	ends           bool // the session ends at the first input
}

func (r *recorder) Read([]byte) (int, error) {
	close(r.opened)
	<-r.closed
	return 0, io.EOF
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.ends {
		r.end()
		return 0, io.ErrClosedPipe
	}
	if r.full {
		<-r.closed
		return 0, io.ErrClosedPipe
	}
	select {
	case <-r.closed:
		return 0, io.ErrClosedPipe
	default:
		return r.input.Write(p)
	}
}

func (r *recorder) Close() error {
	r.end()
	return nil
}

// oneTerminal is a city with one terminal.
type oneTerminal struct {
	city.Control
	term *recorder
}

func (c oneTerminal) Attach(context.Context, string, city.Viewer) (city.Terminal, error) {
	return c.term, nil
}

// typeInto attaches to a terminal, types text, and returns the message.
func typeInto(t *testing.T, term *recorder, text string) string {
	t.Helper()
	term.opened, term.closed = make(chan struct{}), make(chan struct{})
	term.end = sync.OnceFunc(func() { close(term.closed) })
	in, keys, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	defer keys.Close()
	out, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	ctx, cancel := context.WithCancel(t.Context())
	r := &Runner{Ctx: ctx, City: oneTerminal{term: term}, Mailbox: NewMailbox(),
		Log: slog.New(slog.DiscardHandler), Fail: cancel}
	v := newAttachment(Terminal{In: in, Out: out, Detach: detach.Key{}}, "builder")
	r.Spawn("type", func(context.Context) {
		<-term.opened
		_, _ = keys.WriteString(text)
	})
	message, err := v.run(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	r.Goroutines.Wait()
	return message
}

// The text before the detach key reaches the agent, even if both arrive at the same time.
func TestTextBeforeTheDetachKeyIsSent(t *testing.T) {
	for range 100 {
		term := &recorder{}
		message := typeInto(t, term, "xy\x11")
		if got := term.input.String(); got != "xy" ||
			message != "detached from builder; it keeps running" {
			t.Fatalf("sent %q: %q", got, message)
		}
	}
}

// An agent that does not read does not delay the user for long.
func TestDetachFromAnAgentThatDoesNotRead(t *testing.T) {
	message := typeInto(t, &recorder{full: true}, "xy\x11")
	if !strings.Contains(message, "did not read the last input") {
		t.Errorf("got %q", message)
	}
}

// A session that ends while the last input is sent is not reported as running.
func TestDetachFromASessionThatEnds(t *testing.T) {
	message := typeInto(t, &recorder{ends: true}, "xy\x11")
	if message != "builder's session has ended" {
		t.Errorf("got %q", message)
	}
}

// If the controller exits, the message says that the agent might still be running.
func TestAttachmentLostWithTheController(t *testing.T) {
	_, err := (&attachment{agent: "builder"}).sessionEnded(io.ErrUnexpectedEOF)
	if err == nil || strings.Contains(err.Error(), "EOF") || !strings.Contains(err.Error(), "the agent might still be running") {
		t.Errorf("got %v", err)
	}
}
