package pty

import (
	"errors"
	"io"
	"os"
	"runtime/debug"
	"syscall"

	"gcity/internal/disk"
	"gcity/session/pty/internal/wire"
)

// activityRecord is a session's activity record, mapped into memory. Reading memory is about ten times cheaper than a
// system call.
type activityRecord struct {
	page []byte
	path string      // of the file
	file os.FileInfo // identifies the file
}

var errNoActivity = errors.New("the file contains no activity record")

func mapActivity(path string) (activityRecord, error) {
	f, err := disk.Open(path)
	if err != nil {
		return activityRecord{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return activityRecord{}, err
	}
	if info.Size() == 0 {
		return activityRecord{}, errNoActivity
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return activityRecord{}, err
	}
	var page []byte
	ctlErr := raw.Control(func(fd uintptr) {
		page, err = syscall.Mmap(int(fd), 0, wire.ActivitySize, syscall.PROT_READ,
			syscall.MAP_SHARED)
	})
	if ctlErr != nil {
		return activityRecord{}, ctlErr
	}
	return activityRecord{page, path, info}, err
}

// current reports whether the mapped file is still at its path.
func (r activityRecord) current() bool {
	if r.page == nil {
		return false
	}
	now, err := os.Stat(r.path)
	return err == nil && os.SameFile(now, r.file)
}

func (r activityRecord) read() (a wire.Activity, ok bool) {
	var buf [wire.ActivitySize]byte
	if copyMapped(buf[:], r.page) != nil {
		return a, false
	}
	return wire.DecodeActivity(buf[:])
}

// copyMapped copies from mapped memory, and returns an error if the file was truncated. The kernel then sends SIGBUS,
// which debug.SetPanicOnFault turns into a panic.
func copyMapped(to, from []byte) (err error) {
	if len(from) < len(to) {
		return io.ErrUnexpectedEOF
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if fault := recover(); fault != nil {
			err = io.ErrUnexpectedEOF
		}
	}()
	copy(to, from)
	return nil
}

func (r *activityRecord) close() {
	if r.page != nil {
		_ = syscall.Munmap(r.page) // fails only if nothing is mapped
		r.page = nil
	}
}
