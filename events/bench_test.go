package events

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

var ping = Event{Type: "agent.started", Actor: "controller", Subject: "worker-17", Message: "started worker-17, pid 4711",
	Payload: json.RawMessage(`{"pid":4711,"session":"worker-17","reason":"wanted"}`)}

// BenchmarkAppend measures appends per second while the keeper flushes to a real disk.
func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{1, 100} {
		b.Run(fmt.Sprint("batch", n), func(b *testing.B) {
			l := open(b, b.TempDir(), Options{})
			batch := make([]Event, n)
			for i := range batch {
				batch[i] = ping
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := l.Append(batch...); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*n)/b.Elapsed().Seconds(), "events/s")
		})
	}
}

func history(b *testing.B, size int64, segment int64) (dir string, last uint64) {
	b.Helper()
	dir = b.TempDir()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, activeName))
	if err != nil {
		b.Fatal(err)
	}
	en, err := prepare(ping, time.Now())
	if err != nil {
		b.Fatal(err)
	}
	var buf []byte
	first := uint64(1)
	for written, inFile := int64(0), int64(0); written < size; {
		last++
		buf = seal(buf, last, en.body)
		if len(buf) < 1<<20 {
			continue
		}
		if _, err := f.Write(buf); err != nil {
			b.Fatal(err)
		}
		written, inFile, buf = written+int64(len(buf)), inFile+int64(len(buf)), buf[:0]
		if inFile >= segment {
			f.Close()
			if err := os.Rename(f.Name(), filepath.Join(dir, segmentName(first, 0))); err != nil {
				b.Fatal(err)
			}
			if f, err = os.Create(filepath.Join(dir, activeName)); err != nil {
				b.Fatal(err)
			}
			first, inFile = last+1, 0
		}
	}
	f.Close()
	return dir, last - uint64(len(buf)/200) - 1
}

// BenchmarkGigabyte measures a log of one gigabyte, both in segments and, as the worst case, in a single file.
func BenchmarkGigabyte(b *testing.B) {
	for name, segment := range map[string]int64{"segments": 64 << 20, "onefile": 1 << 40} {
		dir, last := history(b, 1<<30, segment)
		b.Run(name+"/open", func(b *testing.B) {
			for b.Loop() {
				l, err := Open(dir, Options{})
				if err != nil {
					b.Fatal(err)
				}
				if l.Last() == 0 {
					b.Fatal("empty")
				}
				l.Close()
			}
		})
		find := func(what string, q Query) {
			b.Run(name+"/"+what, func(b *testing.B) {
				r := &Reader{dir: dir}
				for b.Loop() {
					if _, err := r.Find(b.Context(), q); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
		find("newest", Query{})
		find("after", Query{After: last / 3})
		find("before", Query{Before: last / 3})
		find("nothing", Query{Types: []string{"no.such"}}) // reads the whole log
	}
}

// BenchmarkFanOut100 measures how fast appended events reach a hundred followers.
func BenchmarkFanOut100(b *testing.B) {
	l := open(b, b.TempDir(), Options{})
	var followers sync.WaitGroup
	for range 100 {
		followers.Go(func() {
			for e, err := range l.Follow(b.Context(), 0) {
				if err != nil {
					b.Error(err)
					return
				}
				if e.Type == "the.end" {
					return
				}
			}
		})
	}
	start := time.Now()
	for b.Loop() {
		if _, err := l.Append(ping); err != nil {
			b.Fatal(err)
		}
	}
	if _, err := l.Append(Event{Type: "the.end"}); err != nil {
		b.Fatal(err)
	}
	followers.Wait()
	b.ReportMetric(float64(b.N)/time.Since(start).Seconds(), "events/s")
}
