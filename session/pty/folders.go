package pty

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"gcity/internal/disk"
	"gcity/internal/proc"
	"gcity/session"
	"gcity/session/pty/internal/holder"
	"gcity/session/pty/internal/wire"
)

// folders manages the folders of a city's sessions. Sessions move with their city; a copy at the old path is a
// different city.
type folders struct {
	city    string
	dir     string // path of the sessions' folder, as in the holders' command lines
	at      string // a path of that folder that stays valid if the city is moved
	boot    string
	observe bool
	log     *slog.Logger
}

func (f *folders) path(name, file string) string { return f.at + "/" + name + "/" + file }

func (f *folders) record(name string) (r wire.Record, err error) {
	data, err := disk.ReadFile(f.path(name, wire.LockFile))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return r, err
	}
	if r, ok, err := wire.DecodeRecord(data); ok || err != nil {
		return r, err
	}
	if data, err = disk.ReadFile(f.path(name, wire.OldRecordFile)); err != nil {
		return r, err
	}
	return r, json.Unmarshal(data, &r)
}

// exitRecord returns nil if no exit of the session is saved or the file is invalid. It returns an error only if a later
// call may succeed.
func (f *folders) exitRecord(rec wire.Record) (*session.Exit, error) {
	data, err := disk.ReadFile(f.path(rec.Name, wire.ExitFile))
	if proc.Exhausted(err) {
		return nil, fmt.Errorf("cannot read the exit of session %q: %w", rec.Name, err)
	}
	var x session.Exit
	if err != nil || json.Unmarshal(data, &x) != nil || x.ID != rec.ID {
		return nil, nil
	}
	return &x, nil
}

// saveExit saves an exit for a holder that has ended without saving it.
func (f *folders) saveExit(rec wire.Record, x *session.Exit) {
	if f.observe {
		return
	}
	if saved, err := f.exitRecord(rec); saved != nil || err != nil {
		return
	}
	data, err := json.Marshal(x)
	if err == nil {
		err = disk.Replace(f.path(rec.Name, wire.ExitFile), data, 0o600)
	}
	// if the folder does not exist, the exit was already recorded
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		f.log.Warn("cannot record the exit of a session", "session", rec.Name, "err", err)
	}
}

// openActivity maps the current holder's activity record. The caller must hold e.mu.
func (f *folders) openActivity(e *entry) {
	e.activity.close()
	record, err := f.mapActivity(e.name)
	if err != nil {
		f.log.Warn("cannot read a session's activity", "session", e.name, "err", err)
		return
	}
	e.activity = record
}

// updateActivity maps the activity record of a live session again if the holder has recreated its folder. It returns
// false if it cannot map the new record yet.
func (f *folders) updateActivity(e *entry) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.known || e.exit != nil || e.activity.current() {
		return true
	}
	record, err := f.mapActivity(e.name)
	if err != nil {
		return false
	}
	e.activity.close()
	e.activity = record
	return true
}

func (f *folders) mapActivity(name string) (activityRecord, error) {
	record, err := mapActivity(f.path(name, wire.LockFile))
	if errors.Is(err, errNoActivity) {
		record, err = mapActivity(f.path(name, wire.OldActivityFile))
	}
	return record, err
}

// removeFolder removes a session's files if no process holds the session's lock. It reports whether the lock was free.
func (f *folders) removeFolder(name string) bool {
	fd, err := proc.Lock(f.path(name, wire.LockFile), time.Now().Add(50*time.Millisecond))
	if errors.Is(err, os.ErrNotExist) {
		return true
	}
	if err != nil {
		f.log.Warn("cannot clean up a session's folder", "session", name, "err", err)
		return !errors.Is(err, proc.ErrLocked)
	}
	defer proc.Close(fd)
	// an interrupted removal must not leave a record without its exit
	err = disk.Remove(f.path(name, wire.OldRecordFile))
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	if err = errors.Join(err, holder.ClearRecord(fd)); err != nil {
		f.log.Warn("cannot clean up a session's folder", "session", name, "err", err)
	}
	for _, file := range wire.Files() {
		if err := disk.Remove(f.path(name, file)); err != nil && !errors.Is(err, os.ErrNotExist) {
			f.log.Warn("cannot clean up a session's folder", "session", name, "err", err)
		}
	}
	disk.Remove(f.at + "/" + name) // fails if the folder contains other files
	return true
}

func (f *folders) verifyHolder(name string, pid int, s wire.State) error {
	r := s.Record
	switch {
	case r.City != f.city && !f.isIn(pid, name):
		return fmt.Errorf("session %q belongs to the city %s", name, r.City)
	case r.Name != name:
		return fmt.Errorf("the holder in the folder for %q runs session %q", name, r.Name)
	case r.Boot != f.boot || r.Holder != pid || !proc.Lives(pid, r.HolderStart):
		return fmt.Errorf("the socket of %q belongs to an unknown process, pid %d", name, pid)
	}
	return nil
}

func (f *folders) lockHolders(name string) string {
	dev, ino, err := proc.Inode(f.path(name, wire.LockFile))
	pids, allErr := proc.All()
	if err = errors.Join(err, allErr); err != nil {
		return err.Error()
	}
	pids = slices.DeleteFunc(pids, func(pid int) bool { return !proc.HoldsFile(pid, dev, ino) })
	if len(pids) == 0 {
		return "a process of another user"
	}
	return fmt.Sprintf("pids %v", pids)
}

// sweepSession kills what a dead holder left: processes that hold its lock or have its ID in their environment.
func (f *folders) sweepSession(rec wire.Record) (left []int, err error) {
	lock := f.path(rec.Name, wire.LockFile)
	// a search for a process that has inherited the lock looks at all open files of the machine
	if !proc.IsLocked(lock) {
		lock = ""
	}
	killed, left, err := proc.Sweep(proc.Marked("GC_SESSION_ID="+rec.ID, lock),
		time.Now().Add(sweepTimeout))
	if killed > 0 || err != nil || len(left) > 0 {
		f.log.Warn("searched for remaining processes of a lost session", "session", rec.Name,
			"killed", killed,
			"left", left, "err", err)
	}
	return left, err
}

func (f *folders) stopped(rec wire.Record) bool {
	st, err := proc.ReadStat(rec.Holder)
	return err == nil && st.Start == rec.HolderStart && rec.Boot == f.boot &&
		(st.State == 'T' || st.State == 't')
}

// signalHolder does nothing if the PID now belongs to another process.
func (f *folders) signalHolder(rec wire.Record, sig syscall.Signal) {
	proc.Signal(rec.Holder, sig, func(pid int) bool {
		return rec.Boot == f.boot && proc.Lives(pid, rec.HolderStart)
	})
}

// restoreSockets sends SIGHUP to those of this city's holders that have lost their sockets, and waits until they
// recreate them. It skips holders that have not entered their folders, because they cannot handle SIGHUP yet.
func (f *folders) restoreSockets(ctx context.Context) error {
	if f.observe {
		return nil
	}
	pids, err := proc.All()
	if err != nil {
		return fmt.Errorf("cannot search for sessions: %w", err)
	}
	for _, pid := range pids {
		dir, ok := f.holderFolder(pid)
		if !ok {
			continue
		}
		if _, err := os.Stat(dir + "/" + wire.SocketFile); !errors.Is(err, os.ErrNotExist) {
			continue
		}
		f.log.Warn("the folder of a live session was deleted; asking its holder to create it again",
			"folder",
			dir, "pid", pid)
		if proc.Signal(pid, syscall.SIGHUP, func(pid int) bool {
			_, ok := f.holderFolder(pid)
			return ok
		}) {
			f.awaitSocket(ctx, dir)
		}
	}
	return nil
}

// holderFolder returns the session folder of one of this city's holders. ok is false before the holder has entered its
// folder.
func (f *folders) holderFolder(pid int) (dir string, ok bool) {
	args := proc.Args(pid)
	if len(args) != 3 || args[1] != "hold" || !strings.HasPrefix(args[2], f.dir+"/") ||
		!proc.SharesPIDs(pid) { // a holder in a pod on this machine can have the same arguments
		return "", false
	}
	cwd, err := os.Readlink(cwdOf(pid))
	if err != nil || cwd == startDir {
		return "", false
	}
	name := args[2][len(f.dir)+1:]
	return args[2], !strings.Contains(name, "/") && !f.inOtherCity(cwd, name)
}

func (f *folders) awaitSocket(ctx context.Context, dir string) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		if conn, err := dial(dir, wire.SocketFile); err == nil {
			conn.Close()
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			f.log.Error("a holder did not recreate its socket after SIGHUP", "folder", dir)
			return
		}
	}
}

func cwdOf(pid int) string { return "/proc/" + strconv.Itoa(pid) + "/cwd" }

// isIn reports whether a process's working folder is the folder of a session, even if the city was moved.
func (f *folders) isIn(pid int, name string) bool {
	return same(cwdOf(pid), f.at+"/"+name)
}

// movedHere marks a session as drifted if the city was moved after its start, because its agent uses the old path.
func (f *folders) movedHere(s wire.State) wire.State {
	r := &s.Record
	if r.City == f.city {
		return s
	}
	f.log.Warn("the city was moved after this session was started", "session", r.Name,
		"city", r.City)
	var print session.Fingerprint
	if json.Unmarshal(r.Fingerprint, &print) != nil || print.Fields == nil {
		print.Fields = map[string]string{}
	}
	print.Sum, print.Fields["folder "+r.City] = "moved", ""
	r.City = f.city
	r.Fingerprint, _ = json.Marshal(print) // cannot fail for strings
	return s
}

// inOtherCity reports whether a session's folder is or was in another city. cwd is the folder's path in /proc.
func (f *folders) inOtherCity(cwd, name string) bool {
	inside, ok := strings.CutPrefix(f.dir, f.city)
	at, found := strings.CutSuffix(strings.TrimSuffix(cwd, " (deleted)"), inside+"/"+name)
	if !ok || !found || at == "" {
		return false
	}
	if _, err := os.Stat(at); err != nil {
		return false
	}
	state := filepath.Dir(inside) // the state folder may be a symbolic link
	return !same(at, f.city) && !same(at+state, f.city+state)
}

func same(a, b string) bool {
	is, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(is, other)
}

// movedAway reports whether the holder in rec belongs to a city that was at this path before it was moved.
func (f *folders) movedAway(rec wire.Record) bool {
	if rec.Boot != f.boot || proc.Ended(rec.Holder, rec.HolderStart) {
		return false
	}
	cwd, err := os.Readlink(cwdOf(rec.Holder))
	return err == nil && f.inOtherCity(cwd, rec.Name)
}
