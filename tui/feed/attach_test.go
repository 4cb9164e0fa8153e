package feed

import (
	"bytes"
	"cmp"
	"context"
	"errors"
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
	full           bool  // Write blocks until the terminal is closed
	lost           error // the connection ends with this error at the first input
	accepts        int   // the number of bytes that a lost connection accepts
	ends           bool  // the session ends at the first input
}

func (r *recorder) Read([]byte) (int, error) {
	close(r.opened)
	<-r.closed
	return 0, cmp.Or(r.lost, io.EOF)
}

func (r *recorder) Write(p []byte) (int, error) {
	if r.ends || r.lost != nil {
		r.end()
		return r.accepts, io.ErrClosedPipe
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

// terminals is a city with one agent. Each attach gets the next terminal; nil means that the city does not respond.
type terminals struct {
	city.Control
	left []*recorder
}

func (c *terminals) Attach(context.Context, string, city.Viewer) (city.Terminal, error) {
	term := c.left[0]
	c.left = c.left[1:]
	if term == nil {
		return nil, errors.New("no controller is running")
	}
	return term, nil
}

// typeInto attaches to terminals, types each text into one of them, and returns the message or the error.
func typeInto(t *testing.T, texts map[*recorder]string, terms ...*recorder) string {
	t.Helper()
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
	r := &Runner{Ctx: ctx, City: &terminals{left: terms}, Mailbox: NewMailbox(),
		Log: slog.New(slog.DiscardHandler), Fail: cancel}
	v := newAttachment(Terminal{In: in, Out: out, Detach: detach.Key{}}, "builder")
	for _, term := range terms {
		if term == nil {
			continue
		}
		term.opened, term.closed = make(chan struct{}), make(chan struct{})
		term.end = sync.OnceFunc(func() { close(term.closed) })
		r.Spawn("type", func(context.Context) {
			<-term.opened
			_, _ = keys.WriteString(texts[term])
		})
	}
	message, err := v.run(ctx, r)
	cancel()
	r.Goroutines.Wait()
	if err != nil {
		return err.Error()
	}
	return message
}

// A stop or SIGCONT does not turn the unsent rest of a paste into keys.
func TestPasteIsFinishedAfterAStop(t *testing.T) {
	for rest, want := range map[string]string{"": "", "two\r": "\x1b[200~two\r\x1b[201~",
		"two\x1b[201~x": "\x1b[200~two\x1b[201~x"} {
		v := newAttachment(Terminal{}, "builder")
		v.paste.Follow([]byte("\x1b[200~one\r"))
		v.input.add([]byte(rest))
		v.finishPaste()
		if got := string(append(v.paste.Resume(), v.input.Take()...)); got != want {
			t.Errorf("%q: would send %q, want %q", rest, got, want)
		}
	}
}

// The text before the detach key reaches the agent, even if both arrive at the same time.
func TestTextBeforeTheDetachKeyIsSent(t *testing.T) {
	for range 100 {
		term := &recorder{}
		message := typeInto(t, map[*recorder]string{term: "xy\x11"}, term)
		if got := term.input.String(); got != "xy" ||
			message != "detached from builder; it keeps running" {
			t.Fatalf("sent %q: %q", got, message)
		}
	}
}

// An agent that does not read does not delay the user for long.
func TestDetachFromAnAgentThatDoesNotRead(t *testing.T) {
	term := &recorder{full: true}
	message := typeInto(t, map[*recorder]string{term: "xy\x11"}, term)
	if !strings.Contains(message, "did not read the last input") {
		t.Errorf("got %q", message)
	}
}

// A session that ends while the last input is sent is not reported as running.
func TestDetachFromASessionThatEnds(t *testing.T) {
	term := &recorder{ends: true}
	message := typeInto(t, map[*recorder]string{term: "xy\x11"}, term)
	if message != "builder's session has ended" {
		t.Errorf("got %q", message)
	}
}

// After the controller has exited, the next one continues the attachment, also within a paste. No input is lost.
func TestAttachmentContinuesWithTheNextController(t *testing.T) {
	crashed := &recorder{lost: io.ErrUnexpectedEOF, accepts: len("\x1b[200~")}
	left := &recorder{lost: &city.Error{Message: "the controller has stopped", Details: city.Ended}}
	last := &recorder{}
	message := typeInto(t, map[*recorder]string{crashed: "\x1b[200~x", left: "x",
		last: "y\x1b[201~z\x11"}, crashed, nil, left, last)
	if got := last.input.String(); got != "\x1b[200~xxy\x1b[201~z" || message != "detached from builder; it keeps running" {
		t.Errorf("sent %q: %q", got, message)
	}
}

// If the controller exits after the detach key, the attachment ends at once. The error says that the agent might still be
// running.
func TestDetachWhileTheControllerExits(t *testing.T) {
	term := &recorder{lost: io.ErrUnexpectedEOF}
	message := typeInto(t, map[*recorder]string{term: "x\x11"}, term)
	if strings.Contains(message, "EOF") || !strings.Contains(message, "the agent might still be running") {
		t.Errorf("got %q", message)
	}
}
