package mute

import (
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

const inner = "GCITY_TEST_MUTE"

// Apart runs a test once more, in a process that may mount what nobody else sees. It is true there; where it is
// false that run is over, its verdict is the test's, and the test is to return. The test is not a subtest.
func Apart(t *testing.T) bool {
	t.Helper()
	if os.Getenv(inner) != "" {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.timeout=1m")
	cmd.Env = append(os.Environ(), inner+"=1")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	switch {
	case cmd.Process == nil:
		t.Skipf("no process with mounts of its own: %v", err)
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	case strings.Contains(string(out), "--- SKIP"):
		t.Skipf("%s", out)
	}
	return false
}

// Folder is a folder below which nothing answers, until free is called: then all who wait hear an error. Those who wait
// can be killed, and with deaf they cannot be. asked is closed when the first of the deaf kind waits.
func Folder(t *testing.T, deaf bool) (dir string, asked <-chan struct{}, free func()) {
	t.Helper()
	dir = t.TempDir()
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skipf("no file systems of one's own: %v", err)
	}
	if err := unix.Mount("mute", dir, "fuse", 0,
		fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", fd)); err != nil {
		unix.Close(fd)
		t.Skipf("no file systems of one's own: %v", err)
	}
	f := os.NewFile(uintptr(fd), "/dev/fuse") // only now it can be waited for
	heard := make(chan struct{})
	var serving sync.WaitGroup
	if deaf {
		serving.Go(func() { listen(f, heard) })
	}
	var once sync.Once
	free = func() {
		once.Do(func() {
			f.Close() // ends the file system
			serving.Wait()
		})
	}
	t.Cleanup(func() {
		free()
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir, heard, free
}

// listen takes requests and answers the first alone, the greeting: who waits for an answer that is on its way, to all
// appearances, is not interrupted by the kernel.
func listen(f *os.File, heard chan<- struct{}) {
	const greeting, header, answer = 26, 16, 64 // opcode; lengths
	buf := make([]byte, 1<<16)
	for first := true; ; {
		n, err := f.Read(buf)
		if err != nil || n < 40 {
			return
		}
		if binary.NativeEndian.Uint32(buf[4:]) != greeting {
			if first {
				first = false
				close(heard)
			}
			continue
		}
		out := make([]byte, header+answer)
		binary.NativeEndian.PutUint32(out, header+answer)
		copy(out[8:16], buf[8:16])                           // whom it answers
		binary.NativeEndian.PutUint32(out[header:], 7)       // version
		binary.NativeEndian.PutUint32(out[header+4:], 31)    // of it
		binary.NativeEndian.PutUint32(out[header+20:], 4096) // longest write
		if _, err := f.Write(out); err != nil {
			return
		}
	}
}
