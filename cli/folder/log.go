package folder

import (
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"gopkg.in/natefinch/lumberjack.v2"

	"gcity/internal/disk"
)

// FileLogger returns a logger that writes lines of text to w.
func FileLogger(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

// QuietLogger returns a logger that discards everything.
func QuietLogger() *slog.Logger { return slog.New(slog.DiscardHandler) }

// stateLog writes to .gc/controller.log. It opens the file by its path, so it checks the file first.
type stateLog struct {
	at string
	to *lumberjack.Logger
}

// FileLog opens the log of a city's controller.
func FileLog(dir string) *stateLog {
	at := LogPath(dir)
	return &stateLog{at, &lumberjack.Logger{Filename: at, MaxSize: 10, MaxBackups: 2}}
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
