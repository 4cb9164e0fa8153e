package supervisor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"gcity/internal/disk"
)

// Home contains the folders of a supervisor.
type Home struct {
	Dir string // $GC_HOME or ~/.gc: registry, settings and log
	Run string // gc in disk.RuntimeDir, or the same as Dir: lock and socket
}

// FindHome returns the home that an environment selects.
func FindHome(getenv func(string) string) (Home, error) {
	dir := getenv("GC_HOME")
	switch {
	case dir == "":
		user := getenv("HOME")
		if !filepath.IsAbs(user) {
			return Home{}, errors.New("cannot locate the registry of this machine's cities: set " +
				"GC_HOME or HOME")
		}
		dir = filepath.Join(user, ".gc")
	case !filepath.IsAbs(dir):
		return Home{}, fmt.Errorf("GC_HOME is %q; it must be the absolute path of a folder", dir)
	}
	h := Home{Dir: filepath.Clean(dir)}
	h.Run = h.Dir
	if run := disk.RuntimeDir(getenv); run != "" {
		h.Run = filepath.Join(run, "gc")
	}
	return h, nil
}

// Make creates the folders. If a folder exists, Make removes other users' access to it.
func (h Home) Make() error {
	if err := makePrivate(h.Dir, "set GC_HOME to a folder of your own"); err != nil {
		return err
	}
	return makePrivate(h.Run, "remove it, or unset XDG_RUNTIME_DIR")
}

// makePrivate appends advice to the error for a folder that cannot be used.
func makePrivate(dir, advice string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("cannot create the supervisor's folder: %w", err)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err == nil {
		err = disk.Own(real)
	}
	if err != nil {
		return fmt.Errorf("cannot use the supervisor's folder: %w; %s", err, advice)
	}
	if info, err := os.Lstat(real); err != nil {
		return err
	} else if info.Mode().Perm() != 0o700 {
		if err := os.Chmod(real, 0o700); err != nil {
			return fmt.Errorf("other users can access %s (%v), and its mode cannot be "+
				"changed: %w", dir, info.Mode().Perm(), err)
		}
	}
	return nil
}

// ListTimes contains modification times in nanoseconds; 0 = the file does not exist.
type ListTimes struct{ registry, recent int64 }

// ListTimes returns when the lists of cities were last changed.
func (h Home) ListTimes() ListTimes {
	return ListTimes{changeTime(h.Registry()), changeTime(h.recentFolder())}
}

func changeTime(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.ModTime().UnixNano()
}

// Registry returns the path of the list of registered cities.
func (h Home) Registry() string { return filepath.Join(h.Dir, registryName) }

// Settings returns the path of the supervisor's configuration.
func (h Home) Settings() string { return filepath.Join(h.Dir, settingsName) }

// Token returns the default path of the file with the API token.
func (h Home) Token() string { return filepath.Join(h.Dir, "api.token") }

// Log returns the path of the supervisor's log.
func (h Home) Log() string { return filepath.Join(h.Dir, "supervisor.log") }

// Socket returns the path of the supervisor's socket.
func (h Home) Socket() string { return filepath.Join(h.Run, "supervisor.sock") }

func (h Home) tenantSocket(name string) string {
	return filepath.Join(h.Run, "tenant-"+name+".sock")
}

func (h Home) lock() string { return filepath.Join(h.Run, "supervisor.lock") }

const (
	registryName = "cities.toml"
	settingsName = "supervisor.toml"
)
