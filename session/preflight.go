package session

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// Local is a provider that can run sessions on this machine.
type Local interface {
	// IsLocal reports whether the named provider runs its sessions on this machine. Only a MultiProvider uses the name.
	IsLocal(provider string) bool
}

// IsLocal reports whether p runs sessions of the named provider on this machine.
func IsLocal(p Provider, name string) bool {
	l, ok := p.(Local)
	return ok && l.IsLocal(name)
}

// Preflight returns the program that the session's command runs, or why this machine cannot run it. It does not call
// CheckFolder, which can block.
func (s *Spec) Preflight() (Executable, error) {
	if err := s.checkArguments(); err != nil {
		return Executable{}, err
	}
	return s.FindProgram()
}

// CheckFolder returns an ErrCommand if this user cannot enter the session's folder.
func (s *Spec) CheckFolder() error {
	info, err := os.Stat(s.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Unfit("the agent's folder %s does not exist: create the folder, or correct its path",
			s.Dir)
	case err != nil:
		return Unfit("the agent's folder cannot be used: %v", err)
	case !info.IsDir():
		return Unfit("%s is not a folder: correct the path of the agent's folder", s.Dir)
	}
	if err := unix.Access(s.Dir, unix.X_OK); err != nil {
		return Unfit("the agent's folder %s cannot be entered: %v", s.Dir, err)
	}
	return nil
}

// CheckNewFolder returns an ErrCommand if this user cannot create the session's folder.
func (s *Spec) CheckNewFolder() error {
	for at := s.Dir; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		switch {
		case errors.Is(err, unix.ENOTDIR), errors.Is(err, fs.ErrNotExist) && at != "/":
			continue // only the nearest existing parent matters
		case err != nil:
			return Unfit("the agent's folder %s cannot be created: %v", s.Dir, err)
		case !info.IsDir():
			return Unfit("the agent's folder %s cannot be created: %s is not a folder", s.Dir, at)
		}
		if err := unix.Access(at, unix.W_OK|unix.X_OK); err != nil {
			return Unfit("the agent's folder %s cannot be created: no access to %s: %v", s.Dir, at,
				err)
		}
		return nil
	}
}

// maxArgument is the kernel's size limit for one argument or environment variable, including the final NUL.
const maxArgument = 128 << 10

func (s *Spec) checkArguments() error {
	const tooLong = "%s is too long (%d bytes; the system allows %d): put " +
		"the text in a file and pass the file's name"
	switch {
	case strings.ContainsRune(s.Command, 0):
		return Unfit("the agent's command line contains a NUL byte")
	case len(s.Command) >= maxArgument:
		return Unfit(tooLong, "the agent's command line", len(s.Command), maxArgument-1)
	}
	for _, kv := range s.Env {
		name, _, _ := strings.Cut(kv, "=")
		switch {
		case strings.ContainsRune(kv, 0):
			return Unfit("the environment variable %q contains a NUL byte", name)
		case len(kv) >= maxArgument:
			return Unfit(tooLong, "the environment variable "+name, len(kv), maxArgument-1)
		}
	}
	return nil
}

// Unfit returns an ErrCommand with a formatted message.
func Unfit(format string, args ...any) error {
	return &kindError{fmt.Errorf(format, args...), ErrCommand}
}
