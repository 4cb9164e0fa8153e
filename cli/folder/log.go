package folder

import (
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"gopkg.in/natefinch/lumberjack.v2"

	"gcity/internal/disk"
)

// FileLogger returns a logger that writes lines of text to w.
func FileLogger(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

// QuietLogger returns a logger that discards everything.
func QuietLogger() *slog.Logger { return slog.New(slog.DiscardHandler) }

// stateLog writes to a log such as .gc/controller.log. It opens the file by its path, so it checks the file first.
type stateLog struct {
	at string
	to *lumberjack.Logger
}

// FileLog opens the log of a city's controller. After it was written to, the log has a goroutine that never ends.
func FileLog(dir string) *stateLog { return FileLogAt(LogPath(dir)) }

// FileLogAt is FileLog for a log at any path.
func FileLogAt(at string) *stateLog {
	return &stateLog{at, &lumberjack.Logger{Filename: at, MaxSize: 10, MaxBackups: 2}}
}

// FileLogs opens the log of each city only once, so that a city that starts again and again does not leave goroutines
// behind. The zero FileLogs is ready to use, and safe for concurrent use.
type FileLogs struct {
	mu sync.Mutex
	by map[string]*stateLog // by folder
}

// Open returns the log of a city's controller. A closed log opens its file again with the next line.
func (l *FileLogs) Open(dir string) *stateLog {
	l.mu.Lock()
	defer l.mu.Unlock()
	log := l.by[dir]
	if log == nil {
		log = FileLog(dir)
		if l.by == nil {
			l.by = map[string]*stateLog{}
		}
		l.by[dir] = log
	}
	return log
}

// Write writes one line. It returns an error if the file is not a regular file of this user, or if its folder no
// longer exists.
func (l *stateLog) Write(line []byte) (int, error) {
	if _, err := disk.Lstat(filepath.Dir(l.at)); err != nil {
		return 0, err // without this check, the write would create the folder again
	}
	if _, err := disk.CheckFile(l.at); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	return l.to.Write(line)
}

// Close closes the file.
func (l *stateLog) Close() error { return l.to.Close() }

// IsFile reports whether w writes to the file at path.
func IsFile(w io.Writer, path string) bool {
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
