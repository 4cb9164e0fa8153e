package holder

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"gcity/internal/proc"
	"gcity/session/pty/internal/wire"
)

// lockWait is how long to wait for the lock while the previous holder is exiting.
const lockWait = 500 * time.Millisecond

// settle prepares the session's folder. Only the main goroutine may call it.
func (h *holder) settle() error {
	// do not create the parents: they must not appear at the old path after a move
	for _, dir := range []string{filepath.Dir(h.dir), h.dir} {
		if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return fmt.Errorf("cannot create the session's folder: %w", err)
		}
	}
	if err := os.Chdir(h.dir); err != nil {
		return fmt.Errorf("cannot enter the session's folder: %w", err)
	}
	if err := h.takeLock(); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	var stateErr error
	// first, because controllers read the state as soon as they can connect
	if l := h.current; l != nil {
		h.writeActivity(l)
		if !l.acked {
			stateErr = h.lock.writeRecord(l.rec)
		}
		if l.exit != nil && !l.acked {
			stateErr = errors.Join(stateErr, h.writeJSON(wire.ExitFile, l.exit))
		}
	}
	if err := remove(wire.SocketFile); err != nil {
		return fmt.Errorf("cannot remove an old socket: %w", err)
	}
	ln, err := listen(wire.SocketFile)
	if err != nil {
		return fmt.Errorf("cannot listen on the socket in %s: %w", h.dir, err)
	}
	if h.ln != nil {
		h.ln.Close()
	}
	h.ln = ln
	if h.current != nil { // otherwise, run starts accept
		h.wg.Go(func() { h.accept(ln) })
	}
	return stateErr
}

func (h *holder) settled() bool {
	_, err := os.Stat(h.dir + "/" + wire.SocketFile)
	return err == nil && proc.SameFile(h.lock.fd, h.dir+"/"+wire.LockFile)
}

// lockNumber is the lowest file descriptor for the lock. Programs use lower ones, so they do not close it by accident.
const lockNumber = 200

// takeLock locks the folder. The agent's processes inherit the descriptor, so the lock is held while any of them is
// alive.
func (h *holder) takeLock() error {
	if h.lock.fd > 0 && proc.SameFile(h.lock.fd, wire.LockFile) {
		return nil // this holder has lost only its socket
	}
	fd, err := proc.Lock(wire.LockFile, time.Now().Add(lockWait))
	if errors.Is(err, proc.ErrLocked) {
		return &wire.Failure{Cause: wire.Held, Message: "a process from an earlier start still " +
			"holds the session's lock"}
	}
	if err != nil {
		return err
	}
	high, err := proc.Raise(fd, lockNumber)
	if err != nil {
		return fmt.Errorf("cannot move the session's lock to another file descriptor: %w", err)
	}
	lock, err := openLockFile(high)
	if err != nil {
		proc.Close(high)
		return fmt.Errorf("cannot use the lock file in %s: %w", h.dir, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.lock.fd > 0 {
		proc.Close(h.lock.fd)
	}
	h.lock = lock
	return nil
}

func (h *holder) writeJSON(name string, v wire.Encoder) error {
	if err := replace(name, append(v.AppendJSON(nil), '\n')); err != nil {
		return fmt.Errorf("cannot write %s in %s: %w", name, h.dir, err)
	}
	return nil
}

// replace does not sync the file, which need not survive a reboot.
func replace(name string, data []byte) error {
	tmp := wire.NewFile(name)
	_ = remove(tmp) // a holder that was killed during a write leaves this file
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = repeat(func() error { return unix.Rename(tmp, name) })
	}
	if err != nil {
		_ = remove(tmp)
	}
	return err
}

// remove makes only one system call, unlike os.Remove.
func remove(file string) error {
	err := repeat(func() error { return unix.Unlink(file) })
	if err != nil && err != unix.ENOENT {
		return &os.PathError{Op: "unlink", Path: file, Err: err}
	}
	return nil
}

// repeat makes a system call again if a signal interrupts it, which happens on some network file systems.
func repeat(call func() error) error {
	for {
		if err := call(); err != unix.EINTR {
			return err
		}
	}
}

// leave makes the holder exit, but keeps the session's files if the controller has not recorded the session's exit yet.
// The caller must hold h.mu.
func (h *holder) leave() {
	if h.leaving {
		return
	}
	h.leaving = true
	if l := h.current; l != nil && !l.acked && l.exit != nil {
		h.saveExit(l)
	}
	h.ln.Close()
	if h.current == nil || h.current.acked {
		h.removeFiles()
	}
	close(h.done)
}

// removeFiles removes the session's files and its folder, unless another holder has replaced the folder. The caller
// must hold h.mu.
func (h *holder) removeFiles() {
	if !proc.SameFile(h.lock.fd, wire.LockFile) {
		return
	}
	// first, because an interrupted removal must not leave a record without its exit
	if err := removeRecord(&h.lock); err != nil {
		h.logError("cannot remove the session's record", err)
	}
	for _, name := range wire.Files() {
		if err := remove(name); err != nil {
			h.logError("cannot clean up the session's folder", err)
		}
	}
	// fails if the folder contains other files
	_ = repeat(func() error { return unix.Rmdir(h.dir) })
}

// removeRecord removes the session's record. The caller must hold h.mu.
func removeRecord(f *lockFile) error {
	return errors.Join(remove(wire.OldRecordFile), f.clear())
}

// writeActivity writes the activity record. The caller must hold h.mu.
func (h *holder) writeActivity(l *life) {
	a := wire.Activity{
		Alive:    l.exit == nil,
		Ready:    l.meta[wire.ReadyMark] == "1",
		Frozen:   l.frozen,
		PID:      int32(l.pid),
		Attached: int32(len(l.attached)),
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
	if err := h.lock.write(b[:], 0); err != nil && !l.activity.complained {
		l.activity.complained = true
		h.logError("cannot write the activity record", err)
	}
	l.activity.last = time.Now()
}

// activityEvery is the minimum interval between writes of the activity record if only its times change.
const activityEvery = 100 * time.Millisecond

// touch writes the activity record, or schedules the write. The caller must hold h.mu.
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
			if h.current == l {
				h.writeActivity(l)
			}
		})
		return
	}
	l.activity.timer.Reset(wait)
}
