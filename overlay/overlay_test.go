package overlay

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gcity/internal/eventually"
)

type world struct {
	t        *testing.T
	from, to string
	records  Records
}

func newWorld(t *testing.T) *world {
	w := worldIn(t, filepath.Join(t.TempDir(), "city"))
	w.make(w.from, w.to)
	return w
}

func worldIn(t *testing.T, city string) *world {
	return &world{t, filepath.Join(city, "overlay"), filepath.Join(city, "work"),
		Records{Dir: filepath.Join(city, "gc", "overlays"), City: city}}
}

func (w *world) make(dirs ...string) {
	w.t.Helper()
	for _, dir := range dirs {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) put(dir, name, text string, mode fs.FileMode) {
	w.t.Helper()
	file := filepath.Join(dir, name)
	w.make(filepath.Dir(file))
	_ = os.Remove(file)
	if err := os.WriteFile(file, []byte(text), mode); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) has(name, want string) {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.to, name))
	if err != nil || string(data) != want {
		w.t.Errorf("%s: got %q, %v; want %q", name, data, err, want)
	}
}

func (w *world) apply() Report {
	w.t.Helper()
	r, err := Apply(w.t.Context(), w.from, w.to, w.records)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

// applier returns an applier whose function sync is not set.
func (w *world) applier(known *record) *applier {
	w.t.Helper()
	src, err := open(w.from)
	if err != nil {
		w.t.Fatal(err)
	}
	dst, err := open(w.to)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = errors.Join(src.Close(), dst.Close()) })
	return &applier{from: w.records.name(w.from), src: src, dst: dst, records: w.records, known: known}
}

func (w *world) says(r Report, want string) {
	w.t.Helper()
	if r.String() != want {
		w.t.Errorf("%q, want %q", r, want)
	}
}

func TestApplyNeverOverwrites(t *testing.T) {
	w := newWorld(t)
	w.put(w.from, "new.md", "new", 0o644)
	w.put(w.from, "deep/er/run.sh", "#!/bin/sh\n", 0o755)
	w.put(w.from, "theirs.md", "ours", 0o644)
	w.put(w.to, "theirs.md", "theirs", 0o600)
	w.says(w.apply(), "copied: deep/er/run.sh, new.md; left as they are: theirs.md")
	w.has("new.md", "new")
	w.has("theirs.md", "theirs")
	if info, err := os.Stat(filepath.Join(w.to, "deep/er/run.sh")); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v, %v", info, err)
	}
	w.says(w.apply(), "left as they are: theirs.md")
}

func TestApplyUpdatesUnmodifiedFiles(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"kept", "edited", "gone"} {
		w.put(w.from, name, "one", 0o444)
	}
	w.apply()
	w.put(w.to, "edited", "mine", 0o644)
	if err := os.Remove(filepath.Join(w.to, "gone")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"kept", "edited", "gone"} {
		w.put(w.from, name, "two", 0o600)
	}
	w.says(w.apply(), "copied: gone; updated: kept; left as they are: edited")
	w.has("kept", "two")
	w.has("gone", "two")
	w.has("edited", "mine")
	w.put(w.to, "edited", "two", 0o644) // the user's edit now matches the overlay, so the file is updated again
	w.says(w.apply(), "")
	w.put(w.from, "edited", "three", 0o644)
	w.says(w.apply(), "updated: edited")
	left, err := filepath.Glob(filepath.Join(w.to, ".gcity-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("temporary file %q remains, %v", left, err)
	}
}

// Temporary files of a killed Apply are removed by a later one, but only in the folders that it writes to.
func TestApplyRemovesTemporaryFiles(t *testing.T) {
	w := newWorld(t)
	w.put(w.from, "a/x", "one", 0o644)
	w.put(w.from, "b/y", "one", 0o644)
	w.apply()
	const old, young, strange, link = ".gcity-AAAAAAAAAAAAAAAAAAAAAAAAAA", ".gcity-BBBBBBBBBBBBBBBBBBBBBBBBBB", ".gcity-notes", ".gcity-CCCCCCCCCCCCCCCCCCCCCCCCCC"
	yesterday := time.Now().Add(-24 * time.Hour)
	for _, dir := range []string{"a", "b", "c"} {
		for _, name := range []string{old, young, strange} {
			w.put(w.to, dir+"/"+name, "left", 0o600)
			if name != young {
				if err := os.Chtimes(filepath.Join(w.to, dir, name), yesterday, yesterday); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := os.Symlink(strange, filepath.Join(w.to, dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(w.from, "b", "y")); err != nil { // the folder is still swept
		t.Fatal(err)
	}
	w.says(w.apply(), "")
	for dir, want := range map[string]bool{"a": false, "b": false, "c": true} {
		for _, name := range []string{old, young, strange, link} {
			_, err := os.Lstat(filepath.Join(w.to, dir, name))
			if there := err == nil; there != (want || name != old) {
				t.Errorf("%s/%s: %v", dir, name, err)
			}
		}
	}
}

// A named pipe in place of a folder is not opened during the sweep, because that would block.
func TestApplyDoesNotWaitForAPipe(t *testing.T) {
	w := newWorld(t)
	w.put(w.from, "a/x", "one", 0o644)
	if err := syscall.Mkfifo(filepath.Join(w.to, "a"), 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		r, err := Apply(t.Context(), w.from, w.to, w.records)
		if len(r.Copied) > 0 {
			t.Errorf("%+v", r)
		}
		done <- err
	}()
	if err := eventually.Receive(t, "Apply returns", done); err != nil {
		t.Error(err)
	}
}

// After the city was moved, the copied files are still updated, and the user's are still kept.
func TestApplyAfterTheCityWasMoved(t *testing.T) {
	w := newWorld(t)
	w.put(w.from, "copied", "one", 0o644)
	w.put(w.from, "edited", "one", 0o644)
	w.apply()
	w.put(w.to, "edited", "mine", 0o644)
	moved := w.records.City + "-2"
	if err := os.Rename(w.records.City, moved); err != nil {
		t.Fatal(err)
	}
	w = worldIn(t, moved)
	w.put(w.from, "copied", "two", 0o644)
	w.put(w.from, "edited", "two", 0o644)
	w.says(w.apply(), "updated: copied; left as they are: edited")
}

// Apply finds records with absolute paths, which older versions wrote, and replaces them before the city is moved.
func TestRecordsWithAbsolutePaths(t *testing.T) {
	w := newWorld(t)
	w.put(w.from, "copied", "one", 0o644)
	old := *w
	old.records.City = ""
	old.apply()
	w.says(w.apply(), "")
	moved := w.records.City + "-2"
	if err := os.Rename(w.records.City, moved); err != nil {
		t.Fatal(err)
	}
	w = worldIn(t, moved)
	w.put(w.from, "copied", "two", 0o644)
	w.says(w.apply(), "updated: copied")
}

// After gcity was killed while it copied, the files that were already copied are still updated.
func TestApplyAfterAnInterruptedCopy(t *testing.T) {
	w := newWorld(t)
	w.put(w.from, "first", "one", 0o644)
	w.put(w.from, "second", "one", 0o644)
	w.put(w.from, "theirs", "one", 0o644)
	w.put(w.to, "theirs", "two", 0o644)
	tree, err := Scan(t.Context(), w.from)
	if err != nil {
		t.Fatal(err)
	}
	known, err := w.records.load(w.to)
	if err != nil {
		t.Fatal(err)
	}
	a := w.applier(known)
	synced := 0
	a.sync = func(*os.File) error {
		if synced++; synced == 2 {
			panic("killed")
		}
		return nil
	}
	func() {
		defer func() { _ = recover() }()
		_ = a.apply(t.Context(), tree.Files) // panics
	}()
	w.has("first", "one")
	w.put(w.from, "first", "two", 0o644)
	w.says(w.apply(), "copied: second; updated: first; left as they are: theirs")
}

// Two agents that share a folder do not replace each other's files.
func TestApplyLeavesAnotherOverlaysFiles(t *testing.T) {
	w := newWorld(t)
	w.put(w.from, "CLAUDE.md", "first", 0o644)
	w.apply()
	other := &world{t, filepath.Join(t.TempDir(), "other"), w.to, w.records}
	other.put(other.from, "CLAUDE.md", "second", 0o644)
	other.says(other.apply(), "left as they are: CLAUDE.md")
	w.has("CLAUDE.md", "first")
	w.put(w.from, "CLAUDE.md", "third", 0o644)
	w.says(w.apply(), "updated: CLAUDE.md")
}

// After RecordCopied, Apply keeps updating the files that its caller has changed. Other changed files are not updated.
func TestRecordCopied(t *testing.T) {
	w := newWorld(t)
	own := func(paths ...string) {
		t.Helper()
		if err := RecordCopied(w.to, w.records, paths); err != nil {
			t.Fatal(err)
		}
	}
	w.put(w.from, "a", "one", 0o644)
	if r := w.apply(); !slices.Equal(r.Written, []string{"a"}) {
		t.Errorf("%q", r.Written)
	}
	w.put(w.to, "a", "one and more", 0o644)
	w.put(w.to, "b", "theirs", 0o644)
	own("a", "b")
	r := w.apply()
	w.says(r, "")
	if !slices.Equal(r.Written, []string{"a"}) {
		t.Errorf("%q", r.Written)
	}
	w.has("a", "one and more")
	w.put(w.from, "a", "two", 0o644)
	w.put(w.from, "b", "ours", 0o644)
	w.says(w.apply(), "updated: a; left as they are: b")
	w.put(w.to, "a", "mine", 0o644)
	if r := w.apply(); len(r.Written) > 0 || len(r.Kept) != 2 {
		t.Errorf("%+v", r)
	}
}

func TestApplyStaysInItsFolders(t *testing.T) {
	w := newWorld(t)
	outside := filepath.Join(filepath.Dir(w.to), "outside")
	w.make(outside)
	w.put(w.from, "link/file", "x", 0o644)
	if err := os.Symlink(outside, filepath.Join(w.to, "link")); err != nil {
		t.Fatal(err)
	}
	w.put(w.from, "beside", "x", 0o644)
	w.says(w.apply(), "copied: beside; left as they are: link/file")
	if _, err := os.Lstat(filepath.Join(outside, "file")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file outside the folder was written: %v", err)
	}
	w.put(w.from, "dangling", "x", 0o644)
	if err := errors.Join(os.RemoveAll(filepath.Join(w.from, "link")), os.Symlink(filepath.Join(outside, "not yet"), filepath.Join(w.to, "dangling"))); err != nil {
		t.Fatal(err)
	}
	w.says(w.apply(), "left as they are: dangling")
	if _, err := os.Lstat(filepath.Join(outside, "not yet")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file outside the folder was written: %v", err)
	}
	w.put(w.from, "a/b", "x", 0o644)
	w.put(w.to, "a", "a file where a folder would be", 0o644)
	w.says(w.apply(), "left as they are: a/b, dangling")
}

func TestScanRefusesSpecialFiles(t *testing.T) {
	for want, make := range map[string]func(dir string) error{
		"has a link x that is dangling, or leads out of the overlay: path escapes from parent":  func(dir string) error { return os.Symlink("/etc/passwd", filepath.Join(dir, "x")) },
		"has a link x that is dangling, or leads out of the overlay: no such file or directory": func(dir string) error { return os.Symlink("y", filepath.Join(dir, "x")) },
		"has x, which is a special file or a link to a folder":                                  func(dir string) error { return syscall.Mkfifo(filepath.Join(dir, "x"), 0o600) },
		"is larger than 32 MB":              func(dir string) error { return os.Truncate(touch(dir, "x"), MaxSize+1) },
		"does not exist":                    os.RemoveAll,
		"cannot be opened: not a directory": func(dir string) error { return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600)) },
	} {
		dir := filepath.Join(t.TempDir(), "o")
		if err := errors.Join(os.Mkdir(dir, 0o700), make(dir)); err != nil {
			t.Fatal(err)
		}
		if _, err := Scan(t.Context(), dir); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func touch(dir, name string) string {
	file := filepath.Join(dir, name)
	_ = os.WriteFile(file, nil, 0o600) // a later access reports the error
	return file
}

func TestScanKnowsEveryChange(t *testing.T) {
	w := newWorld(t)
	w.put(w.from, "a/one", "1", 0o644)
	seen := map[string]string{}
	look := func(what string) {
		t.Helper()
		tree, err := Scan(t.Context(), w.from)
		if err != nil {
			t.Fatal(err)
		}
		if before, twice := seen[tree.Hash]; twice {
			t.Errorf("%s has the same hash as %s", what, before)
		}
		seen[tree.Hash] = what
		if want := []string{w.from, filepath.Join(w.from, "a")}; !slices.Equal(tree.Folders, want) {
			t.Errorf("%q", tree.Folders)
		}
	}
	first, err := Scan(t.Context(), w.from)
	if err != nil {
		t.Fatal(err)
	}
	w.put(w.from, "a/.one.swp", "", 0o644)
	w.put(w.from, "one~", "", 0o644)
	w.put(w.from, "#one#", "", 0o644)
	if err := os.Symlink("user@host.123", filepath.Join(w.from, ".#one")); err != nil {
		t.Fatal(err)
	}
	look("the first")
	if tree, err := Scan(t.Context(), w.from); err != nil || tree.Hash != first.Hash {
		t.Errorf("files of editors change the overlay: %+v, %v", tree.Files, err)
	}
	w.put(w.from, "a/one", "2", 0o644)
	look("another content")
	w.put(w.from, "a/one", "2", 0o755)
	look("another mode")
	if err := os.Rename(filepath.Join(w.from, "a/one"), filepath.Join(w.from, "a/two")); err != nil {
		t.Fatal(err)
	}
	look("another name")
}

func TestInvalidRecordChangesNothing(t *testing.T) {
	w := newWorld(t)
	w.put(w.from, "a", "one", 0o644)
	w.apply()
	files, err := filepath.Glob(filepath.Join(w.records.Dir, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	if err := os.WriteFile(files[0], []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	w.put(w.from, "a", "two", 0o644)
	w.says(w.apply(), "left as they are: a")
	w.has("a", "one")
}

func TestApplyEndsWithItsContext(t *testing.T) {
	w := newWorld(t)
	w.put(w.from, "a", "one", 0o644)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("enough"))
	if _, err := Apply(ctx, w.from, w.to, w.records); err == nil || !strings.Contains(err.Error(), "enough") {
		t.Error(err)
	}
}

func TestFilesAreWrittenAtomically(t *testing.T) {
	w := newWorld(t)
	big := strings.Repeat("x", 1<<20)
	w.put(w.from, "big", big, 0o644)
	done := make(chan struct{})
	var reader sync.WaitGroup
	reader.Go(func() {
		for {
			data, err := os.ReadFile(filepath.Join(w.to, "big"))
			if err == nil && len(data) != len(big) {
				t.Errorf("a reader saw a file with %d bytes", len(data))
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	w.apply()
	close(done)
	reader.Wait()
	w.has("big", big)
}

// A file's content is on the disk before the file has its name, so a power failure cannot leave an empty file.
func TestFilesAreSynced(t *testing.T) {
	w := newWorld(t)
	synced := ""
	a := w.applier(&record{Files: map[string]fileRecord{}})
	a.sync = func(f *os.File) error {
		data, err := os.ReadFile(f.Name())
		there, _ := os.ReadFile(filepath.Join(w.to, "a"))
		synced += string(there) + " -> " + string(data) + "\n"
		return err
	}
	for _, text := range []string{"one", "two"} {
		w.put(w.from, "a", text, 0o644)
		for range 2 { // the second call has nothing to write
			if err := a.file(File{Path: "a", Mode: 0o644}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if want := " -> one\none -> two\n"; synced != want {
		t.Errorf("synced %q, want %q", synced, want)
	}
	a.sync = func(*os.File) error { return syscall.EIO }
	w.put(w.from, "a", "three", 0o644)
	if err := a.file(File{Path: "a", Mode: 0o644}); !errors.Is(err, syscall.EIO) {
		t.Errorf("a failed sync: %v", err)
	}
	w.has("a", "two")
}
