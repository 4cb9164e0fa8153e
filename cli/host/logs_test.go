package host

import (
	"io"
	"strings"
	"sync"
	"testing"

	"gcity/internal/eventually"
)

func TestAsyncWriterNeverBlocks(t *testing.T) {
	r, w := io.Pipe()
	s := NewAsyncWriter(w)
	for range 3 * maxQueuedLines {
		if _, err := s.Write([]byte("line\n")); err != nil {
			t.Fatal(err)
		}
	}
	var (
		wg   sync.WaitGroup
		read strings.Builder
	)
	wg.Go(func() { _, _ = io.Copy(&read, r) })
	eventually.True(t, "all lines are read", func() bool {
		if _, err := s.Write(nil); err != nil {
			t.Fatal(err)
		}
		return len(s.lines) == 0
	})
	if _, err := s.Write([]byte("the last\n")); err != nil {
		t.Fatal(err)
	}
	s.Close()
	w.Close()
	wg.Wait()
	if text := read.String(); !strings.Contains(text, "lines of this log were dropped") || !strings.HasSuffix(text, "the last\n") {
		t.Errorf("read %d bytes that end with %q", len(text), text[max(0, len(text)-80):])
	}
}

func TestAsyncWriterClosesOnABlockedStream(t *testing.T) {
	_, w := io.Pipe()
	s := NewAsyncWriter(w)
	_, _ = s.Write([]byte("line\n"))
	s.Close()
	_, _ = s.Write([]byte("after the end\n"))
	w.Close()
	<-s.done
}

type hungFile struct{ io.Writer }

func (hungFile) Close() error { panic("closed while a write hangs") }

// A file that does not respond blocks neither its logger nor the end of the program.
func TestFileLoggerOfAHungFile(t *testing.T) {
	r, w := io.Pipe()
	defer r.Close()
	logger, closeLog := FileLogger(hungFile{w})
	logger.Info("written")
	logger.Info("queued")
	closeLog()
}
