package api_test

import (
	"bufio"
	"context"
	"io"
	"iter"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gcity/api"
	"gcity/city"
	"gcity/events"
	"gcity/internal/shutdown"
)

type pipes struct {
	conns chan net.Conn
	done  chan struct{}
	close func()
}

func newPipes() *pipes {
	p := &pipes{conns: make(chan net.Conn), done: make(chan struct{})}
	p.close = sync.OnceFunc(func() { close(p.done) })
	return p
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.done:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { p.close(); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }

func (p *pipes) ask(t *testing.T, request string) net.Conn {
	ours, theirs := net.Pipe()
	t.Cleanup(func() { _ = ours.Close() })
	p.conns <- theirs
	if _, err := io.WriteString(ours, request); err != nil {
		t.Fatal(err)
	}
	return ours
}

func onPipes(t *testing.T, c city.Control, o api.Options) (p *pipes, done func()) {
	p, o.Guard = newPipes(), &api.Guard{}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := api.Serve(ctx, p, c, o); err != nil {
			t.Error(err)
		}
	})
	return p, func() { cancel(); wg.Wait() }
}

type slowReader struct{ io.Reader }

func (s slowReader) Read(b []byte) (int, error) {
	time.Sleep(time.Second)
	return s.Reader.Read(b[:min(len(b), 16<<10)])
}

// A client that reads nothing is disconnected. A slow client is not.
func TestSlowConnection(t *testing.T) {
	const size = 2 << 20
	for name, path := range map[string]string{"an answer": "/v0/events?limit=1", "a stream": "/v0/events/stream?after_seq=0"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := town()
				f.Record(events.Event{Type: "a.b", Message: strings.Repeat("x", size)})
				p, done := onPipes(t, f, api.Options{})
				defer done()
				conn := p.ask(t, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n")
				defer conn.Close()
				resp, err := http.ReadResponse(bufio.NewReader(slowReader{conn}), nil)
				if err != nil {
					t.Fatal(err)
				}
				if n, err := io.CopyN(io.Discard, resp.Body, size); err != nil {
					t.Errorf("the client was disconnected after %d bytes: %v", n, err)
				}
			})
		})
	}
}

// hungCount is a city whose count of work does not end.
type hungCount struct{ staticCity }

func (c hungCount) Snapshots(ctx context.Context) iter.Seq2[*city.Snapshot, error] {
	return func(yield func(*city.Snapshot, error) bool) {
		if yield(c.snap, nil) {
			<-ctx.Done()
		}
	}
}

// While changed work is not counted, a long poll waits only for a short time, because its client may have missed a
// snapshot. It still waits, so that clients do not send requests all the time.
func TestLongPollDuringHungCount(t *testing.T) {
	for index, want := range map[string]time.Duration{"5": 0, "6": time.Second, "8": 20 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			p, done := onPipes(t, hungCount{staticCity{town(), &city.Snapshot{Name: "town", Seq: 8, Uncounted: 7}}}, api.Options{})
			defer done()
			began := time.Now()
			conn := p.ask(t, "GET /v0/agents?wait=20s&index="+index+" HTTP/1.1\r\nHost: localhost\r\n\r\n")
			defer conn.Close()
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}
			if waited := time.Since(began); waited != want || resp.Header.Get("X-GC-Index") != "6" {
				t.Errorf("index %s: index %s after %s", index, resp.Header.Get("X-GC-Index"), waited)
			}
		})
	}
}

// Clients that keep connections open with incomplete requests do not lock out others.
func TestIncompleteRequestsMakeRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, done := onPipes(t, town(), api.Options{})
		defer done()
		for range 1024 {
			p.ask(t, "POST /v0/reload HTTP/1.1\r\nHost: localhost\r\nX-GC-Request: 1\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{")
			synctest.Wait()
		}
		resp, err := http.ReadResponse(bufio.NewReader(p.ask(t, "GET /v0/agents HTTP/1.1\r\nHost: localhost\r\n\r\n")), nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != http.StatusOK {
			t.Error(resp.Status)
		}
	})
}

// A server that ends before the city does not delay the city's shutdown.
func TestServerEndsBeforeCity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, last := town(), shutdown.New(time.Minute)
		f.OnDo(func(city.Command) (city.Receipt, error) {
			time.Sleep(7 * time.Second) // longer than a request may take after the server has stopped listening
			return city.Receipt{}, nil
		})
		p, done := onPipes(t, f, api.Options{Last: last})
		conn := p.ask(t, "POST /v0/reload HTTP/1.1\r\nHost: localhost\r\nX-GC-Request: 1\r\n\r\n")
		defer conn.Close()
		synctest.Wait()
		done()
		if said := last.End(); said != "" {
			t.Errorf("report when the city stopped: got %s", said)
		}
	})
}

// A client that does not read its stream does not delay the shutdown.
func TestShutdownEndsBlockedStreams(t *testing.T) {
	for _, path := range []string{"/v0/snapshot/stream", "/v0/events/stream?after_seq=0"} {
		synctest.Test(t, func(t *testing.T) {
			f, last := town(), shutdown.New(6*time.Second)
			f.Record(events.Event{Type: "a.b", Message: strings.Repeat("x", 1<<20)})
			p, done := onPipes(t, f, api.Options{Last: last})
			conn := p.ask(t, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n")
			defer conn.Close()
			synctest.Wait()
			last.Begin()
			done()
			if said := last.End(); said != "" {
				t.Errorf("%s: %s", path, said)
			}
		})
	}
}
