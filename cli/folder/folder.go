package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"gcity/beads/sqlite"
	"gcity/cli/exit"
	"gcity/internal/disk"
)

// BinDir returns the folder that is first on every agent's PATH.
func BinDir(dir string) string { return filepath.Join(dir, ".gc", "bin") }

// IgnoreNotExist returns err, or nil if err means that a file does not exist.
func IgnoreNotExist(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// HideFromGit makes git ignore everything in dir.
func HideFromGit(dir string) error {
	err := WriteNew(filepath.Join(dir, ".gitignore"), "*\n")
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	return err
}

// LinkBinary links .gc/bin/gc to this program, and removes everything else from that folder, which is first
// on every agent's PATH.
func LinkBinary(dir string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	bin := BinDir(dir)
	if err := disk.MakePrivate(bin); err != nil {
		if _, err := disk.SetAside(bin); err != nil {
			return err
		}
		if err := disk.MakePrivate(bin); err != nil {
			return err
		}
	}
	there, err := disk.ReadDir(bin)
	for _, e := range there {
		if path := filepath.Join(bin, e.Name()); e.Name() != "gc" || e.Type() != fs.ModeSymlink {
			err = errors.Join(err, disk.RemoveAll(path))
		}
	}
	return errors.Join(err, disk.Link(exe, filepath.Join(bin, "gc")))
}

// WriteNew writes a file that must not exist yet.
func WriteNew(file, text string) error {
	f, err := disk.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return exit.Errorf(exit.CodeConflict, "%s was not changed: %w", file, fs.ErrExist)
	}
	if err != nil {
		return fmt.Errorf("cannot create %w", disk.WriteError(file, err))
	}
	_, err = f.WriteString(text)
	if err = errors.Join(err, f.Close()); err != nil {
		// an incomplete file would prevent the next attempt; if it cannot be removed, err still says what failed
		_ = disk.Remove(file)
		return fmt.Errorf("cannot write %s: %w", file, err)
	}
	return nil
}

// LogPath returns the path of the controller's log.
func LogPath(dir string) string { return filepath.Join(dir, ".gc", "controller.log") }

// SocketPath returns the path of the controller's socket.
func SocketPath(dir string) string { return filepath.Join(StateDir(dir), "controller.sock") }

func canonicalDir(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return dir
}

// StateDir returns the folder with a city's runtime state.
func StateDir(dir string) string { return filepath.Join(dir, ".gc") }

// WorkFolder is the name of the folder in which a city or a rig stores its work.
const WorkFolder = sqlite.Folder
