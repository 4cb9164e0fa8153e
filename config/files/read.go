// Package files reads the files and folders of configurations. It limits their size, rejects files that another user
// can change, and does not block on a file system that does not respond.
package files

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"syscall"

	"gcity/internal/ownership"
	"gcity/internal/toml"
)

// MaxSize is the limit for the total size of a configuration's files, in bytes.
const MaxSize = 10 << 20

// ReadSource reads a source of at most MaxSize bytes. It rejects files that other users can change, and everything
// except regular files.
func ReadSource(path string) ([]byte, error) {
	data, err := readAny(path)
	if err == nil {
		err = owned(path)
	}
	return data, err
}

// ForeignOwner is returned for a file that another user can change. It wraps a *toml.Fault.
type ForeignOwner struct{ *toml.Fault }

func (f ForeignOwner) Unwrap() error { return f.Fault }

func owned(path string) error {
	if err := ownership.Check(path); err != nil {
		return ForeignOwner{&toml.Fault{At: toml.Everywhere, Msg: err.Error()}}
	}
	return nil
}

// readAny is like ReadSource but also reads files that other users can change.
func readAny(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
		return nil, &toml.Fault{Msg: "it is not a regular file"}
	}
	return ReadAll(f)
}

// ReadAll reads at most MaxSize bytes. If r contains more, it returns the error TooLarge.
func ReadAll(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxSize+1))
	if err == nil && len(data) > MaxSize {
		return nil, TooLarge()
	}
	return data, err
}

func TooLarge() *toml.Fault {
	return &toml.Fault{At: toml.Everywhere, Msg: fmt.Sprintf("the file is larger than %d MB; is "+
		"it the right one?", MaxSize>>20)}
}

// Sum returns the SHA-256 hash of the data in hexadecimal.
func Sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}
