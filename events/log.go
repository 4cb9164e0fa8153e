package events

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"gcity/internal/deadline"
	"gcity/internal/disk"
	"gcity/internal/recovery"
)

// Options configures a Log. The zero value suits a city.
type Options struct {
	SegmentSize int64 // size in bytes at which a new file is started; 0 = 64 MiB
	// maximum number of queued events; above it, the oldest are dropped; 0 = 4096
	Queue int

	// Poll is how often to check for lines from other processes while followers wait. 0 = 250 ms; negative = check only
	// when this Log appends.
	Poll time.Duration

	// WriteError, if set, makes all writes fail with this error. It is for simulated cities.
	WriteError error

	// Broken is called with a panic from the keeper. After that, the log no longer flushes and must be opened again. If
	// Broken is nil, the panic ends the program.
	Broken func(error)

	lockWait time.Duration // 0 = 50 ms
	// 0 = 25 ms, half of what Append guarantees, because the flush itself takes time
	syncDelay time.Duration
	datasync  func(*os.File) error
}

const (
	queueBytes = 16 << 20
	closeWait  = time.Second // for the lock
)

var (
	// ErrQueued means that events could not be written and are queued in memory. They are written in order as soon as
	// possible, or replaced by an events.gap event.
	ErrQueued = errors.New("the event log cannot be written at the moment")
	// ErrNotWritten means that AppendNow did not write its event.
	ErrNotWritten = errors.New("the event was not written")
	// ErrClosed means that the log is closed.
	ErrClosed = errors.New("the event log is closed")
)

// Log reads and writes an event log. Several processes can open the same log.
type Log struct {
	dir    string
	o      Options
	files  Reader
	recent recent

	mu    sync.Mutex // held during a write, but not during a flush
	f     *os.File
	info  fs.FileInfo
	tail  tail
	queue queue
	state health

	reserve reserve
	dirty   struct {
		since   time.Time // of the oldest line that is not flushed; zero = none
		dir     bool
		retired []*os.File
	}
	closed bool

	polling atomic.Bool
	kick    chan struct{}
	stop    chan struct{}
	keeper  recovery.Group
}

// Health is the state of a log.
type Health struct {
	// what is wrong and what a user can do about it; "" = the log works
	Degraded string `json:"degraded,omitempty"`
	Queued   int    `json:"queued"`
	// number of lost events that no events.gap event accounts for yet
	Dropped uint64   `json:"dropped"`
	Skipped uint64   `json:"skipped"` // number of damaged lines found so far
	Damage  []Damage `json:"damage,omitempty"`
}

// Open opens the log in a city's .gc folder, and creates the folder if necessary. It takes no lock; the first
// Append makes repairs. The caller must close the log.
func Open(dir string, o Options) (*Log, error) {
	if o.SegmentSize <= 0 {
		o.SegmentSize = 64 << 20
	}
	if o.Queue <= 0 {
		o.Queue = 4096
	}
	setDefault(&o.lockWait, 50*time.Millisecond)
	setDefault(&o.syncDelay, 25*time.Millisecond)
	if o.Poll == 0 {
		o.Poll = 250 * time.Millisecond
	}
	if o.datasync == nil {
		o.datasync = datasync
	}
	if err := disk.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("cannot open the event log: %w", err)
	}
	l := &Log{dir: dir, o: o, kick: make(chan struct{}, 1), stop: make(chan struct{}),
		keeper: recovery.Group{OnPanic: recovery.Fatal(o.Broken)}}
	l.files.dir = dir
	last, err := l.files.Last()
	if err != nil {
		return nil, fmt.Errorf("cannot open the event log: %w", err)
	}
	l.recent.skip(last)
	l.keeper.Go(l.keep)
	return l, nil
}

func setDefault(d *time.Duration, to time.Duration) {
	if *d <= 0 {
		*d = to
	}
}

// Append writes events as one batch and returns the seq of the last one. When it returns, readers in all processes can
// see the events. They are flushed to the disk in the background within 50 ms.
//
// Append blocks for its own write, and for at most 50 ms for a write by another process. If the events cannot be
// written, they are queued and the returned seq is 0; see ErrQueued. If Check rejects an event, Append rejects the
// whole batch. Append does not retain batch.
func (l *Log) Append(batch ...Event) (last uint64, err error) {
	now := time.Now()
	entries := make([]entry, 0, len(batch))
	for _, e := range batch {
		en, err := prepare(e, now)
		if err != nil {
			return 0, err
		}
		entries = append(entries, en)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, ErrClosed
	}
	l.queue.add(entries)
	if now.Before(l.state.retry) {
		l.queue.trim(l.o.Queue)
	} else {
		_ = l.flush(now, false) // flush stores the error
	}
	if l.queue.len() > 0 {
		return 0, fmt.Errorf("%w: %w", ErrQueued, l.state.write)
	}
	if len(batch) == 0 {
		return l.recent.newest(), nil
	}
	return l.tail.last, nil
}

// AppendNow writes an event from a client and returns its seq. Unlike Append, it never queues. If the event is not in
// the file, the error wraps ErrNotWritten. While another process holds the lock, AppendNow retries until ctx ends.
func (l *Log) AppendNow(ctx context.Context, e Event, room Room) (seq uint64, err error) {
	en, err := prepare(e, time.Now())
	if err != nil {
		return 0, err
	}
	for {
		if seq, err = l.appendNow(en, room, time.Now()); !errors.Is(err, errBusy) {
			return seq, err
		}
		if !deadline.Pause(ctx, firstBackoff) {
			return 0, err
		}
	}
}

func (l *Log) appendNow(e entry, room Room, now time.Time) (seq uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return 0, ErrClosed
	}
	if l.queue.len() > 0 && !now.Before(l.state.retry) {
		_ = l.flush(now, false) // flush stores the error
	}
	why := l.state.write
	if l.queue.len() == 0 {
		l.queue.add([]entry{e})
		if why = l.flush(now, room == LeaveReserve); l.queue.len() == 0 {
			return l.tail.last, nil
		}
		l.queue.clear()
	}
	return 0, fmt.Errorf("%w: %w. %s", ErrNotWritten, why, advice(why, "Then try again"))
}

// Last returns the highest known seq, or 0 if there are no events.
func (l *Log) Last() uint64 { return l.recent.newest() }

// Changed returns a channel that is closed when there is an event after a seq.
func (l *Log) Changed(after uint64) <-chan struct{} {
	ch, first := l.recent.changed(after)
	if first && l.polling.CompareAndSwap(false, true) {
		l.wakeKeeper()
	}
	return ch
}

// Find returns the events that a query selects; see Reader.Find.
func (l *Log) Find(ctx context.Context, q Query) ([]Event, error) { return l.files.Find(ctx, q) }

const (
	followPage  = 256
	followPause = 2 * time.Millisecond
)

// Follow yields all events after a seq, oldest first, until ctx ends. A slow reader misses no events. A read error, or
// ErrClosed, is yielded once and ends Follow. Payloads are shared and must not be modified. For a seq higher than the
// newest, Follow waits until the log reaches that seq.
func (l *Log) Follow(ctx context.Context, after uint64) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		buf := make([]Event, 0, followPage)
		var woken time.Time
		for ctx.Err() == nil {
			page, floor, reaches := l.recent.since(after, buf)
			if !reaches {
				var more bool
				if after, more = l.catchUp(ctx, after, floor, yield); !more {
					return
				}
				continue
			}
			for _, e := range page {
				if !yield(e, nil) {
					return
				}
				after = e.Seq
			}
			if len(page) > 0 {
				continue
			}
			if !l.await(ctx, after, &woken) {
				if ctx.Err() == nil {
					yield(Event{}, ErrClosed)
				}
				return
			}
		}
	}
}

// await waits for an event after the given seq. It returns at most once per followPause, because waking many followers
// is slow. It returns false if Follow must end.
func (l *Log) await(ctx context.Context, after uint64, woken *time.Time) bool {
	select {
	case <-l.Changed(after):
	case <-ctx.Done():
		return false
	}
	now := time.Now()
	dense := now.Sub(*woken) < followPause
	*woken = now
	if dense && !deadline.Pause(ctx, followPause) {
		return false
	}
	return l.recent.newest() > after || !l.recent.over()
}

// catchUp yields events that are no longer in the cache, at least up to the seq floor. It returns its position, and
// whether Follow continues.
func (l *Log) catchUp(ctx context.Context, after, floor uint64,
	yield func(Event, error) bool) (uint64, bool) {
	c := &cursor{dir: l.dir, damage: &l.files.damage, after: after}
	defer c.close()
	for c.after < floor && ctx.Err() == nil {
		e, ok, err := c.event()
		if err != nil {
			yield(Event{}, err)
			return c.after, false
		}
		if !ok {
			return max(c.after, floor), true
		}
		if !yield(e, nil) {
			return c.after, false
		}
	}
	return c.after, true
}

// Health returns the state of the log. It can wait for a write in progress.
func (l *Log) Health() Health {
	l.mu.Lock()
	h := Health{Queued: l.queue.len(), Dropped: l.queue.dropped}
	h.Degraded = l.state.describe(h.Queued, h.Dropped, l.reserve.err)
	l.mu.Unlock()
	h.Skipped, h.Damage = l.files.Damaged()
	return h
}

type health struct {
	write  error
	sync   error
	rotate error
	read   error

	suspect *os.File
	renewed time.Time
	retry   time.Time
	backoff time.Duration
	rotated time.Time
}

func (h *health) describe(queued int, dropped uint64, reserve error) string {
	var s []string
	switch {
	case h.write != nil && queued > 0:
		lost := ""
		if dropped > 0 {
			lost = fmt.Sprintf(" (%d older events were lost)", dropped)
		}
		s = append(s, fmt.Sprintf("events cannot be written and %d are queued in memory%s: %v. %s",
			queued, lost, h.write, advice(h.write, "The events will then be written")))
	case h.write != nil:
		s = append(s, fmt.Sprintf("events cannot be written: %v. %s", h.write, advice(h.write, "")))
	case reserve != nil:
		s = append(s, fmt.Sprintf("events from clients are rejected, and those from the "+
			"controller use the disk reserve: %v. %s",
			reserve, advice(reserve, "")))
	}
	if h.sync != nil {
		s = append(s, fmt.Sprintf("the disk did not confirm some events, and a power failure can "+
			"lose them: %v. Check the disk", h.sync))
	}
	if h.rotate != nil {
		s = append(s, fmt.Sprintf("cannot start a new file for the event log, which exceeds its "+
			"maximum size: %v", h.rotate))
	}
	if h.read != nil {
		s = append(s, fmt.Sprintf("events from other processes cannot be read: %v", h.read))
	}
	return strings.Join(s, "; ")
}

func (l *Log) path(name string) string { return filepath.Join(l.dir, name) }

func (l *Log) wakeKeeper() {
	select {
	case l.kick <- struct{}{}:
	default:
	}
}
