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

	"gcity/internal/disk"
	"gcity/internal/recovery"
)

// Options configure a Log. The zero value is suitable for a city.
type Options struct {
	SegmentSize int64 // size in bytes after which a new file is started; 0 = 64 MiB
	Queue       int   // maximum number of queued events; 0 = 4096; the oldest are dropped

	// Poll is the interval at which the file is checked for lines from other processes while followers wait. 0 = 250
	// ms. Negative = the file is checked only when this Log appends.
	Poll time.Duration

	// WriteError, if set, makes all writes fail with this error. It is for simulated cities.
	WriteError error

	// Broken is called with a panic from the keeper. After that, the log no longer flushes and must be opened again. If
	// Broken is nil, the program exits with the panic.
	Broken func(error)

	lockWait time.Duration // 0 = 50 ms
	// 0 = 25 ms: half of what Append guarantees, because the flush itself takes time
	syncDelay time.Duration
	datasync  func(*os.File) error
}

const (
	queueBytes = 16 << 20
	closeWait  = time.Second // maximum wait for the lock in Close
)

var (
	// ErrQueued reports that events could not be written and are queued in memory. They are written in order as soon as
	// possible, or replaced by an events.gap event. Health returns the reason.
	ErrQueued = errors.New("the event log cannot be written at the moment")
	// ErrNotWritten reports that AppendNow could not write an event.
	ErrNotWritten = errors.New("the event was not written")
	// ErrClosed reports that the log is closed.
	ErrClosed = errors.New("the event log is closed")
)

// Log writes and reads an event log. Several processes may open the same log.
type Log struct {
	dir    string
	o      Options
	files  Reader
	recent recent

	mu    sync.Mutex // held during a write, but not during a flush
	f     *os.File   // nil until the first write
	info  fs.FileInfo
	tail  tail
	queue queue
	state health

	reserve reserve
	dirty   struct {
		since   time.Time // time of the oldest line that is not flushed; zero = all are flushed
		dir     bool
		retired []*os.File // rotated files, to be flushed and closed
	}
	closed bool

	polling atomic.Bool
	kick    chan struct{}
	stop    chan struct{}
	keeper  recovery.Group
}

// Health is the state of a log.
type Health struct {
	// description of the problem and what to do about it; "" = no problem
	Degraded string `json:"degraded,omitempty"`
	Queued   int    `json:"queued"` // number of queued events
	// number of lost events that no events.gap event reports yet
	Dropped uint64   `json:"dropped"`
	Skipped uint64   `json:"skipped"`          // number of damaged lines found so far
	Damage  []Damage `json:"damage,omitempty"` // the last few damaged lines
}

// Open opens the log in a city's .gc folder. If the folder does not exist, Open creates it. Open only reads the
// newest line: it takes no lock, and leaves repairs to the first Append. The caller must close the log.
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

// Append writes events as one batch and returns the seq of the last event. When it returns, readers in all processes
// can see the events. They are flushed to the disk in the background within 50 ms. Append blocks for its own write, and
// for at most 50 ms for a write by another process.
//
// If events cannot be written, they are queued and last is 0; see ErrQueued. If Check rejects an event, the whole batch
// is rejected. Append does not retain batch.
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
		_ = l.flush(now, false) // health stores the error
	}
	if l.queue.len() > 0 {
		return 0, fmt.Errorf("%w: %w", ErrQueued, l.state.write)
	}
	if len(batch) == 0 {
		return l.recent.newest(), nil
	}
	return l.tail.last, nil
}

// AppendNow writes an event from a client and returns its seq. Unlike Append, it does not queue: if the event is not in
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
		pause := time.NewTimer(firstBackoff)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
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
		_ = l.flush(now, false) // health stores the error
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

// Last returns the highest known seq, or 0.
func (l *Log) Last() uint64 { return l.recent.newest() }

// Changed returns a channel that is closed when an event after the given seq exists, or when the log is closed. Lines
// from other processes are noticed within Options.Poll. If after is higher than the newest seq, the channel may be
// closed too early.
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

// Follow yields all events after a seq, oldest first, until ctx ends: first those in the log, then new ones. A slow
// reader falls behind but loses no events, because nothing is buffered for it. A read error, or ErrClosed, is
// yielded once and ends Follow. The payloads are shared and must not be changed. If after is higher than the newest
// seq, Follow waits until it is reached; compare it with Last first.
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

// await waits until there may be an event after a seq. It returns false if Follow must end. While there are many
// events, it waits for a few more, because waking a hundred followers for each event would be slow.
func (l *Log) await(ctx context.Context, after uint64, woken *time.Time) bool {
	select {
	case <-l.Changed(after):
	case <-ctx.Done():
		return false
	}
	now := time.Now()
	dense := now.Sub(*woken) < followPause
	*woken = now
	if dense {
		pause := time.NewTimer(followPause)
		defer pause.Stop()
		select {
		case <-pause.C:
		case <-ctx.Done():
			return false
		}
	}
	return l.recent.newest() > after || !l.recent.over()
}

// catchUp yields events that recent no longer contains. It reads them from the files, at least up to floor. It
// returns its position, and whether Follow continues.
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
		if !ok { // the events up to floor were lost or removed
			return max(c.after, floor), true
		}
		if !yield(e, nil) {
			return c.after, false
		}
	}
	return c.after, true
}

// Health returns the state of the log. It may wait for a write in progress.
func (l *Log) Health() Health {
	l.mu.Lock()
	h := Health{Queued: l.queue.len(), Dropped: l.queue.dropped}
	h.Degraded = l.state.describe(h.Queued, h.Dropped, l.reserve.err)
	l.mu.Unlock()
	h.Skipped, h.Damage = l.files.Damaged()
	return h
}

// health contains the latest error from each operation.
type health struct {
	write  error // error from the last write; nil = it succeeded
	sync   error // error from flushing the file suspect
	rotate error
	read   error

	suspect *os.File
	renewed time.Time // when a new file was last started because of suspect
	retry   time.Time // no write is tried before this time
	backoff time.Duration
	rotated time.Time // when a rotation last failed
}

// describe describes the problems, with the number of queued and lost events. It returns "" if the log works.
func (h *health) describe(queued int, dropped uint64, reserve error) string {
	var s []string
	switch {
	case h.write != nil && queued > 0:
		lost := ""
		if dropped > 0 {
			lost = fmt.Sprintf(" (%d older events are lost)", dropped)
		}
		s = append(s, fmt.Sprintf("events cannot be written and %d are queued in memory%s: %v. %s",
			queued, lost, h.write, advice(h.write, "They are then written")))
	case h.write != nil:
		s = append(s, fmt.Sprintf("events cannot be written: %v. %s", h.write, advice(h.write, "")))
	case reserve != nil:
		s = append(s, fmt.Sprintf("events from clients are rejected, and events from the "+
			"controller use the reserve: %v. %s",
			reserve, advice(reserve, "")))
	}
	if h.sync != nil {
		s = append(s, fmt.Sprintf("the disk failed to save events, and a power failure may "+
			"lose some of them: %v. Check the disk", h.sync))
	}
	if h.rotate != nil {
		s = append(s, fmt.Sprintf("the event log exceeds its maximum size: %v", h.rotate))
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
