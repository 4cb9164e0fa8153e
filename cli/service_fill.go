package cli

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// completeService fills in what the flags and the surroundings say.
func (a *app) completeService(s *unit, f serviceFlags) error {
	if f.user != "" && !f.system {
		return usage("--user goes with --system: a unit of yours runs as you")
	}
	exe, err := thisProgram(a.getenv("PATH"))
	if err != nil {
		return err
	}
	s.exe, s.system = exe, f.system
	own, home := true, ""
	if f.system {
		who, err := a.servant(s.at, f.user)
		if err != nil {
			return err
		}
		s.user, home, own = who.Username, who.HomeDir, who.Uid == strconv.Itoa(os.Getuid())
	}
	s.env = serviceEnviron(os.Environ(), own, home)
	if s.kind == "supervisor" && f.system && !own {
		s.env = append(s.env, "GC_HOME="+s.at)
	}
	if s.kind == "city" && s.name == "supervisor" {
		s.name = s.longName()
	}
	return nil
}

// longName is a name that no other folder's unit has.
func (s *unit) longName() string {
	sum := sha256.Sum256([]byte(s.at))
	return s.name + "-" + hex.EncodeToString(sum[:4])
}

// servant is as whom a unit of the machine runs.
func (a *app) servant(at, name string) (*user.User, error) {
	if name != "" {
		who, err := user.Lookup(name)
		if err != nil {
			return nil, usage("--user: there is nobody called %q on this machine", name)
		}
		return who, nil
	}
	info, err := os.Stat(at)
	if errors.Is(err, fs.ErrNotExist) {
		return user.Current()
	}
	if err != nil {
		return nil, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return user.Current()
	}
	who, err := user.LookupId(strconv.Itoa(int(st.Uid)))
	if err != nil {
		return nil, fmt.Errorf("%s belongs to user %d, who has no name here: say with --user as whom the service runs", at, st.Uid)
	}
	return who, nil
}

// thisProgram is where this program is, by the name under which a shell finds it if it is the same: that one stays when what it
// links to is exchanged.
func thisProgram(path string) (string, error) {
	exe, err := os.Executable()
	if err == nil {
		_, err = os.Stat(exe)
	}
	if err != nil {
		return "", fmt.Errorf("cannot find this program, which the service is to run: %w", err)
	}
	real, err := filepath.EvalSymlinks(exe)
	if err != nil {
		return "", err
	}
	for _, dir := range filepath.SplitList(path) {
		candidate := filepath.Join(dir, "gcity")
		if to, err := filepath.EvalSymlinks(candidate); err == nil && filepath.IsAbs(dir) && to == real {
			return candidate, nil
		}
	}
	return exe, nil
}
