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

// FileLogger writes text into a file.
func FileLogger(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

// QuietLogger returns a logger that drops everything.
func QuietLogger() *slog.Logger { return slog.New(slog.DiscardHandler) }

// stateLog is .gc/controller.log, which every controller of the city writes. It is kept small. It opens its file by
// path, so each line looks first at what is there.
type stateLog struct {
	at string
	to *lumberjack.Logger
}

// FileLog opens the controller's log of a city.
func FileLog(dir string) *stateLog {
	at := LogPath(dir)
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

// IsFile reports whether a stream goes to the file at a path.
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
