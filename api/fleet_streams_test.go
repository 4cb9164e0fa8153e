package api_test

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"gcity/api"
	"gcity/city"
	"gcity/city/citytest"
	"gcity/events"
)

type follower struct {
	path string
	last string
	at   city.Cursor
	cuts int
}

func (f *follower) follow(t testing.TB, hc *http.Client, cities int, pause func(n int)) error {
	ended, n := map[string]bool{}, 0
	for len(ended) < cities {
		st, err := trySSE(t, hc, f.path, f.last)
		if f.cuts++; err != nil && f.cuts < 100 {
			continue
		}
		if err != nil {
			return err
		}
		for len(ended) < cities {
			it, ok := st.next()
			if !ok {
				break
			}
			if n++; pause != nil {
				pause(n)
			}
			now, err := city.ParseCursor(it.id)
			if err != nil {
				break
			}
			if it.event == "" {
				continue
			}
			news := ""
			for name, seq := range now {
				if seq != f.at[name] {
					news += fmt.Sprintf(" %s:%d", name, seq)
					if it.event == events.Gap || seq != f.at[name]+1 {
						return fmt.Errorf("%[2]s (%[3]s) follows %[1]v", f.at, it.id, it.event)
					}
					ended[name] = it.event == "the.end"
				}
			}
			if strings.Count(news, " ") != 1 {
				return fmt.Errorf("received%[2]s after %[1]v", f.at, news)
			}
			f.at, f.last = now, it.id
			maps.DeleteFunc(ended, func(_ string, over bool) bool { return !over })
		}
		st.end()
	}
	return nil
}

func unixClient(path string) *http.Client {
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", path)
	}}}
}

// A hundred clients read a thousand events per second. None of them misses an event.
func TestHundredStreams(t *testing.T) {
	if testing.Short() {
		t.Skip("takes several seconds")
	}
	names := []string{"a", "b", "c", "d", "e"}
	m, fakes := citytest.NewDirectory(), []*citytest.Fake{}
	for _, name := range names {
		fakes = append(fakes, named(name))
		m.Add(name, "/"+name, fakes[len(fakes)-1])
	}
	path, _ := serveFleet(t, m, api.Options{WriteTimeout: 2 * time.Second})
	for _, f := range fakes {
		f.Record(events.Event{Type: "x.y"})
	}
	stalled, goOn := make(chan struct{}), make(chan struct{})
	var wg, others sync.WaitGroup
	var late *follower
	for i := range 101 {
		f := &follower{path: "/v0/events/stream?after=0", at: city.Cursor{}}
		var pause func(int)
		wait := &others
		if i == 0 {
			late, wait = f, &wg
			pause = func(n int) {
				if n == 2 {
					close(stalled)
					<-goOn
				}
			}
		}
		wait.Go(func() {
			if err := f.follow(t, unixClient(path), len(names), pause); err != nil {
				t.Errorf("reader %d: %v", i, err)
			}
		})
	}
	<-stalled
	long := strings.Repeat("x", 6<<10)
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for i := range 60 { // more data than the connection's buffers can hold
		<-tick.C
		fakes[i%len(fakes)].Record(events.Event{Type: "x.y", Message: long})
	}
	for _, f := range fakes {
		f.Record(events.Event{Type: "the.end"})
	}
	others.Wait()
	close(goOn)
	wg.Wait()
	t.Logf("the paused client connected %d times", late.cuts)
}

// BenchmarkHundredStreams measures the throughput and memory of a hundred clients.
func BenchmarkHundredStreams(b *testing.B) {
	names := []string{"a", "b", "c", "d", "e"}
	m, fakes := citytest.NewDirectory(), []*citytest.Fake{}
	for _, name := range names {
		fakes = append(fakes, named(name))
		m.Add(name, "/"+name, fakes[len(fakes)-1])
	}
	path, _ := serveFleet(b, m, api.Options{WriteTimeout: time.Hour})
	conn, err := net.Dial("unix", path)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.Write([]byte("GET /v0/events/stream?after=0 HTTP/1.1\r\nHost: city\r\n\r\n")); err != nil {
		b.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			f := &follower{path: "/v0/events/stream?after=0", at: city.Cursor{}}
			if err := f.follow(b, unixClient(path), len(names), nil); err != nil {
				b.Error(err)
			}
		})
	}
	heap := func() float64 {
		runtime.GC()
		var s runtime.MemStats
		runtime.ReadMemStats(&s)
		return float64(s.HeapAlloc)
	}
	before := heap()
	n := 0
	for b.Loop() {
		fakes[n%len(fakes)].Record(events.Event{Type: "x.y", Actor: "me", Message: "something has happened"})
		n++
	}
	for _, f := range fakes {
		f.Record(events.Event{Type: "the.end"})
	}
	began := time.Now()
	wg.Wait()
	b.ReportMetric((heap()-before)/float64(n), "B/event") // includes the Fake's log, which is in memory
	b.ReportMetric(time.Since(began).Seconds(), "s-behind")
}
