package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"gcity/internal/eventually"
)

// hostile creates a city with a prepared .gc, as it might come from a repository.
func hostile(t *testing.T) (gc, outside string) {
	t.Helper()
	dir := t.TempDir()
	gc, outside = filepath.Join(dir, "city", ".gc"), filepath.Join(dir, "keys")
	if err := errors.Join(os.MkdirAll(gc, 0o700), os.WriteFile(outside, []byte("mine"), 0o600)); err != nil {
		t.Fatal(err)
	}
	return gc, outside
}

var everyWay = map[string]func(path string) error{
	"read":    func(p string) error { _, err := ReadFile(p); return err },
	"append":  func(p string) error { return closed(OpenFile(p, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)) },
	"rewrite": func(p string) error { return closed(OpenFile(p, os.O_RDWR|os.O_TRUNC, 0o600)) },
	"save":    func(p string) error { return Save(p, []byte("theirs"), 0o600) },
	"replace": func(p string) error { return Replace(p, []byte("theirs"), 0o600) },
	"lock":    func(p string) error { l, err := TryLock(p); return errors.Join(err, release(l)) },
}

func closed(f *os.File, err error) error {
	if err != nil {
		return err
	}
	return f.Close()
}

func release(l *Lock) error {
	if l == nil {
		return nil
	}
	return l.Release()
}

func TestOnlyRegularFilesAreOpened(t *testing.T) {
	for kind, put := range map[string]func(path, outside string) error{
		"is a symbolic link to ": func(path, outside string) error { return os.Symlink(outside, path) },
		"is a named pipe":        func(path, _ string) error { return syscall.Mkfifo(path, 0o600) },
		"is a folder":            func(path, _ string) error { return os.Mkdir(path, 0o700) },
	} {
		for way, open := range everyWay {
			gc, outside := hostile(t)
			path := filepath.Join(gc, "known.json")
			if err := put(path, outside); err != nil {
				t.Fatal(err)
			}
			done := make(chan error, 1)
			go func() { done <- open(path) }()
			err := eventually.Receive(t, "an open that does not wait for a pipe", done)
			if unsafe, ok := errors.AsType[*UnsafeError](err); !ok || !strings.HasPrefix(unsafe.Reason, kind) || unsafe.Path != path {
				t.Errorf("%s of a path that %s: got %v", way, kind, err)
			}
			if got, _ := os.ReadFile(outside); string(got) != "mine" {
				t.Errorf("%s of a path that %s: got %q in the file outside", way, kind, got)
			}
		}
	}
}

func TestAFileWithTwoNamesIsNotWritten(t *testing.T) {
	gc, outside := hostile(t)
	path := filepath.Join(gc, "events.jsonl")
	if err := os.Link(outside, path); err != nil {
		t.Fatal(err)
	}
	for _, way := range []string{"append", "rewrite", "lock"} {
		if err := everyWay[way](path); err == nil || !strings.Contains(err.Error(), "has 2 names") {
			t.Errorf("%s: %v", way, err)
		}
	}
	if err := everyWay["replace"](path); err != nil { // replace does not write to the existing file
		t.Error(err)
	}
	if got, _ := os.ReadFile(outside); string(got) != "mine" {
		t.Errorf("file outside: got %q", got)
	}
}

func TestAFileOfAnotherUserIsNotWritten(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a file to another user")
	}
	gc, _ := hostile(t)
	path := filepath.Join(gc, "events.jsonl")
	if err := errors.Join(os.WriteFile(path, nil, 0o666), os.Chown(path, 65534, 65534)); err != nil {
		t.Fatal(err)
	}
	if err := everyWay["append"](path); err == nil || !strings.Contains(err.Error(), "belongs to user") {
		t.Error(err)
	}
}

func TestNoFolderIsALink(t *testing.T) {
	for _, at := range []string{".gc", ".gc/runs", ".beads"} {
		gc, outside := hostile(t)
		city, target := filepath.Dir(gc), filepath.Dir(outside)
		link := filepath.Join(city, at)
		if at == ".gc" {
			if err := os.Remove(link); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(link, "new")
		for way, open := range everyWay {
			if err := open(path); err == nil || !strings.Contains(err.Error(), "symbolic link") {
				t.Errorf("%s below %s: got %v", way, at, err)
			}
		}
		_, err := ReadDir(link)
		for what, err := range map[string]error{
			"list": err, "remove": Remove(filepath.Join(link, "keys")), "mkdir": MkdirAll(filepath.Join(link, "sub"), 0o700),
			"link": Link("x", path), "own": OwnFolder(link),
		} {
			if err == nil || !strings.Contains(err.Error(), "symbolic link") {
				t.Errorf("%s at %s: got %v", what, at, err)
			}
		}
		if there, _ := os.ReadDir(target); len(there) != 2 {
			t.Errorf("files outside: %v", there)
		}
	}
}

// The path of the city may contain links.
func TestLinksAboveTheCityAreFollowed(t *testing.T) {
	gc, outside := hostile(t)
	link := filepath.Join(filepath.Dir(outside), "alias")
	if err := os.Symlink(filepath.Dir(gc), link); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(link, ".gc", "known.json")
	if err := Save(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadFile(filepath.Join(gc, "known.json")); string(got) != "{}" {
		t.Error(string(got), err)
	}
}

func TestMkdirAllDoesNotCreateCity(t *testing.T) {
	gc, _ := hostile(t)
	if err := MkdirAll(filepath.Join(gc, "a", "b"), 0o700); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(filepath.Join(gc, "a", "b")); err != nil || info.Mode().Perm() != 0o700 {
		t.Error(info, err)
	}
	moved := filepath.Dir(gc) + "2"
	if err := os.Rename(filepath.Dir(gc), moved); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{gc, filepath.Join(gc, "a", "b")} {
		if err := MkdirAll(path, 0o700); !errors.Is(err, fs.ErrNotExist) {
			t.Error(err)
		}
	}
	if err := os.Rename(filepath.Join(moved, ".gc"), filepath.Join(moved, "gc2")); err != nil {
		t.Fatal(err)
	}
	if err := MkdirAll(filepath.Join(moved, ".gc", "a"), 0o700); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if err := MkdirState(filepath.Join(moved, ".gc", "a"), 0o700); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(gc)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the city was created again at its old path", err)
	}
}

func TestSetAside(t *testing.T) {
	gc, _ := hostile(t)
	path := filepath.Join(gc, "events.jsonl")
	for _, want := range []string{"events.jsonl.bad-1", "events.jsonl.bad-2"} {
		if err := os.Mkdir(path, 0o700); err != nil {
			t.Fatal(err)
		}
		if to, err := SetAside(path); err != nil || filepath.Base(to) != want {
			t.Errorf("%s: %v", to, err)
		}
		if _, err := os.Stat(filepath.Join(gc, want)); err != nil {
			t.Error(err)
		}
	}
}

// While a file is replaced continuously, a reader sees either the old or the new content.
func TestReadersOfAFileThatIsReplaced(t *testing.T) {
	gc, _ := hostile(t)
	path := filepath.Join(gc, "known.json")
	if err := Replace(path, []byte("0"), 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		var err error
		for i := range 500 {
			err = errors.Join(err, Replace(path, []byte{byte('0' + i%10)}, 0o600))
		}
		done <- err
	}()
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
			return
		default:
			if got, err := ReadFile(path); err != nil || len(got) != 1 {
				t.Fatalf("%q, %v", got, err)
			}
		}
	}
}

func TestSplit(t *testing.T) {
	for path, want := range map[string]string{
		"/c/.gc/known.json": "/c known.json .gc", "/c/.gc/runs/x": "/c x .gc/runs", "/c/.gc": "/c .gc ",
		"/h/.gc/play/city/.beads/beads.db": "/h/.gc/play/city beads.db .beads", "/home/cities.toml": "/home cities.toml ",
		"exit": ". exit ", ".gc/x": ". x .gc", "/x": "/ x ", "/proc/self/fd/7/.gc/x": "/proc/self/fd/7 x .gc",
	} {
		base, below := split(path)
		last := len(below) - 1
		if got := base + " " + below[last] + " " + strings.Join(below[:last], "/"); got != want {
			t.Errorf("split(%q) = %q, want %q", path, got, want)
		}
	}
}

// Nothing is created in a .gc of another user, who could not use it. A rig's folder and .beads can belong to any user.
func TestNothingIsCreatedInAFolderOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give a folder to another user")
	}
	theirs := func(path string) {
		t.Helper()
		if err := os.Chown(path, 65534, 65534); err != nil {
			t.Fatal(err)
		}
	}
	city := t.TempDir()
	gc := filepath.Join(city, ".gc")
	if err := os.MkdirAll(filepath.Join(gc, "there"), 0o700); err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(gc, "controller.lock")
	if err := os.WriteFile(lock, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	theirs(gc)
	theirs(lock)
	create := func(path string) error {
		f, err := OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
		return closed(f, err)
	}
	fresh := t.TempDir()
	theirs(fresh)
	beads := filepath.Join(t.TempDir(), ".beads")
	if err := os.Mkdir(beads, 0o700); err != nil {
		t.Fatal(err)
	}
	theirs(beads)
	for what, err := range map[string]error{
		"a new file":       create(filepath.Join(gc, "new")),
		"their lock":       create(lock),
		"a replaced file":  Replace(lock, nil, 0o600),
		"a new folder":     MkdirAll(filepath.Join(gc, "new"), 0o700),
		"a new link":       Link("x", filepath.Join(gc, "new")),
		"a new state":      MkdirState(filepath.Join(fresh, ".gc", "x"), 0o700),
		"a missing folder": CheckOwner(filepath.Join(fresh, ".gc", "x", "y")),
	} {
		if _, foreign := errors.AsType[*OwnerError](err); !foreign {
			t.Errorf("%s: got %v, want an OwnerError", what, err)
		}
	}
	for what, err := range map[string]error{
		"an existing folder": MkdirAll(filepath.Join(gc, "there"), 0o700),
		"their rig":          OwnFolder(filepath.Join(fresh, ".beads")),
		"their beads":        create(filepath.Join(beads, "new")),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
}
