package service

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

	"gcity/cli/env"
	"gcity/cli/exit"
)

// CompleteService fills in what the flags and the surroundings say.
func CompleteService(e *env.Env, s *unit, f ServiceFlags) error {
	if f.user != "" && !f.system {
		return exit.Usage("--user goes with --system: a unit of yours runs as you")
	}
	exe, err := ThisProgram(e.Getenv("PATH"))
	if err != nil {
		return err
	}
	s.Exe, s.System = exe, f.system
	own, home := true, ""
	if f.system {
		who, err := servant(s, f.user)
		if err != nil {
			return err
		}
		s.User, home, own = who.Username, who.HomeDir, who.Uid == strconv.Itoa(os.Getuid())
	}
	s.env = serviceEnviron(os.Environ(), own, home)
	if s.kind == "supervisor" && f.system && !own {
		s.env = append(s.env, "GC_HOME="+s.at)
	}
	if s.kind == "city" && s.Name == "supervisor" {
		s.Name = s.longName()
	}
	return nil
}

// longName is a name that no other folder's unit has.
func (s *unit) longName() string {
	sum := sha256.Sum256([]byte(s.at))
	return s.Name + "-" + hex.EncodeToString(sum[:4])
}

// servant is as whom a unit of the machine runs. Many cities are one person's, whose their folder has to be.
func servant(s *unit, name string) (*user.User, error) {
	owner, err := ownerOf(s.at)
	if err != nil {
		return nil, err
	}
	if name == "" {
		who, err := user.LookupId(owner)
		if err != nil {
			return nil, fmt.Errorf("%s belongs to user %s, who has no name here: say with --user "+
				"as whom the service runs", s.at, owner)
		}
		return who, nil
	}
	who, err := user.Lookup(name)
	if err != nil {
		return nil, exit.Usage("--user: there is nobody called %q on this machine", name)
	}
	if s.kind == "supervisor" && who.Uid != owner {
		return nil, exit.Usage("--user: the cities of %s are not %s's; say whose they are by "+
			"their folder: `sudo env GC_HOME=%s gcity supervisor install --system`",
			s.at, name, filepath.Join(who.HomeDir, ".gc"))
	}
	return who, nil
}

// ownerOf is whose a folder is, or will be when it is made: the number of a user.
func ownerOf(path string) (string, error) {
	info, err := os.Stat(path)
	if up := filepath.Dir(path); errors.Is(err, fs.ErrNotExist) && up != path {
		return ownerOf(up)
	}
	if err != nil {
		return "", err
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return strconv.Itoa(int(st.Uid)), nil
	}
	return strconv.Itoa(os.Getuid()), nil
}

// ThisProgram is where this program is, by the name under which a shell finds it if it is the same: that one stays when
// what it links to is exchanged.
func ThisProgram(path string) (string, error) {
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
		if to, err := filepath.EvalSymlinks(candidate); err == nil && filepath.IsAbs(dir) &&
			to == real {
			return candidate, nil
		}
	}
	return exe, nil
}
