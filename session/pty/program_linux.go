package pty

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"gcity/internal/proc"
)

// program is the executable for holders: the embedded image or, if that cannot be executed, binary.
type program struct {
	image  []byte
	dir    string
	binary string
	log    *slog.Logger

	mu sync.Mutex
	// sources that have not failed, best first
	ways []func() (path string, err error)
	path string
	mem  int // file descriptor of the memory file; 0 = none
}

func (p *program) execute(
	args []string, attr *syscall.ProcAttr,
) (pid int, embedded bool, err error) {
	for {
		path, last := p.source()
		pid, err = syscall.ForkExec(path, args, attr)
		if err == nil || last || !isForbidden(err) {
			return pid, !last, err
		}
		p.giveUp(path, err)
	}
}

func isForbidden(err error) bool {
	return errors.Is(err, unix.EACCES) || errors.Is(err, unix.EPERM) ||
		errors.Is(err, unix.ENOENT) ||
		errors.Is(err, unix.ENOEXEC) || errors.Is(err, unix.ENOSYS)
}

func (p *program) source() (path string, last bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ways == nil && p.image != nil {
		p.ways = []func() (string, error){p.inMemory, p.inFile}
	}
	for len(p.ways) > 0 && p.path == "" {
		var err error
		if p.path, err = p.ways[0](); err != nil {
			p.log.Debug("cannot prepare the embedded holder; trying an alternative",
				"error", err)
			p.ways, p.path = p.ways[1:], ""
		}
	}
	if len(p.ways) == 0 {
		p.image = nil
		return p.binary, true
	}
	return p.path, false
}

// giveUp removes a source that cannot be executed, unless another start has already removed it.
func (p *program) giveUp(path string, cause error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.path != path {
		return
	}
	p.log.Debug("cannot execute the embedded holder; trying an alternative", "path", path,
		"error", cause)
	p.ways, p.path = p.ways[1:], ""
}

func (p *program) inMemory() (string, error) {
	fd, err := unix.MemfdCreate("gcity-hold", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_EXEC)
	if errors.Is(err, unix.EINVAL) { // MFD_EXEC requires Linux 6.3
		fd, err = unix.MemfdCreate("gcity-hold", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if err != nil {
		return "", fmt.Errorf("cannot create a memory file: %w", err)
	}
	const seals = unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE
	if err = writeAll(fd, p.image); err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
	}
	// The file descriptor must be higher than those that ForkExec creates in the child.
	high, dupErr := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 64)
	unix.Close(fd)
	if err = errors.Join(err, dupErr); err != nil {
		if dupErr == nil {
			unix.Close(high)
		}
		return "", fmt.Errorf("cannot create a memory file: %w", err)
	}
	p.mem = high
	return fmt.Sprintf("/proc/self/fd/%d", high), nil
}

func writeAll(fd int, data []byte) error {
	for len(data) > 0 {
		n, err := unix.Write(fd, data)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// inFile writes the image to a file and returns its path. It reuses an existing file with the same content.
func (p *program) inFile() (string, error) {
	sum := sha256.Sum256(p.image)
	path := p.dir + "/gcity-hold-" + hex.EncodeToString(sum[:6])
	if sameContent(path, p.image) {
		return path, nil
	}
	f, err := os.CreateTemp(p.dir, ".gcity-hold-*")
	if err != nil {
		return "", err
	}
	_, err = f.Write(p.image)
	if err = errors.Join(err, f.Chmod(0o700), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return path, nil
}

func sameContent(path string, want []byte) bool {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Mode()&fs.ModePerm != 0o700 ||
		info.Size() != int64(len(want)) {
		return false
	}
	there, err := io.ReadAll(io.LimitReader(f, int64(len(want))+1))
	return err == nil && string(there) == string(want)
}

// close closes the memory file. Running holders do not need it.
func (p *program) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mem > 0 {
		proc.Close(p.mem)
		p.mem, p.path, p.ways = 0, "", nil
	}
}
