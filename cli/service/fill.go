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

// CompleteService sets the fields of a service that depend on the flags and the environment.
func CompleteService(e *env.Env, s *unit, f ServiceFlags) error {
	if f.user != "" && !f.system {
		return exit.Usage("--user needs --system: a user unit always runs as you")
	}
	exe, err := ThisProgram(e.Getenv("PATH"))
	if err != nil {
		return err
	}
	s.Exe, s.System = exe, f.system
	own, home := true, ""
	if f.system {
		who, err := serviceUser(s, f.user)
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

func (s *unit) longName() string {
	sum := sha256.Sum256([]byte(s.at))
	return s.Name + "-" + hex.EncodeToString(sum[:4])
}

func serviceUser(s *unit, name string) (*user.User, error) {
	owner, err := ownerOf(s.at)
	if err != nil {
		return nil, err
	}
	if name == "" {
		who, err := user.LookupId(owner)
		if err != nil {
			return nil, fmt.Errorf("%s belongs to the user ID %s, which has no user name on this "+
				"machine; use --user to set the service's user", s.at, owner)
		}
		return who, nil
	}
	who, err := user.Lookup(name)
	if err != nil {
		return nil, exit.Usage("--user: unknown user %q", name)
	}
	if s.kind == "supervisor" && who.Uid != owner {
		return nil, exit.Usage("--user: the cities of %s do not belong to %s; select that user's "+
			"cities by their folder: `sudo env GC_HOME=%s gcity supervisor install --system`",
			s.at, name, filepath.Join(who.HomeDir, ".gc"))
	}
	return who, nil
}

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

// ThisProgram returns the path of this program. It prefers the path that a shell finds, which remains valid after an
// upgrade.
func ThisProgram(path string) (string, error) {
	exe, err := os.Executable()
	if err == nil {
		_, err = os.Stat(exe)
	}
	if err != nil {
		return "", fmt.Errorf("cannot determine the path of this program for the service: %w", err)
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
