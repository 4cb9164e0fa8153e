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
	"gcity/session/pty/internal/wire"
)

// folders are the folders of a city's sessions. A city is its folder: one that is moved takes its sessions along. A
// copy that is left at the old place is another city.
type folders struct {
	city    string
	dir     string // of the sessions, as holders are told
	at      string // the same folder, wherever it is moved
	boot    string // the ID of this boot
	observe bool   // see Options.Observe
	log     *slog.Logger
}

func (f *folders) path(name, file string) string { return f.at + "/" + name + "/" + file }

func (f *folders) record(name string) (r wire.Record, err error) {
	data, err := disk.ReadFile(f.path(name, wire.RecordFile))
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(data, &r)
}

// exitRecord is the exit that the holder wrote before it ended; nil if it wrote none for this life.
func (f *folders) exitRecord(rec wire.Record) *session.Exit {
	data, err := disk.ReadFile(f.path(rec.Name, wire.ExitFile))
	if err != nil {
		return nil
	}
	var x session.Exit
	if json.Unmarshal(data, &x) != nil || x.ID != rec.ID {
		return nil
	}
	return &x
}

// openActivity maps the activity record, which is a new file with each holder. Under e.mu.
func (f *folders) openActivity(e *entry) {
	e.activity.close()
	record, err := mapActivity(f.path(e.name, wire.ActivityFile))
	if err != nil {
		f.log.Warn("cannot read a session's activity", "session", e.name, "err", err)
		return
	}
	e.activity = record
}

// removeFolder removes what a session left on disk, unless a process holds its lock. It reports whether nobody did.
func (f *folders) removeFolder(name string) bool {
	fd, err := proc.Lock(f.path(name, wire.LockFile), time.Now().Add(50*time.Millisecond))
	if errors.Is(err, os.ErrNotExist) {
		return true
	}
	if err != nil {
		f.log.Warn("cannot clear up a session's folder", "session", name, "err", err)
		return !errors.Is(err, proc.ErrLocked)
	}
	defer proc.Close(fd)
	for _, file := range wire.Files() {
		if err := disk.Remove(f.path(name, file)); err != nil && !errors.Is(err, os.ErrNotExist) {
			f.log.Warn("cannot clear up a session's folder", "session", name, "err", err)
		}
	}
	disk.Remove(f.at + "/" + name) // fails if another file is there
	return true
}

// recognise makes sure that a holder is who its record says, and one of this city.
func (f *folders) recognise(name string, pid int, s wire.State) error {
	r := s.Record
	switch {
	case r.City != f.city && !f.isIn(pid, name):
		return fmt.Errorf("session %q belongs to the city %s", name, r.City)
	case r.Name != name:
		return fmt.Errorf("the holder in the folder of %q holds %q", name, r.Name)
	case r.Boot != f.boot || r.Holder != pid || !proc.Lives(pid, r.HolderStart):
		return fmt.Errorf("the socket of %q is served by a stranger, pid %d", name, pid)
	}
	return nil
}

// lockers names the processes that have a session's lock open.
func (f *folders) lockers(name string) string {
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

// sweepSession ends what is left of a session whose holder is dead: what carries its id in the environment, and
// what has its lock open.
func (f *folders) sweepSession(rec wire.Record) (left []int) {
	killed, left, err := proc.Sweep(proc.Marked("GC_SESSION_ID="+rec.ID,
		f.path(rec.Name, wire.LockFile)), time.Now().Add(sweepTimeout))
	if killed > 0 || err != nil || len(left) > 0 {
		f.log.Warn("swept what a lost session left behind", "session", rec.Name, "killed", killed,
			"left", left, "err", err)
	}
	return left
}

// stopped reports whether a signal or a debugger keeps a holder from running.
func (f *folders) stopped(rec wire.Record) bool {
	st, err := proc.ReadStat(rec.Holder)
	return err == nil && st.Start == rec.HolderStart && rec.Boot == f.boot &&
		(st.State == 'T' || st.State == 't')
}

// signalHolder signals the holder of a record unless the pid belongs to another process by now.
func (f *folders) signalHolder(rec wire.Record, sig syscall.Signal) {
	proc.Signal(rec.Holder, sig, func(pid int) bool {
		return rec.Boot == f.boot && proc.Lives(pid, rec.HolderStart)
	})
}

// rouse finds holders of this city whose socket is gone, because somebody deleted the folder of the sessions, and tells
// them to make it anew. One that has not yet entered its folder is about to make its socket, and not ready for signals.
func (f *folders) rouse(ctx context.Context) error {
	if f.observe {
		return nil
	}
	pids, err := proc.All()
	if err != nil {
		return fmt.Errorf("cannot look for sessions: %w", err)
	}
	for _, pid := range pids {
		dir, ok := f.holds(pid)
		if !ok {
			continue
		}
		if _, err := os.Stat(dir + "/" + wire.SocketFile); !errors.Is(err, os.ErrNotExist) {
			continue
		}
		f.log.Warn("the folder of a living session is gone: its holder creates it again", "folder",
			dir, "pid", pid)
		if proc.Signal(pid, syscall.SIGHUP, func(pid int) bool {
			_, ok := f.holds(pid)
			return ok
		}) {
			f.awaitSocket(ctx, dir)
		}
	}
	return nil
}

// holds reports whether a process is a holder of this city that has entered its folder, and of which folder. It catches
// HUP since before that.
func (f *folders) holds(pid int) (dir string, ok bool) {
	args := proc.Args(pid)
	if len(args) != 3 || args[1] != "hold" || !strings.HasPrefix(args[2], f.dir+"/") {
		return "", false
	}
	cwd, err := os.Readlink(cwdOf(pid))
	if err != nil || cwd == bornIn {
		return "", false
	}
	name := args[2][len(f.dir)+1:]
	return args[2], !strings.Contains(name, "/") && !f.elsewhere(cwd, name)
}

// awaitSocket gives a holder a moment to listen again.
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
			f.log.Error("a holder did not listen again after SIGHUP", "folder", dir)
			return
		}
	}
}

func cwdOf(pid int) string { return "/proc/" + strconv.Itoa(pid) + "/cwd" }

// isIn reports whether a holder lives in a folder of this city, wherever that was when it began: a folder that is
// moved takes its sessions along.
func (f *folders) isIn(pid int, name string) bool {
	return same(cwdOf(pid), f.at+"/"+name)
}

// movedHere makes a session of a city that was moved one of the city where it is now. Its agent was told of another
// folder, so it differs from what is wanted.
func (f *folders) movedHere(s wire.State) wire.State {
	r := &s.Record
	if r.City == f.city {
		return s
	}
	f.log.Warn("a session was begun where the city was before it was moved", "session", r.Name,
		"city", r.City)
	var print session.Fingerprint
	if json.Unmarshal(r.Fingerprint, &print) != nil || print.Fields == nil {
		print.Fields = map[string]string{}
	}
	print.Sum, print.Fields["folder "+r.City] = "moved", ""
	r.City = f.city
	r.Fingerprint, _ = json.Marshal(print) // strings only: it cannot fail
	return s
}

// elsewhere reports whether a session's folder, as /proc names it, is in another city, or was until somebody
// deleted it.
func (f *folders) elsewhere(cwd, name string) bool {
	inside, ok := strings.CutPrefix(f.dir, f.city)
	at, found := strings.CutSuffix(strings.TrimSuffix(cwd, " (deleted)"), inside+"/"+name)
	if !ok || !found || at == "" {
		return false
	}
	if _, err := os.Stat(at); err != nil { // what is named is no more, or not to be seen from here
		return false
	}
	state := filepath.Dir(inside) // may be a link
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

// wentAway reports whether the holder of a record lives in the city that was here and was moved.
func (f *folders) wentAway(rec wire.Record) bool {
	if rec.Boot != f.boot || !proc.Lives(rec.Holder, rec.HolderStart) {
		return false
	}
	cwd, err := os.Readlink(cwdOf(rec.Holder))
	return err == nil && f.elsewhere(cwd, rec.Name)
}
