package folder

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gcity/city"
	"gcity/config"
	"gcity/events"
	"gcity/internal/disk"
)

// NewestSeq returns the sequence number of the newest event, or 0 if the log is empty or cannot be read.
func NewestSeq(ctx context.Context, dir string) uint64 {
	last, err := ReadEvents(ctx, dir, events.Query{Limit: 1})
	if err != nil || len(last) == 0 {
		return 0
	}
	return last[len(last)-1].Seq
}

// ReadEvents reads a page of a city's event log from its files.
func ReadEvents(ctx context.Context, dir string, q events.Query) ([]events.Event, error) {
	r, err := events.OpenReader(StateDir(dir))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return r.Find(ctx, q)
}

// FollowEvents reads a city's event log from its files and waits for further events.
func FollowEvents(ctx context.Context, dir string, after uint64) iter.Seq2[events.Event, error] {
	return func(yield func(events.Event, error) bool) {
		r, err := events.OpenReader(StateDir(dir))
		if err != nil {
			yield(events.Event{}, err)
			return
		}
		r.Follow(ctx, after)(yield)
	}
}

// appendLimit limits how long an append waits for the log's lock.
const appendLimit = 5 * time.Second

// AppendEvent appends an event to the log without a controller. If it returns nil, the log contains the event.
func AppendEvent(dir string, e events.Event) (uint64, error) {
	return AppendEventIn(dir, e, events.UseReserve)
}

// AppendEventIn is like AppendEvent. room says whether the event may use the space reserved for a full disk.
func AppendEventIn(dir string, e events.Event, room events.Room) (uint64, error) {
	if err := e.Check(); err != nil {
		return 0, city.Errorf(city.Invalid, "%v", err)
	}
	if err := disk.MakePrivate(StateDir(dir)); err != nil {
		return 0, err
	}
	c, err := LoadCity(dir)
	if err != nil {
		c = &config.City{Path: dir} // events must be written even if the configuration is invalid
	}
	broken := NewFaults()
	log, closeLog, err := OpenLog(dir, c, broken.Report)
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), appendLimit)
	defer cancel()
	seq, err := log.AppendNow(ctx, e, room)
	return seq, errors.Join(err, closeLog(), broken.first())
}

var errTestProvider = errors.New(`[events] provider is "fail", which is only for ` +
	"testing: nothing is written")

// OpenLog opens a city's event log as configured. The caller must call closeLog.
func OpenLog(dir string, c *config.City, broken func(error)) (log *events.Log,
	closeLog func() error, err error) {
	at, o, after := StateDir(dir), events.Options{Broken: broken}, func() error { return nil }
	switch c.Events.Provider {
	case "fail":
		o.WriteError = errTestProvider
	case "fake":
		if at, err = os.MkdirTemp("", "gcity-events-"); err != nil {
			return nil, nil, fmt.Errorf("cannot create a temporary event log: %w", err)
		}
		after = func() error { return os.RemoveAll(at) }
	}
	if log, err = events.Open(at, o); err != nil {
		return nil, nil, errors.Join(err, after())
	}
	return log, func() error { return errors.Join(log.Close(), after()) }, nil
}

// LogProblem describes damaged lines in the newest part of the log, or returns "".
func LogProblem(ctx context.Context, dir string) (string, error) {
	r, err := events.OpenReader(StateDir(dir))
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if _, err := r.Find(ctx, events.Query{Limit: events.MaxLimit}); err != nil {
		return "", err
	}
	n, damage := r.Damaged()
	if n == 0 {
		return "", nil
	}
	var where []string
	for _, d := range damage {
		where = append(where, d.String())
	}
	return fmt.Sprintf("damaged lines: %d (%s)", n, strings.Join(where, " | ")), nil
}

// ClearLogPlace renames a folder that occupies the event log's path.
func ClearLogPlace(at string, logger *slog.Logger) {
	path := filepath.Join(StateDir(at), "events.jsonl")
	info, err := disk.Lstat(path)
	if err != nil || !info.IsDir() {
		return
	}
	aside, err := disk.SetAside(path)
	if err == nil {
		logger.Warn("moved aside a folder that was at the event log's path", "to",
			disk.Real(aside))
	}
	LogError(logger, "cannot move aside the folder at the event log's path", err)
}
