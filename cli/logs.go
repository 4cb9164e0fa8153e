package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"gopkg.in/natefinch/lumberjack.v2"

	"gcity/internal/disk"
)

// logger writes what a controller says: text for a person at a terminal, JSON for a journal.
func (a *app) logger(w io.Writer) *slog.Logger {
	if a.ErrTTY {
		return slog.New(slog.NewTextHandler(w, nil))
	}
	return slog.New(slog.NewJSONHandler(w, nil))
}

// fileLogger writes text into a file.
func fileLogger(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

func quietLogger() *slog.Logger { return slog.New(slog.DiscardHandler) }

// stateLog is .gc/controller.log, which every controller of the city writes. It is kept small. It opens its file by path, so
// each line looks first at what is there.
type stateLog struct {
	at string
	to *lumberjack.Logger
}

func fileLog(dir string) *stateLog {
	at := logPath(dir)
	return &stateLog{at, &lumberjack.Logger{Filename: at, MaxSize: 10, MaxBackups: 2}}
}

// Write writes one line, or fails where the file is no file of gcity's, or its folder is gone.
func (l *stateLog) Write(line []byte) (int, error) {
	if _, err := disk.Lstat(filepath.Dir(l.at)); err != nil {
		return 0, err // it would be made again
	}
	if _, err := disk.CheckFile(l.at); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	return l.to.Write(line)
}

// Close closes the file.
func (l *stateLog) Close() error { return l.to.Close() }

func logPath(dir string) string { return filepath.Join(dir, ".gc", "controller.log") }

// headlessLog returns the logger of a controller without a screen. It writes to the controller's file, and
// to stderr unless that is the same file, as it is in the background.
func (a *app) headlessLog(dir string) (_ *slog.Logger, closeLog func()) {
	logger, closeFile := controllerLog(dir)
	if isFile(a.Err, logPath(dir)) {
		return logger, closeFile
	}
	out := newSpill(a.Err)
	if _, err := disk.CheckFile(logPath(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		a.logger(out).Warn("nothing is written to the controller's log", "error", err)
	}
	return bothLogs(a.logger(out), logger), func() { _ = out.Close(); closeFile() } // it never fails
}

// bothLogs returns a logger that writes to two others.
func bothLogs(one, two *slog.Logger) *slog.Logger {
	return slog.New(slog.NewMultiHandler(one.Handler(), two.Handler()))
}

// controllerLog returns a logger that writes to the controller's file and never waits for it.
func controllerLog(dir string) (_ *slog.Logger, closeLog func()) {
	file := fileLog(dir)
	own := newSpill(file)
	return fileLogger(own), func() {
		_ = own.Close() // it never fails
		select {
		case <-own.done:
			_ = file.Close() // what cannot be written is lost
		default: // the disk does not answer, and Close would wait for it
		}
	}
}

// isFile reports whether a stream goes to the file at a path.
func isFile(w io.Writer, path string) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	is, err := f.Stat()
	if err != nil {
		return false
	}
	at, err := os.Stat(path)
	return err == nil && os.SameFile(is, at)
}

// spillDepth is how many lines a stuck stderr may be behind before lines are dropped.
const spillDepth = 1024

// spill is a writer that never makes its caller wait: lines queue up for a goroutine that writes them, and
// what does not fit in the queue is dropped and counted.
type spill struct {
	to    io.Writer
	lines chan []byte
	done  chan struct{}
	wg    sync.WaitGroup // outlives Close only if a write never returns

	mu      sync.Mutex
	closed  bool
	dropped int
}

func newSpill(to io.Writer) *spill {
	s := &spill{to: to, lines: make(chan []byte, spillDepth), done: make(chan struct{})}
	s.wg.Go(s.drain)
	return s
}

// Write queues one line. It never fails.
func (s *spill) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return len(p), nil
	}
	line := append([]byte(nil), p...)
	if s.dropped > 0 {
		line = append(fmt.Appendf(nil, "%d lines of this log were dropped: nobody read it\n", s.dropped), line...)
	}
	select {
	case s.lines <- line:
		s.dropped = 0
	default:
		s.dropped++
	}
	return len(p), nil
}

// Close writes what is queued, for at most a quarter of a second.
func (s *spill) Close() error {
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
	return nil
}

func (s *spill) drain() {
	defer close(s.done)
	for line := range s.lines {
		if _, err := s.to.Write(line); err != nil {
			continue // a stream that is gone stays gone; the city does not end for it
		}
	}
}

// behind is how many lines wait to be written.
func (s *spill) behind() int { return len(s.lines) }
