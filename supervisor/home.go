package supervisor

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"gcity/internal/disk"
)

// Home says where a supervisor keeps what it knows, and where it is found. Both folders belong to one user.
type Home struct {
	Dir string // GC_HOME, else ~/.gc: the registry, the settings, the log
	Run string // $XDG_RUNTIME_DIR/gc, else Dir: the lock and the socket
}

// FindHome says where the home is by an environment. It touches nothing.
func FindHome(getenv func(string) string) (Home, error) {
	dir := getenv("GC_HOME")
	switch {
	case dir == "":
		user := getenv("HOME")
		if !filepath.IsAbs(user) {
			return Home{}, errors.New("cannot tell where the cities of this machine are " +
				"registered: set GC_HOME, or HOME")
		}
		dir = filepath.Join(user, ".gc")
	case !filepath.IsAbs(dir):
		return Home{}, fmt.Errorf("GC_HOME is %q; it must be the absolute path of a folder", dir)
	}
	h := Home{Dir: filepath.Clean(dir)}
	if run := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(run) {
		h.Run = filepath.Join(run, "gc")
	} else {
		h.Run = h.Dir
	}
	return h, nil
}

// Make makes the folders, or takes them back from other users.
func (h Home) Make() error {
	for _, dir := range []string{h.Dir, h.Run} {
		if err := makePrivate(dir); err != nil {
			return err
		}
	}
	return nil
}

func makePrivate(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("cannot make the supervisor's folder: %w", err)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err == nil {
		err = disk.Own(real)
	}
	if err != nil {
		return fmt.Errorf("the supervisor cannot be there: %w; set GC_HOME to a folder of your own",
			err)
	}
	if info, err := os.Lstat(real); err != nil {
		return err
	} else if info.Mode().Perm() != 0o700 {
		if err := os.Chmod(real, 0o700); err != nil {
			return fmt.Errorf("%s can be entered by others (%v) and cannot be closed to them: %w",
				dir, info.Mode().Perm(), err)
		}
	}
	return nil
}

// Registry is the file of the cities that are registered.
func (h Home) Registry() string { return filepath.Join(h.Dir, registryName) }

// Settings is the supervisor's own configuration.
func (h Home) Settings() string { return filepath.Join(h.Dir, settingsName) }

// Token is the file with the API's token where the settings name no other.
func (h Home) Token() string { return filepath.Join(h.Dir, "api.token") }

// Log is what it writes.
func (h Home) Log() string { return filepath.Join(h.Dir, "supervisor.log") }

// Socket is where it answers.
func (h Home) Socket() string { return filepath.Join(h.Run, "supervisor.sock") }

// tenantSocket returns where the socket of a tenant is unless its settings name another place.
func (h Home) tenantSocket(name string) string {
	return filepath.Join(h.Run, "tenant-"+name+".sock")
}

func (h Home) lock() string { return filepath.Join(h.Run, "supervisor.lock") }

const (
	registryName = "cities.toml"
	settingsName = "supervisor.toml"
)
