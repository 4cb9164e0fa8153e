package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"gcity/internal/disk"
)

// mknod creates an empty file of mode 0600 without opening it.
func mknod(path string) error {
	if err := syscall.Mknod(path, syscall.S_IFREG|0o600, 0); err != nil {
		return &os.PathError{Op: "create", Path: path, Err: err}
	}
	return nil
}

func remedy(folder string, err error) string {
	wrong := syscall.Access(folder, 2|1) // W_OK|X_OK
	var st syscall.Statfs_t
	// if the disk is full, SQLite might report only "I/O error"
	full := syscall.Statfs(folder, &st) == nil && st.Blocks > 0 &&
		st.Bavail*uint64(st.Bsize) < 1<<20
	switch {
	case noSpace(err), full && code(err) == codeIOErr:
		return "the disk is full: free some space and try again"
	case errors.Is(wrong, syscall.EROFS):
		return "its file system is read-only: mount it read-write with `mount -o remount,rw`"
	case errors.Is(wrong, syscall.EACCES) && disk.Own(folder) == nil:
		return fmt.Sprintf("run `chmod u+rwx %s`", folder)
	case errors.Is(wrong, syscall.EACCES):
		return fmt.Sprintf("user %d cannot write to %s: change its owner with `chown`",
			os.Geteuid(), folder)
	}
	if code(err) == codeIOErr {
		return "the disk or its file system may be broken: see `dmesg`; save readable work with " +
			"`gcity bead export FILE`"
	}
	for _, end := range []string{"", "-wal", "-shm"} {
		if file := filepath.Join(folder, File+end); disk.Foreign(file) {
			return fmt.Sprintf("another user owns %s: change its owner with `chown`", file)
		}
	}
	return "check the permissions of " + folder + " and of the files in it"
}

// frozen reports whether a database must be opened as immutable, because its file system is read-only and it has no
// write-ahead log. SQLite can read other databases there without assuming that no process changes the file.
func frozen(path string) bool {
	folder := filepath.Dir(path)
	if !errors.Is(syscall.Access(folder, 2), syscall.EROFS) { // W_OK
		return false
	}
	if mode, err := journalMode(folder); err != nil || mode != "wal" {
		return false
	}
	for _, end := range []string{"-wal", "-journal"} {
		if _, err := os.Lstat(path + end); !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return true
}

func noSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}

// A write-ahead log needs shared memory, which network file systems do not support.
func journalMode(folder string) (string, error) {
	var st syscall.Statfs_t
	if err := syscall.Statfs(folder, &st); err != nil {
		return "", fmt.Errorf("cannot determine the file system type of %s: %w", folder, err)
	}
	if remote(int64(st.Type)) {
		return "delete", nil
	}
	return "wal", nil
}

// remote includes FUSE, because its files might be on another machine.
func remote(kind int64) bool {
	switch uint32(kind) {
	case 0x6969, // nfs
		0x517b, 0xff534d42, 0xfe534d42, // smb, cifs, smb2
		0x65735546,             // fuse
		0x01021997,             // 9p
		0x5346414f, 0x6b414653, // afs
		0x00c36400, // ceph
		0x0bd00bd0, // lustre
		0x47504653, // gpfs
		0x01161970, // gfs2
		0x7461636f, // ocfs2
		0x73757245, // coda
		0x564c,     // ncp
		0x786f4256, // vboxsf
		0xaad7aaea: // panfs
		return true
	}
	return false
}
