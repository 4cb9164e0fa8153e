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
	SegmentSize int64 // bytes after which a new file is started; 0 = 64 MiB
	Queue       int   // greatest number of queued events, the newest ones; 0 = 4096

	// Poll is the interval, while followers wait, at which the file is checked for lines of other processes. 0 =
	// 250 ms; negative = only at appends.
	Poll time.Duration

	// Refuse is for drills: nothing is ever written, and this is the reason.
	Refuse error

	// Broken gets a panic of the keeper. After that nothing is flushed any more, so the log must be opened again.
	// Nil: the program exits with the panic.
	Broken func(error)

	lockWait  time.Duration // 0 = 50 ms
	syncDelay time.Duration // 0 = 25 ms, half of what Append promises, because a flush takes time
	datasync  func(*os.File) error
}

const (
	queueBytes = 16 << 20
	closeWait  = time.Second // for the lock, when closing
)

var (
	// ErrQueued means that events could not be written and are queued in memory. They are written in order as soon
	// as possible, or counted by an events.gap. Health has the reason.
	ErrQueued = errors.New("the event log cannot be written now")
	// ErrRefused means that AppendNow could not write an event and did not queue it.
	ErrRefused = errors.New("the event was not written")
	// ErrClosed means that the log was closed.
	ErrClosed = errors.New("the event log is closed")
)

// Log is an event log for reading and writing. Several processes may have the same log open.
type Log struct {
	dir    string
	o      Options
	files  Reader
	recent recent

	mu    sync.Mutex // held while writing, but not while waiting for a flush
	f     *os.File   // nil until the first write
	info  fs.FileInfo
	tail  tail
	queue queue
	state health

	reserve reserve
	dirty   struct {
		since   time.Time // time of the oldest line that is not flushed, zero if there is none
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
	// what is wrong and what to do, "" = nothing is wrong
	Degraded string `json:"degraded,omitempty"`
	Queued   int    `json:"queued"` // number of queued events
	// number of lost events that no events.gap counts yet
	Dropped uint64   `json:"dropped"`
	Skipped uint64   `json:"skipped"`          // number of damaged lines so far
	Damage  []Damage `json:"damage,omitempty"` // the last few of them
}

// Open opens the log in a city's .gc folder, which is created if necessary. It reads only the newest line, takes no
// lock and repairs nothing; the first Append does. The caller must close the log.
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

// Append writes events as one batch and returns the seq of the last. When it returns, all readers in all processes
// see them; they are flushed to the disk within 50 ms, in the background. It blocks for one write, and at most 50
// ms for a write of another process.
//
// Events that cannot be written are queued, see ErrQueued; last is 0 then. If Check refuses an event, the whole
// batch fails and is not queued. Append does not retain batch.
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
		_ = l.flush(now, false) // the error is kept in the state
	}
	if l.queue.len() > 0 {
		return 0, fmt.Errorf("%w: %w", ErrQueued, l.state.write)
	}
	if len(batch) == 0 {
		return l.recent.newest(), nil
	}
	return l.tail.last, nil
}

// AppendNow writes an event of a client, and returns its seq. Unlike Append it queues nothing: either the event is
// in the file, or the error wraps ErrRefused. While another process holds the log's lock, it retries until ctx
// ends.
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
		_ = l.flush(now, false) // the error is kept in the state
	}
	why := l.state.write
	if l.queue.len() == 0 {
		l.queue.add([]entry{e})
		if why = l.flush(now, room == LeaveReserve); l.queue.len() == 0 {
			return l.tail.last, nil
		}
		l.queue.clear()
	}
	return 0, fmt.Errorf("%w: %w. %s", ErrRefused, why, advice(why, "Then try again"))
}

// Last returns the newest known seq, or 0.
func (l *Log) Last() uint64 { return l.recent.newest() }

// Changed returns a channel that is closed as soon as an event newer than after exists, or the log is closed. Lines
// of other processes are noticed within Options.Poll. If after is greater than the newest seq, the channel may be
// closed early.
func (l *Log) Changed(after uint64) <-chan struct{} {
	ch, first := l.recent.changed(after)
	if first && l.polling.CompareAndSwap(false, true) {
		l.poke()
	}
	return ch
}

// Find returns the events that a query selects; see Reader.Find.
func (l *Log) Find(ctx context.Context, q Query) ([]Event, error) { return l.files.Find(ctx, q) }

const (
	followPage  = 256
	followPause = 2 * time.Millisecond
)

// Follow yields every event after a seq, oldest first: history, then live, until ctx ends. A slow reader only falls
// behind: nothing is buffered for it and nothing is lost. A read error, or ErrClosed, is yielded once, then Follow
// ends. Followers share payloads, so do not change them. If after is greater than the newest seq, Follow waits for
// it: compare it with Last.
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

// await waits for an event after a seq and reports whether there may be one. While there are many events it waits
// for a few more, because waking a hundred followers for every single event would be slow.
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

// catchUp yields from the files what recent does not have any more, at least up to floor. It returns its position
// and whether Follow continues.
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

// health holds the errors of a log by operation.
type health struct {
	write  error // of the last write, nil if it succeeded
	sync   error // the flush of suspect failed
	rotate error
	read   error

	suspect *os.File
	renewed time.Time // when a new file was last started because of suspect
	retry   time.Time // no write earlier
	backoff time.Duration
	rotated time.Time // last failed rotation
}

// describe returns what is wrong, and how many events are queued or lost.
func (h *health) describe(queued int, dropped uint64, reserve error) string {
	var s []string
	switch {
	case h.write != nil && queued > 0:
		lost := ""
		if dropped > 0 {
			lost = fmt.Sprintf(" (%d older ones are lost)", dropped)
		}
		s = append(s, fmt.Sprintf("events cannot be written and %d are queued in memory%s: %v. %s",
			queued, lost, h.write, advice(h.write, "They are written then")))
	case h.write != nil:
		s = append(s, fmt.Sprintf("events cannot be written: %v. %s", h.write, advice(h.write, "")))
	case reserve != nil:
		s = append(s, fmt.Sprintf("events of clients are refused, and those of the controller "+
			"use the reserve: %v. %s",
			reserve, advice(reserve, "")))
	}
	if h.sync != nil {
		s = append(s, fmt.Sprintf("the disk failed to save events, and a power cut may lose "+
			"some: %v. Check the disk", h.sync))
	}
	if h.rotate != nil {
		s = append(s, fmt.Sprintf("the event log exceeds its maximum size: %v", h.rotate))
	}
	if h.read != nil {
		s = append(s, fmt.Sprintf("events of other processes cannot be read: %v", h.read))
	}
	return strings.Join(s, "; ")
}

func (l *Log) path(name string) string { return filepath.Join(l.dir, name) }

// poke makes the keeper check what is due.
func (l *Log) poke() {
	select {
	case l.kick <- struct{}{}:
	default:
	}
}
