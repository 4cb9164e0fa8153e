package holder

import (
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"

	"gcity/session/pty/internal/wire"
)

// lockFile is the session's lock file, which also contains the session's state: see wire.Location. Only the main
// goroutine replaces it, with holder.mu held. All methods require holder.mu.
type lockFile struct {
	fd      int
	current wire.Location
	damaged bool
}

// openLockFile reads the location of the record from a lock file. It rejects a file that belongs to another user,
// except root. It also rejects a file with several hard links, because a write would change another file.
func openLockFile(fd int) (f lockFile, err error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return f, err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFREG || st.Nlink != 1 {
		return f, errors.New("it is not a regular file with a single hard link: remove it")
	}
	if int(st.Uid) != os.Geteuid() && st.Uid != 0 {
		return f, fmt.Errorf("it belongs to user %d: remove it", st.Uid)
	}
	if st.Mode&0o777 != 0o600 {
		if err := unix.Fchmod(fd, 0o600); err != nil {
			return f, fmt.Errorf("cannot make it private: %w", err)
		}
	}
	f.fd = fd
	if st.Size == 0 {
		return f, nil
	}
	var b [wire.LocationSize]byte
	n, err := unix.Pread(fd, b[:], wire.LocationAt)
	if err != nil {
		return f, fmt.Errorf("cannot read it: %w", err)
	}
	var ok bool
	f.current, ok = wire.DecodeLocation(b[:n], st.Size)
	f.damaged = !ok
	return f, nil
}

func (f *lockFile) write(data []byte, at int64) error {
	for len(data) > 0 {
		n, err := unix.Pwrite(f.fd, data, at)
		if err == unix.EINTR {
			continue
		}
		if err == nil && n == 0 {
			err = io.ErrShortWrite
		}
		if err != nil {
			return &os.PathError{Op: "write", Path: wire.LockFile, Err: err}
		}
		data, at = data[n:], at+int64(n)
	}
	return nil
}

func (f *lockFile) writeRecord(r wire.Record) error {
	data := r.AppendJSON(nil)
	next := f.current.Next(len(data))
	if err := f.write(data, int64(next.At)); err != nil {
		return err
	}
	return f.setCurrent(next)
}

// ClearRecord removes the record from a locked lock file. It fails if openLockFile rejects the file.
func ClearRecord(fd int) error {
	f, err := openLockFile(fd)
	if err != nil {
		return err
	}
	return f.clear()
}

func (f *lockFile) clear() error {
	if f.current.Len == 0 && !f.damaged {
		return nil
	}
	return f.setCurrent(wire.Location{})
}

func (f *lockFile) setCurrent(l wire.Location) error {
	b := l.Encode()
	err := f.write(b[:], wire.LocationAt)
	if err == nil {
		f.current = l
	}
	return err
}
