// Package ownership checks that only the user and root can change a file and the folders above it, as sshd's
// StrictModes does.
package ownership

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"gcity/internal/shell"
)

// Fault means that another user can change a file or folder.
type Fault struct {
	Path  string
	Owner string // name of the owner of Path
	Mode  fs.FileMode
	Fix   string // command that makes Path safe

	foreign bool // Path belongs to another user
}

func (f *Fault) Error() string {
	advice := "if you trust its content, run"
	if f.foreign {
		advice = "run this command as that user or, if the file is meant to be yours and you " +
			"trust its content, run"
	}
	return fmt.Sprintf("%s belongs to %s and has mode %04o, so another user can change it; %s `%s`",
		f.Path, f.Owner, perm(f.Mode), advice, f.Fix)
}

func perm(m fs.FileMode) uint32 {
	out := uint32(m.Perm())
	if m&fs.ModeSticky != 0 {
		out |= 0o1000
	}
	return out
}

// Check returns a *Fault if another user can change the file at path, its link target, or a folder above, up to the
// user's home. A path that cannot be examined is not a Fault.
func Check(path string) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	if err := checkAncestors(abs); err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(abs); err == nil && real != abs {
		return checkAncestors(real)
	}
	return nil
}

// Entry is like Check, but does not check the folders above. info describes path.
func Entry(path string, info fs.FileInfo) error { return judge(path, info, false) }

func checkAncestors(path string) error {
	home := home()
	for at := path; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if err != nil {
			return nil
		}
		if err := judge(at, info, at != path); err != nil {
			return err
		}
		if at == filepath.Dir(at) || at == home && at != path {
			return nil
		}
	}
}

// judge returns a *Fault if another user can change path. It accepts a parent folder that other users can write to if
// its sticky bit protects the file.
func judge(path string, info fs.FileInfo, isParent bool) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	f := &Fault{Path: path, Owner: nameOf(st.Uid), Mode: info.Mode()}
	uid, mode := uint32(os.Geteuid()), info.Mode()
	// under sudo, root may use the files of the user who ran sudo
	caller := uid == 0 && decimal(st.Uid) == os.Getenv("SUDO_UID")
	switch sticky := isParent && mode&fs.ModeSticky != 0; {
	case st.Uid != uid && st.Uid != 0 && !caller:
		f.foreign = true
		f.Fix = "sudo chown " + strconv.Itoa(int(uid)) + " " + shell.Quote(path)
	case sticky:
		return nil
	case mode.Perm()&0o002 != 0:
		f.Fix = "chmod go-w " + shell.Quote(path)
	case mode.Perm()&0o020 != 0 && !privateTo(st.Gid, st.Uid, members()) &&
		!privateTo(st.Gid, uid, members()):
		f.Fix = "chmod g-w " + shell.Quote(path)
	default:
		return nil
	}
	return f
}

func privateTo(gid, uid uint32, groups map[uint32]group) bool {
	g, known := groups[gid]
	if !known {
		return gid == uid || gid == 0
	}
	me := nameOf(uid)
	for _, m := range g.members {
		if m != me && m != "root" {
			return false
		}
	}
	return gid == 0 || g.name == me
}

type group struct {
	name    string
	members []string
}

func members() map[uint32]group {
	data, err := os.ReadFile("/etc/group")
	if err != nil {
		return nil
	}
	return parseGroups(string(data))
}

func parseGroups(text string) map[uint32]group {
	out := map[uint32]group{}
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimSpace(line), ":")
		if len(fields) != 4 {
			continue
		}
		gid, err := strconv.ParseUint(fields[2], 10, 32)
		if err != nil {
			continue
		}
		g := group{name: fields[0]}
		for _, m := range strings.Split(fields[3], ",") {
			if m != "" {
				g.members = append(g.members, m)
			}
		}
		out[uint32(gid)] = g
	}
	return out
}

func decimal(uid uint32) string { return strconv.FormatUint(uint64(uid), 10) }

func nameOf(uid uint32) string {
	id := decimal(uid)
	if u, err := user.LookupId(id); err == nil {
		return u.Username
	}
	return "user " + id
}

func home() string {
	dir, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return ""
	}
	return real
}

// Of returns the name of the owner of a file or folder.
func Of(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", errors.ErrUnsupported
	}
	return nameOf(st.Uid), nil
}
