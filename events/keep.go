package events

import (
	"errors"
	"fmt"
	"os"
	"time"

	"gcity/internal/disk"
)

func (l *Log) keep() {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	var nextPoll time.Time
	for {
		var due <-chan time.Time
		if wait, any := l.runDueTasks(time.Now(), &nextPoll); any {
			timer.Reset(wait)
			due = timer.C
		}
		select {
		case <-l.stop:
			return
		case <-l.kick:
		case <-due:
		}
	}
}

func (l *Log) runDueTasks(now time.Time, nextPoll *time.Time) (wait time.Duration, any bool) {
	syncAt, retryAt, queued := l.flushDue(now)
	next := func(at time.Time) {
		if d := max(0, at.Sub(now)); !any || d < wait {
			wait, any = d, true
		}
	}
	if !syncAt.IsZero() {
		if syncAt = syncAt.Add(l.o.syncDelay); now.Before(syncAt) {
			next(syncAt)
		} else {
			l.sync(now)
		}
	}
	if queued {
		next(retryAt)
	}
	if l.pollDue(now, nextPoll) {
		next(*nextPoll)
	}
	return wait, any
}

func (l *Log) flushDue(now time.Time) (syncAt, retryAt time.Time, queued bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at, owes := l.retryAt(); owes && !now.Before(at) {
		_ = l.flush(now, false) // flush stores the error
	}
	retryAt, queued = l.retryAt()
	return l.dirty.since, retryAt, queued
}

func (l *Log) retryAt() (at time.Time, ok bool) {
	if l.queue.len() > 0 || l.state.write != nil {
		return l.state.retry, true
	}
	return l.reserve.retry, l.reserve.err != nil
}

func (l *Log) pollDue(now time.Time, next *time.Time) bool {
	if l.o.Poll < 0 {
		return false
	}
	if !l.recent.waited() {
		l.polling.Store(false)
		if !l.recent.waited() { // poll again if a follower has started to wait since then
			return false
		}
	}
	l.polling.Store(true)
	if !now.Before(*next) {
		l.pollOthers(now)
		*next = now.Add(l.o.Poll)
	}
	return true
}

// pollOthers looks for lines that other processes have appended. It needs no file lock, because complete lines do not
// change.
func (l *Log) pollOthers(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	info, err := statFile(l.path(activeName))
	switch {
	case err != nil:
	case info != nil && l.f != nil && os.SameFile(info, l.info):
		if info.Size() > l.tail.end {
			err = l.readForeign(info.Size(), now)
		}
	default:
		var last uint64
		if last, err = l.files.Last(); err == nil {
			l.recent.skip(last)
		}
	}
	l.state.read = err
}

// sync flushes the log to the disk. If that fails, it starts a new file, because the kernel may have dropped the data.
func (l *Log) sync(now time.Time) {
	l.mu.Lock()
	f, retired, dir := l.f, l.dirty.retired, l.dirty.dir
	suspect, last := l.state.suspect, l.tail.last
	l.dirty.since, l.dirty.retired, l.dirty.dir = time.Time{}, nil, false
	l.mu.Unlock()

	var old, failed error
	for _, r := range retired {
		if r != suspect {
			old = errors.Join(old, l.o.datasync(r))
		}
		r.Close()
	}
	if f != suspect {
		failed = l.o.datasync(f)
		if failed == nil && dir {
			failed = disk.SyncDir(l.dir)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case failed != nil:
		l.replaceAfterSyncError(f, last, failed, now)
	case old != nil:
		l.state.sync = old
	case f != suspect:
		l.state.sync, l.state.suspect = nil, nil
	}
}

func (l *Log) replaceAfterSyncError(f *os.File, last uint64, err error, now time.Time) {
	l.state.sync, l.state.suspect = err, f
	if f != l.f {
		return
	}
	if now.Sub(l.state.renewed) < renewPause {
		return
	}
	l.queue.note(fmt.Sprintf("the disk did not confirm the events up to %d: %v. A power failure "+
		"can lose some of them; the log continues in a new file", last, err), nil, now)
	_ = l.flush(now, false) // flush stores the error
}

// Close writes and flushes the queued events, and ends every Follow. It waits at most one second for the lock of
// another process. If events are lost, the error says how many.
func (l *Log) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	l.mu.Unlock()
	close(l.stop)
	l.keeper.Wait()

	l.mu.Lock()
	deadline := time.Now().Add(closeWait)
	for now := time.Now(); l.queue.len() > 0 && now.Before(deadline); now = time.Now() {
		if err := l.flush(now, false); err != nil && !errors.Is(err, errBusy) {
			break
		}
	}
	lost, cause := uint64(l.queue.len())+l.queue.dropped, l.state.write
	dirty := !l.dirty.since.IsZero() || len(l.dirty.retired) > 0
	l.mu.Unlock()
	if dirty {
		l.sync(time.Now())
	}
	l.recent.end()

	l.mu.Lock()
	defer l.mu.Unlock()
	err := l.state.sync
	for _, f := range append(l.dirty.retired, l.f) {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	l.f, l.dirty.retired = nil, nil
	if lost > 0 {
		err = errors.Join(fmt.Errorf("cannot write %d events: %w", lost, cause), err)
	}
	return err
}
