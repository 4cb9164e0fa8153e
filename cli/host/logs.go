package host

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"sync"
	"time"

	"gcity/cli/env"
	"gcity/cli/folder"
	"gcity/internal/disk"
)

// Logger returns a logger for a controller. It writes text to a terminal, and otherwise JSON.
func Logger(e *env.Env, w io.Writer) *slog.Logger {
	if e.ErrTTY {
		return slog.New(slog.NewTextHandler(w, nil))
	}
	return slog.New(slog.NewJSONHandler(w, nil))
}

// headlessLog returns a logger that writes to stderr and the controller's log file. If they are the same file, it
// writes each line only once.
func headlessLog(e *env.Env, dir string) (_ *slog.Logger, closeLog func()) {
	logger, closeFile := FileLogger(folder.FileLog(dir))
	if folder.IsFile(e.Err, folder.LogPath(dir)) {
		return logger, closeFile
	}
	out := NewAsyncWriter(e.Err)
	if _, err := disk.CheckFile(folder.LogPath(dir)); err != nil &&
		!errors.Is(err, fs.ErrNotExist) {
		Logger(e, out).Warn("cannot write the controller's log", "error", err)
	}
	return bothLogs(Logger(e, out), logger), func() { out.Close(); closeFile() }
}

func bothLogs(one, two *slog.Logger) *slog.Logger {
	return slog.New(slog.NewMultiHandler(one.Handler(), two.Handler()))
}

// FileLogger returns a logger that never blocks its caller. The caller must call the returned function to close the
// file.
func FileLogger(file io.WriteCloser) (_ *slog.Logger, closeLog func()) {
	own := NewAsyncWriter(file)
	return folder.FileLogger(own), func() {
		own.Close()
		select {
		case <-own.done:
			_ = file.Close()
		default: // the disk does not respond, so Close would block
		}
	}
}

const maxQueuedLines = 1024

// asyncWriter never blocks its caller. Lines that do not fit in the queue are dropped and counted.
type asyncWriter struct {
	to    io.Writer
	lines chan []byte
	done  chan struct{}
	wg    sync.WaitGroup // its goroutine outlives Close if writing the queued lines takes too long

	mu      sync.Mutex
	closed  bool
	dropped int
}

// NewAsyncWriter returns a writer that never blocks its caller. It starts a goroutine, which Close stops.
func NewAsyncWriter(to io.Writer) *asyncWriter {
	s := &asyncWriter{to: to, lines: make(chan []byte, maxQueuedLines), done: make(chan struct{})}
	s.wg.Go(s.drain)
	return s
}

// Write queues one line. It always succeeds.
func (s *asyncWriter) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return len(p), nil
	}
	line := append([]byte(nil), p...)
	if s.dropped > 0 {
		line = append(fmt.Appendf(nil, "%d lines of this log were dropped: the stream "+
			"was blocked\n", s.dropped), line...)
	}
	select {
	case s.lines <- line:
		s.dropped = 0
	default:
		s.dropped++
	}
	return len(p), nil
}

// Close waits at most a quarter of a second for the queued lines to be written.
func (s *asyncWriter) Close() {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.lines)
	}
	s.mu.Unlock()
	select {
	case <-s.done:
	case <-time.After(250 * time.Millisecond):
	}
}

func (s *asyncWriter) drain() {
	defer close(s.done)
	for line := range s.lines {
		if _, err := s.to.Write(line); err != nil {
			continue // the stream is closed; the city runs without it
		}
	}
}
