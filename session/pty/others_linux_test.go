package pty

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"gcity/internal/eventually"
	"gcity/internal/proc"
	"gcity/session/pty/internal/wire"
)

// A holder that runs the embedded program does not count as another version of gcity, whatever the program's path.
func TestOtherPrograms(t *testing.T) {
	t.Parallel()
	p := newImageProvider(t, t.TempDir())
	start(t, p, spec(p.files.city, "a", "sleep 1000"))
	data, err := image()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		image []byte
		want  int
	}{"the same build": {data, 0}, "another build": {data[1:], 1}, "no embedded program": {nil, 1}} {
		if others, err := OtherPrograms(p.files.city, "/bin/gcity", c.image); err != nil || len(others) != c.want {
			t.Errorf("%s: %v, %v", name, others, err)
		}
	}
}

// A holder in a container does not count as another version of gcity.
func TestOtherProgramsInContainers(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mkfifo(filepath.Join(dir, "hold"), 0o600); err != nil {
		t.Fatal(err)
	}
	others := func() int {
		all, err := OtherPrograms(dir, "/bin/gcity", nil)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, sessions := range all {
			n += len(sessions)
		}
		return n
	}
	holder := func(args ...string) {
		args = append(args, "cat", "hold", dir) // blocks until a process writes to the fifo
		cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
		cmd.Dir = dir
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = out.Close(); _ = cmd.Wait() })
	}
	if exec.CommandContext(t.Context(), "unshare", "--pid", "--fork", "true").Run() != nil {
		t.Skip("this user cannot create a PID namespace")
	}
	holder("unshare", "--pid", "--fork", "--kill-child")
	holder()
	eventually.True(t, "the holder outside the container", func() bool { return others() > 0 })
	if n := others(); n != 1 {
		t.Errorf("%d other programs", n)
	}
}

// The sweep of a lost session finds a process that has inherited the session's lock. It looks at the open files of
// other processes only if the lock is held, even if a process has made it a shared lock.
func TestSweepFindsTheLock(t *testing.T) {
	p := newProvider(t, t.TempDir())
	if err := os.MkdirAll(p.files.path("a", ""), 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := os.OpenFile(p.files.path("a", wire.LockFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	cmd := exec.Command("sleep", "1000")
	cmd.ExtraFiles = []*os.File{lock}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	for _, held := range []bool{false, true} {
		if held {
			if err := unix.Flock(int(lock.Fd()), unix.LOCK_SH); err != nil {
				t.Fatal(err)
			}
		}
		if left, err := p.files.sweepSession(wire.Record{Name: "a", ID: "X"}); err != nil || len(left) > 0 {
			t.Fatalf("held %v: left %v, %v", held, left, err)
		}
		st, err := proc.ReadStat(cmd.Process.Pid)
		if killed := err != nil || st.Exited(); killed != held {
			t.Errorf("held %v: killed %v", held, killed)
		}
	}
}
