// Package token reads and creates token files for the API.
package token

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"gcity/internal/disk"
)

// Read reads a token from a file. The file must be private, and belong to this user or root.
func Read(path string) (string, error) {
	// O_NONBLOCK keeps a pipe from blocking the reader.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", fmt.Errorf("cannot read the token: %w; create one with `head -c 32 "+
			"/dev/urandom | base64 > FILE`, then run `chmod 600 FILE`", err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", fmt.Errorf("cannot read the token: %w", err)
	case !info.Mode().IsRegular():
		return "", fmt.Errorf("%s is not a regular file, so it cannot be a token file", path)
	case !owned(info):
		return "", fmt.Errorf("%s belongs to another user, so it is not secret: chown the file, "+
			"or create a new one", path)
	case info.Mode().Perm()&0o077 != 0:
		return "", fmt.Errorf("other users can read the token (%v): run chmod 600 %s",
			info.Mode().Perm(),
			path)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxToken+64))
	if err != nil {
		return "", fmt.Errorf("cannot read the token: %w", err)
	}
	token := strings.TrimSpace(string(data))
	odd := strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' })
	if n := len(token); n < minToken || n > maxToken || odd {
		return "", fmt.Errorf("%s does not contain a valid token: use one line of %d to %d "+
			"letters, digits and symbols, without spaces", path, minToken, maxToken)
	}
	return token, nil
}

// minToken and maxToken limit the length of a token. A shorter one could be guessed, and a longer one does not fit into
// a header.
const minToken, maxToken = 16, 512

func owned(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && (st.Uid == 0 || st.Uid == uint32(os.Getuid()))
}

// Ensure returns the token in a file. If the file does not exist, Ensure creates it with a random token.
func Ensure(path string) (string, error) {
	token, err := Read(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	if err := createToken(path); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("cannot create a token: %w", err)
	}
	return Read(path)
}

// createToken creates a file with a random token. It hard-links a temporary file to path, so that it never replaces an
// existing file.
func createToken(path string) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".api.token.*") // has mode 0600
	if err != nil {
		return disk.WriteError(path, err)
	}
	defer os.Remove(f.Name())
	_, err = fmt.Fprintln(f, rand.Text()+rand.Text())
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Link(f.Name(), path)
	}
	if err != nil {
		return disk.WriteError(path, err)
	}
	return nil
}
