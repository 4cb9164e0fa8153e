package hungfs

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

const inner = "GCITY_TEST_HUNGFS"

// InNamespace runs the calling test again in a child process with its own mount namespace. It returns true only in the
// child; in the parent, the test must return. The test must not be a subtest.
func InNamespace(t *testing.T) bool {
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
		t.Skipf("cannot create a mount namespace: %v", err)
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	case strings.Contains(string(out), "--- SKIP"):
		t.Skipf("%s", out)
	}
	return false
}

// Mount mounts a file system on which system calls block until release is called, and then fail. If unkillable is set,
// a blocked process cannot be killed, and blocked is closed when the first call blocks.
func Mount(t *testing.T, unkillable bool) (dir string, blocked <-chan struct{}, release func()) {
	t.Helper()
	dir = t.TempDir()
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skipf("cannot mount a FUSE file system: %v", err)
	}
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=0,group_id=0", fd)
	if err := unix.Mount("hungfs", dir, "fuse", 0, options); err != nil {
		unix.Close(fd)
		t.Skipf("cannot mount a FUSE file system: %v", err)
	}
	f := os.NewFile(uintptr(fd), "/dev/fuse") // the runtime can poll the file only after the mount
	first := make(chan struct{})
	var serving sync.WaitGroup
	if unkillable {
		serving.Go(func() { serve(f, first) })
	}
	var once sync.Once
	release = func() {
		once.Do(func() {
			f.Close() // aborts the connection, so that blocked calls fail
			serving.Wait()
		})
	}
	t.Cleanup(func() {
		release()
		if err := unix.Unmount(dir, unix.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir, first, release
}

// serve makes blocked processes unkillable: it reads their requests and does not reply. The kernel can kill a process
// only before its request is read.
func serve(f *os.File, blocked chan<- struct{}) {
	// opcode of the handshake; lengths of the header and of the reply
	const handshake, header, answer = 26, 16, 64
	buf := make([]byte, 1<<16)
	for first := true; ; {
		n, err := f.Read(buf)
		if err != nil || n < 40 {
			return
		}
		if binary.NativeEndian.Uint32(buf[4:]) != handshake {
			if first {
				first = false
				close(blocked)
			}
			continue
		}
		out := make([]byte, header+answer)
		binary.NativeEndian.PutUint32(out, header+answer)
		copy(out[8:16], buf[8:16])                           // request ID
		binary.NativeEndian.PutUint32(out[header:], 7)       // major version
		binary.NativeEndian.PutUint32(out[header+4:], 31)    // minor version
		binary.NativeEndian.PutUint32(out[header+20:], 4096) // max_write
		if _, err := f.Write(out); err != nil {
			return
		}
	}
}
