package feed

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// writeNew creates a file that only its owner can read, because output can contain secrets.
func writeNew(path, text string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("cannot save to %s: %w", path, err)
		}
		path = filepath.Join(home, rest)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("cannot save to %s: %w", path, err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case errors.Is(err, fs.ErrExist):
		return "", fmt.Errorf("cannot save to %s: the file exists; choose a different name", path)
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("cannot save to %s: folder %s does not exist", path,
			filepath.Dir(path))
	case err != nil:
		return "", fmt.Errorf("cannot save: %w", err)
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("cannot save: %w", err), os.Remove(path))
	}
	return path, nil
}
