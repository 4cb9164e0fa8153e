package ownership

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestCheck(t *testing.T) {
	for name, c := range map[string]struct {
		file, folder os.FileMode
		fix          string
	}{
		"private":                       {0o600, 0o700, ""},
		"readable":                      {0o644, 0o755, ""},
		"file for everybody":            {0o666, 0o755, "chmod go-w"},
		"folder for everybody":          {0o644, 0o777, "chmod go-w"},
		"folder for everybody, sticky":  {0o644, 0o777 | os.ModeSticky, ""},
		"file in sticky, for everybody": {0o646, 0o777 | os.ModeSticky, "chmod go-w"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "d")
			path := filepath.Join(dir, "city.toml")
			if err := errors.Join(os.Mkdir(dir, 0o700), os.WriteFile(path, nil, 0o600), os.Chmod(path, c.file), os.Chmod(dir, c.folder)); err != nil {
				t.Fatal(err)
			}
			err := Check(path)
			if c.fix == "" && err != nil || c.fix != "" && (err == nil || !strings.Contains(err.Error(), c.fix)) {
				t.Errorf("got %v, want the fix %q", err, c.fix)
			}
		})
	}
}

// Both a link and its target are checked.
func TestCheckFollowsLinks(t *testing.T) {
	open, mine := t.TempDir(), t.TempDir()
	target := filepath.Join(open, "city.toml")
	if err := errors.Join(os.WriteFile(target, nil, 0o600), os.Chmod(open, 0o777), os.Symlink(target, filepath.Join(mine, "city.toml"))); err != nil {
		t.Fatal(err)
	}
	f, is := errors.AsType[*Fault](Check(filepath.Join(mine, "city.toml")))
	if !is || f.Path != open {
		t.Errorf("got %v, want a fault of %s", f, open)
	}
}

func TestPrivateGroups(t *testing.T) {
	groups := parseGroups("root:x:0:\nann:x:7:\nteam:x:8:ann,bob\nalone:x:9:\nboth:x:10:bob\n" + nameOf(12345) + ":x:12:\n" + nameOf(12346) + ":x:13:bob\n")
	for gid, want := range map[uint32]bool{0: true, 7: false, 8: false, 9: false, 10: false, 12: true, 12345: true, 99: false} {
		if got := privateTo(gid, 12345, groups); got != want {
			t.Errorf("group %d: %v", gid, got)
		}
	}
	if privateTo(13, 12346, groups) {
		t.Error("a group with another member counts as private")
	}
}

// A file of another user is rejected.
func TestCheckForeignOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file to another user")
	}
	const nobody = 65534
	path := filepath.Join(t.TempDir(), "city.toml")
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chown(path, nobody, nobody)); err != nil {
		t.Fatal(err)
	}
	f, is := errors.AsType[*Fault](Check(path))
	if !is || f.Owner == "" || !strings.Contains(f.Fix, "chown 0 ") {
		t.Errorf("%v", f)
	}
	if is && !strings.Contains(f.Error(), "run this command as that user or") {
		t.Errorf("the error advises only to take the file over: %v", f)
	}
	t.Setenv("SUDO_UID", "65534")
	if err := Check(path); err != nil {
		t.Errorf("root with sudo, started by the owner: got %v", err)
	}
	if st, err := os.Stat(path); err != nil || st.Sys().(*syscall.Stat_t).Uid != nobody {
		t.Error("the check changed the owner")
	}
}
