package events

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"gcity/internal/disk"
)

const (
	firstBackoff = 10 * time.Millisecond
	maxBackoff   = time.Second
	renewPause   = time.Minute

	// decodeAtMost is how many bytes from other processes are cached in decoded form.
	decodeAtMost = 1 << 20
)

// flush writes the queued events. If spare is true, it does not use the reserve. The caller must hold l.mu.
func (l *Log) flush(now time.Time, spare bool) error {
	err := l.write(now, spare)
	// an error of the reserve does not count, because the file itself was written
	if err == nil || err == l.reserve.err {
		l.state.write, l.state.backoff, l.state.retry = nil, 0, time.Time{}
		return err
	}
	err = l.readable(err)
	l.state.write = err
	l.state.backoff = min(max(2*l.state.backoff, firstBackoff), maxBackoff)
	l.state.retry = now.Add(l.state.backoff)
	l.queue.trim(l.o.Queue)
	l.wakeKeeper()
	return err
}

// readable replaces the folder's stable path, which only this process can use, with the real path.
func (l *Log) readable(err error) error {
	if real := disk.Real(l.dir); real != l.dir {
		return &readableError{strings.ReplaceAll(err.Error(), l.dir, real), err}
	}
	return err
}

type readableError struct {
	text string
	err  error
}

func (e *readableError) Error() string { return e.text }
func (e *readableError) Unwrap() error { return e.err }

func (l *Log) write(now time.Time, spare bool) error {
	if l.o.WriteError != nil {
		return l.o.WriteError
	}
	lock, err := lockFile(l.path(lockName), l.o.lockWait)
	if err != nil {
		return err
	}
	defer lock.release()
	if err := l.ensureActiveFile(now); err != nil {
		return err
	}
	out := l.queue.pending(l.state.write, now)
	size := int64(0)
	for _, e := range out {
		size += int64(len(e.body) + maxLine - maxBody)
	}
	if l.full(size, now) {
		if err := l.rotate(now); err != nil {
			return err
		}
	}
	l.refill(now)
	if spare && l.reserve.err != nil {
		return l.reserve.err
	}
	return l.put(out, now)
}

// ensureActiveFile ensures that l.f is the active file, read to its end. The caller must hold the lock.
func (l *Log) ensureActiveFile(now time.Time) error {
	info, err := statFile(l.path(activeName))
	if err != nil {
		return err
	}
	if l.f == nil || info == nil || !os.SameFile(info, l.info) {
		if err := l.openActiveFile(now); err != nil {
			return err
		}
		if info, err = l.f.Stat(); err != nil {
			return err
		}
	}
	if info.Size() < l.tail.end {
		l.note(now, "another program truncated the event log",
			Damage{activeName, info.Size(), l.tail.end, "cut"})
		l.tail = tail{last: l.tail.last}
		if err := l.tail.find(l.f, info.Size()); err != nil {
			return err
		}
	}
	if info.Size() == l.tail.end {
		return nil
	}
	if err := l.readForeign(info.Size(), now); err != nil {
		return err
	}
	return l.heal(now)
}

func (l *Log) openActiveFile(now time.Time) error {
	f, err := disk.OpenFile(l.path(activeName), os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	t := tail{last: max(l.tail.last, l.recent.newest())}
	if err == nil {
		err = t.find(f, info.Size())
	}
	var old []file
	if err == nil {
		old, err = segments(l.dir)
	}
	newest := t.intact
	if err == nil && t.intact == 0 {
		var before tail
		before, err = endOf(old)
		t.last, newest = max(t.last, before.last), before.intact
	}
	if err != nil {
		f.Close()
		return err
	}
	if l.f != nil {
		if !rotatedInto(old, l.info) {
			l.note(now, "another program removed or replaced the event log, so a new one "+
				"was started",
				Damage{activeName, 0, l.tail.end, "gone"})
		}
		l.dirty.retired = append(l.dirty.retired, l.f)
	}
	l.f, l.info, l.tail = f, info, t
	l.dirty.dir = true
	l.recent.skip(newest)
	return nil
}

func rotatedInto(segments []file, info fs.FileInfo) bool {
	for _, s := range segments {
		if os.SameFile(s.info, info) {
			return true
		}
	}
	return false
}

func (l *Log) readForeign(size int64, now time.Time) error {
	few := size-l.tail.end <= decodeAtMost
	var items []item
	var bad *Damage
	err := l.tail.read(l.f, func(line []byte, seq uint64, from, to int64) {
		if seq == 0 {
			d := Damage{activeName, from, to, why(line)}
			l.files.damage.add(d, line)
			if bad == nil {
				bad = &d
			}
			bad.To = to
			return
		}
		if few {
			if e, err := decode(line); err == nil {
				items = append(items, item{e, len(line)})
			}
		}
	})
	if bad != nil {
		l.note(now, "skipped damaged lines in the event log", *bad)
	}
	if few {
		l.recent.publish(items)
	} else {
		l.recent.skip(l.tail.intact)
	}
	return err
}

func (l *Log) heal(now time.Time) error {
	info, err := l.f.Stat()
	if err != nil || info.Size() <= l.tail.end {
		return err
	}
	torn := Damage{activeName, l.tail.end, info.Size(), "torn"}
	line := make([]byte, min(info.Size()-l.tail.end, maxLine))
	if _, err := l.f.ReadAt(line, l.tail.end); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if _, ok := unseal(line); ok { // only the newline is missing
		if _, err := l.f.Write([]byte{'\n'}); err != nil {
			return err
		}
		l.note(now, "added the missing newline to the last line of the event log", torn)
		return l.readForeign(info.Size()+1, now)
	}
	if err := l.f.Truncate(l.tail.end); err != nil {
		return err
	}
	l.note(now, "cut off the incomplete last line of the event log", torn)
	return nil
}

func (l *Log) note(now time.Time, message string, d Damage) {
	payload, err := json.Marshal(d)
	if err == nil {
		l.queue.note(message, payload, now)
	}
}

func (l *Log) full(n int64, now time.Time) bool {
	if l.tail.end == 0 || now.Sub(l.state.rotated) < renewPause {
		return false
	}
	return l.tail.end+n > l.o.SegmentSize || l.f == l.state.suspect &&
		now.Sub(l.state.renewed) >= renewPause
}

// rotate renames the active file and starts a new one. If the file cannot be renamed, the log continues in it.
func (l *Log) rotate(now time.Time) error {
	first, err := firstSeq(l.f)
	if err != nil {
		return err
	}
	if first == 0 { // only damaged lines
		first = l.tail.last + 1
	}
	name := segmentName(first, 0)
	for suffix := 1; ; suffix++ {
		info, err := statFile(l.path(name))
		if err != nil {
			return err
		}
		if info == nil {
			break
		}
		name = segmentName(first, suffix)
	}
	l.release()
	if err := disk.Rename(l.path(activeName), name); err != nil {
		l.state.rotate, l.state.rotated = err, now
		return nil
	}
	l.state.rotate, l.state.rotated = nil, time.Time{}
	if l.f == l.state.suspect {
		l.state.renewed = now
	}
	return l.openActiveFile(now)
}

// put writes entries to the file. After a partial write, it keeps the complete lines.
func (l *Log) put(out []entry, now time.Time) error {
	if len(out) == 0 {
		return nil
	}
	var buf []byte
	ends := make([]int, len(out))
	items := make([]item, len(out))
	for i, e := range out {
		e.event.Seq = l.tail.last + 1 + uint64(i)
		buf = seal(buf, e.event.Seq, e.body)
		ends[i] = len(buf)
		items[i] = item{e.event, len(e.body)}
	}
	n, err := l.f.Write(buf)
	done := 0
	for done < len(ends) && ends[done] <= n {
		done++
	}
	whole := 0
	if done > 0 {
		whole = ends[done-1]
	}
	// a write of no bytes does not move the offset, which might be at the start of the file
	if n > 0 {
		// the offset after the write; another program might have written too
		at, seekErr := l.f.Seek(0, io.SeekCurrent)
		l.tail.end, err = at-int64(n-whole), errors.Join(err, seekErr)
	}
	if n > whole {
		err = errors.Join(err, l.f.Truncate(l.tail.end))
		l.reserve.end, l.reserve.retry = 0, time.Time{} // the truncation has freed the reserve
	}
	if done > 0 {
		l.tail.last = items[done-1].event.Seq
		l.tail.intact = l.tail.last
		l.queue.wrote(done)
		l.recent.publish(items[:done])
		if l.dirty.since.IsZero() {
			l.dirty.since = now
			l.wakeKeeper()
		}
	}
	return err
}

func advice(err error, next string) string {
	do := "gcity retries every second"
	switch {
	case errors.Is(err, errBusy):
		do = "Wait for that process to release the lock"
	case errors.Is(err, syscall.EFBIG):
		do = fmt.Sprintf("Raise the limit on the size of files with "+
			"`prlimit --pid %d --fsize=unlimited`", os.Getpid())
	case isFull(err):
		do = "Free some space"
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		do = "Make the folder writable"
	}
	if next != "" {
		do += ". " + next
	}
	return do
}
