package holder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"gcity/internal/proc"
	"gcity/session/pty/internal/wire"
)

// lockWait is how long a predecessor that is on its way out may still hold the lock.
const lockWait = 500 * time.Millisecond

// settle makes the session's folder ours: it enters it, locks it, listens in it and writes what is to be found there.
// Called again it does so for a folder that was deleted and made anew. Main goroutine.
func (h *holder) settle() error {
	// none above: a city that was moved is not made again
	for _, dir := range []string{filepath.Dir(h.dir), h.dir} {
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return fmt.Errorf("cannot make the session's folder: %w", err)
		}
	}
	if err := os.Chdir(h.dir); err != nil {
		return fmt.Errorf("cannot enter the session's folder: %w", err)
	}
	if err := h.takeLock(); err != nil {
		return err
	}
	if err := os.Remove(wire.SocketFile); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("cannot remove a dead socket: %w", err)
	}
	ln, err := listen(wire.SocketFile)
	if err != nil {
		return fmt.Errorf("cannot listen in %s: %w", h.dir, err)
	}
	activity, err := openOwn(wire.ActivityFile)
	if err != nil {
		ln.Close()
		return fmt.Errorf("cannot write in the session's folder: %w", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ln != nil {
		h.ln.Close()
		h.activity.Close()
	}
	h.ln, h.activity = ln, activity
	h.wg.Go(func() { h.accept(ln) })
	if h.cur == nil {
		return nil
	}
	h.writeActivity(h.cur)
	err = h.writeJSON(wire.RecordFile, h.cur.rec)
	if h.cur.exit != nil && !h.cur.acked {
		err = errors.Join(err, h.writeJSON(wire.ExitFile, h.cur.exit))
	}
	return err
}

// openOwn opens a file of the session's folder for writing. It waits for no pipe, and refuses what has another name
// too.
func openOwn(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		st, ok := info.Sys().(*syscall.Stat_t)
		if !info.Mode().IsRegular() || !ok || st.Nlink != 1 {
			err = fmt.Errorf("%s is not a regular file with one name: remove it", name)
		}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// settled reports whether who looks for us in our folder finds our socket: whoever has the lock made it.
func (h *holder) settled() bool {
	_, err := os.Stat(h.dir + "/" + wire.SocketFile)
	return err == nil && proc.SameFile(h.lock, h.dir+"/"+wire.LockFile)
}

// lockNumber is where the lock's descriptor begins to be looked for: above what shells and programs use themselves, so
// that no child closes it by taking the number.
const lockNumber = 200

// takeLock locks the folder. The descriptor is inherited by the agent and all it starts: as long as one of them lives,
// the session is locked.
func (h *holder) takeLock() error {
	if h.lock > 0 && proc.SameFile(h.lock, wire.LockFile) {
		return nil // it is ours, and only the socket was lost
	}
	fd, err := proc.Lock(wire.LockFile, time.Now().Add(lockWait))
	if errors.Is(err, proc.ErrLocked) {
		return &wire.Failure{Cause: wire.Held, Message: "the session is locked by a process of " +
			"an earlier start"}
	}
	if err != nil {
		return err
	}
	high, err := proc.Raise(fd, lockNumber)
	if err != nil {
		return fmt.Errorf("cannot keep the session's lock: %w", err)
	}
	if h.lock > 0 {
		proc.Close(h.lock)
	}
	h.lock = high
	return nil
}

func (h *holder) writeJSON(name string, v wire.Encoder) error {
	if err := replace(name, append(v.AppendJSON(nil), '\n')); err != nil {
		return fmt.Errorf("cannot write %s in %s: %w", name, h.dir, err)
	}
	return nil
}

// replace writes a file of the session's folder by rename. It does not sync: the file has to survive processes, not
// a reboot.
func replace(name string, data []byte) error {
	tmp := wire.NewFile(name)
	os.Remove(tmp) // of a holder that was killed while it wrote
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(tmp, name)
	}
	if err != nil {
		os.Remove(tmp)
	}
	return err
}

// leave ends the holder. What it leaves in its folder is the exit, unless that is known already. Under h.mu.
func (h *holder) leave() {
	if h.leaving {
		return
	}
	h.leaving = true
	h.ln.Close()
	if h.cur == nil || h.cur.acked {
		h.removeFiles()
	}
	close(h.done)
}

// removeFiles removes the folder with what belongs there, and nothing else. If it was deleted and made anew by somebody
// else meanwhile, its lock is not ours and it is left alone.
func (h *holder) removeFiles() {
	if !proc.SameFile(h.lock, wire.LockFile) {
		return
	}
	for _, name := range wire.Files() {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			h.complain("cannot remove "+name, err)
		}
	}
	os.Remove(h.dir) // fails if somebody put a file of his own there, which is his
}

// writeActivity rewrites the activity record. Under h.mu.
func (h *holder) writeActivity(l *life) {
	a := wire.Activity{
		Alive:    l.exit == nil,
		Ready:    l.meta[wire.ReadyMark] == "1",
		Frozen:   l.frozen,
		PID:      int32(l.pid),
		Attached: int32(l.attached),
		Started:  l.rec.Born,
		Output:   l.output,
		Input:    l.input,
		Typed:    l.typed,
		Bytes:    l.out.end,
		Life:     wire.LifeHash(l.rec.ID),
		Draft:    l.draft.n > 0,
		Marked:   true,
		Drain:    wire.ReadDrain(l.meta),
	}
	b := a.Encode()
	if _, err := h.activity.WriteAt(b[:], 0); err != nil && !l.activity.complained {
		l.activity.complained = true
		h.complain("cannot write its activity", err)
	}
	l.activity.last = time.Now()
}

// activityEvery is how often the activity record is rewritten at most, except when more than a time changes.
const activityEvery = 100 * time.Millisecond

// touch makes a new time of output or input known before long. Under h.mu.
func (h *holder) touch(l *life, now time.Time) {
	if l.activity.waiting {
		return
	}
	wait := activityEvery - now.Sub(l.activity.last)
	if wait <= 0 {
		h.writeActivity(l)
		return
	}
	l.activity.waiting = true
	if l.activity.timer == nil {
		l.activity.timer = time.AfterFunc(wait, func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			l.activity.waiting = false
			if h.cur == l {
				h.writeActivity(l)
			}
		})
		return
	}
	l.activity.timer.Reset(wait)
}
