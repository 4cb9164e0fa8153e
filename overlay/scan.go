package overlay

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"gcity/internal/disk"
	"gcity/internal/ownership"
)

// Scan reads an overlay and follows links to files. It returns an error for any other link or special file, and for a
// file that another user can change. It does not check dir itself or the folders above it. It ignores the swap files,
// backups and locks of editors; otherwise an agent would restart whenever a user opens a file of its overlay.
func Scan(ctx context.Context, dir string) (Tree, error) {
	root, err := open(dir)
	if err != nil {
		return Tree{}, err
	}
	defer root.Close()
	t, left := Tree{}, int64(MaxSize)
	err = fs.WalkDir(root.FS(), ".", func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fmt.Errorf("cannot be read: %w", plainly(err))
		case ctx.Err() != nil:
			return fmt.Errorf("cannot be read: %w", context.Cause(ctx))
		case !d.IsDir() && disk.IsEditorFile(d.Name()):
			return nil
		case at != "." && foreign(root, at) != nil:
			return foreign(root, at)
		case d.IsDir() && len(t.Folders) == MaxFiles:
			return fmt.Errorf("has more than %d folders", MaxFiles)
		case d.IsDir():
			t.Folders = append(t.Folders, filepath.Join(dir, at))
			return nil
		case len(t.Files) == MaxFiles:
			return fmt.Errorf("has more than %d files", MaxFiles)
		}
		data, mode, err := read(root, at, left)
		if err != nil {
			return err
		}
		left -= int64(len(data))
		t.Files = append(t.Files, File{Path: at, Mode: mode, Hash: sum(data)})
		return nil
	})
	if err != nil {
		return Tree{}, err
	}
	h := sha256.New()
	for _, f := range t.Files {
		fmt.Fprintf(h, "%s\x00%o\x00%s\n", f.Path, f.Mode, f.Hash)
	}
	t.Hash = hex.EncodeToString(h.Sum(nil))
	return t, nil
}

func foreign(root *os.Root, at string) error {
	info, err := root.Stat(at)
	if err != nil {
		return nil // the caller reports this error when it reads the file
	}
	if err := ownership.Entry(filepath.Join(root.Name(), at), info); err != nil {
		return fmt.Errorf("has a file that another user can change: %w", err)
	}
	return nil
}

func open(dir string) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, errors.New("does not exist")
	case err != nil:
		return nil, fmt.Errorf("cannot be opened: %w", plainly(err))
	}
	return root, nil
}

func read(root *os.Root, at string, most int64) ([]byte, fs.FileMode, error) {
	info, err := root.Stat(at)
	if err != nil {
		return nil, 0, fmt.Errorf("has a link %s that is dangling, or leads out of the overlay: %w",
			at, plainly(err))
	}
	if !info.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("has %s, which is a special file or a link to a folder", at)
	}
	f, err := root.Open(at)
	if err != nil {
		return nil, 0, fmt.Errorf("has a file %s that cannot be read: %w", at, plainly(err))
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	switch {
	case err != nil:
		return nil, 0, fmt.Errorf("has a file %s that cannot be read: %w", at, plainly(err))
	case int64(len(data)) > most:
		return nil, 0, fmt.Errorf("is larger than %d MB", MaxSize>>20)
	}
	return data, info.Mode().Perm(), nil
}

func plainly(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

func sum(data []byte) string {
	h := sha256.Sum256(data)
	return hex.EncodeToString(h[:])
}
