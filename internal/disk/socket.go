package disk

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// maxSocket is the maximum length of a unix socket's path.
const maxSocket = 107

// SocketPath returns the address for a socket at path. If path is too long, the address is a short path in the user's
// runtime folder, and a file next to path contains that address.
func SocketPath(path string) (string, error) {
	if len(path) <= maxSocket {
		if err := RemoveAny(pointer(path)); err != nil {
			return "", err
		}
		return path, nil
	}
	dir := runtimeDir()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("cannot create a folder for the socket of %s: %w", path, err)
	}
	if err := ownFolder(dir); err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(path))
	short := filepath.Join(dir, hex.EncodeToString(sum[:10])+".sock")
	if len(short) > maxSocket {
		return "", fmt.Errorf("the socket path %s is longer than the %d bytes that the system "+
			"allows; set XDG_RUNTIME_DIR to a folder of your own with a shorter path", short,
			maxSocket)
	}
	return short, Replace(pointer(path), []byte(short+"\n"), 0o600)
}

// FindSocket returns the address of the socket at path; see SocketPath. The socket might not exist.
func FindSocket(path string) string {
	at, err := findSocket(path)
	if err != nil {
		return path
	}
	return at
}

// findSocket fails with fs.ErrNotExist if path is too long and no socket was created for it.
func findSocket(path string) (string, error) {
	if len(path) <= maxSocket {
		return path, nil
	}
	data, err := ReadFile(pointer(path))
	return strings.TrimSpace(string(data)), err
}

func pointer(path string) string { return path + ".path" }

// RuntimeDir returns $XDG_RUNTIME_DIR, or "" if it is not an existing folder of this user. After su, for example, the
// variable can still name another user's folder.
func RuntimeDir(getenv func(string) string) string {
	dir := getenv("XDG_RUNTIME_DIR")
	info, err := os.Stat(dir)
	if err != nil || !filepath.IsAbs(dir) || !info.IsDir() {
		return ""
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Getuid() {
		return ""
	}
	return dir
}

func runtimeDir() string {
	if dir := RuntimeDir(os.Getenv); dir != "" {
		return filepath.Join(dir, "gcity")
	}
	return filepath.Join(os.TempDir(), fmt.Sprintf("gcity-%d", os.Getuid()))
}

func ownFolder(dir string) error {
	if err := Own(dir); err != nil {
		return fmt.Errorf("%w; remove it, or set XDG_RUNTIME_DIR", err)
	}
	info, err := os.Lstat(dir)
	if err == nil && info.Mode().Perm()&0o022 != 0 {
		err = fmt.Errorf("%s can be written to by others; remove it, or set XDG_RUNTIME_DIR", dir)
	}
	return err
}

// Own returns an error if path is not a folder of this user. Links are errors too.
func Own(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a symbolic link, but it must be a folder", dir)
	case !info.IsDir():
		return fmt.Errorf("%s is not a folder", dir)
	case !ok || int(stat.Uid) != os.Getuid():
		return fmt.Errorf("%s belongs to another user", dir)
	}
	return nil
}
