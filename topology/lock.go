// Package topology keeps copies of topologies from git repositories. A lock file pins each copy to a commit, and copies
// are read without network access.
//
// # Concurrency
//
// All functions may be called by any goroutine. Fetches for one city run one after another, even in different
// processes.
package topology

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gcity/internal/disk"
	"gcity/internal/toml"
)

// LockFile is stored next to city.toml and should be committed with it. It pins the commits of the city's
// topologies.
const LockFile = "topologies.lock"

const maxLock = 1 << 20

// Remote describes a topology in a git repository, as configured.
type Remote struct {
	Name   string
	Source string // as written in the configuration
	From   string // the argument for git: the source, or the absolute path of a folder
	Ref    string // "" means the default branch
	Path   string // the topology's folder in the repository; "" means its root
}

// Names of the files that declare a topology.
const (
	File     = "topology.toml"
	PackFile = "pack.toml"
)

func (w Remote) missingFile(folder string) string {
	for _, name := range []string{File, PackFile} {
		if _, err := os.Stat(filepath.Join(folder, w.Path, name)); err == nil {
			return ""
		}
	}
	return filepath.Join(w.Path, File)
}

func (w Remote) checkFetched(folder, commit string, pinned bool) error {
	file := w.missingFile(folder)
	if file == "" {
		return nil
	}
	advice := ""
	if pinned {
		advice = fmt.Sprintf(", or run `gcity topology fetch %s --update` to fetch the newest "+
			"commit", w.Name)
	}
	return fmt.Errorf("commit %.12s has no %s; check the ref and the "+
		"path within the repository%s", commit, file, advice)
}

// Pin is a topology's entry in a lock file.
type Pin struct {
	Source, Ref string
	Commit      string // full commit ID in hexadecimal
}

// Lock maps the names of topologies to their pins.
type Lock map[string]Pin

// ReadLock reads a city's lock file. If the file does not exist, the lock is empty.
func ReadLock(city string) (Lock, error) {
	path := filepath.Join(city, LockFile)
	doc, err := toml.Load(path, LockFile, maxLock)
	if errors.Is(err, fs.ErrNotExist) {
		return Lock{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", LockFile, err)
	}
	out := Lock{}
	root := doc.Root()
	root.RejectUnknown("topologies")
	all, _ := root.Table("topologies")
	for _, name := range all.Keys() {
		t, ok := all.Table(name)
		if !ok {
			continue
		}
		t.RejectUnknown("source", "ref", "commit")
		p := Pin{t.Text("source"), t.Text("ref"), t.Text("commit")}
		if !isCommit(p.Commit) {
			t.Wrong("commit", "is not a commit; remove the table, and run `gcity topology fetch` "+
				"to write it again")
		}
		out[name] = p
	}
	if wrong := doc.Problems(); len(wrong) > 0 {
		for i := range wrong {
			if strings.Contains(wrong[i].Message, "topology fetch") {
				continue
			}
			wrong[i].Message += "; restore the file, or remove it and run `gcity topology fetch` " +
				"to write it again with the newest commits"
		}
		return nil, wrong
	}
	return out, nil
}

func (l Lock) write(city string) error {
	var b strings.Builder
	b.WriteString("# The commits of this city's topologies. `gcity topology fetch` writes this " +
		"file; commit it together with city.toml.\n")
	names := make([]string, 0, len(l))
	for name := range l {
		names = append(names, name)
	}
	slices.SortFunc(names, cmp.Compare[string])
	for _, name := range names {
		p := l[name]
		fmt.Fprintf(&b, "\n[topologies.%s]\nsource = %s\n", quote(name), quote(p.Source))
		if p.Ref != "" {
			fmt.Fprintf(&b, "ref = %s\n", quote(p.Ref))
		}
		fmt.Fprintf(&b, "commit = %s\n", quote(p.Commit))
	}
	if err := disk.WriteFile(filepath.Join(city, LockFile), []byte(b.String()), 0o644); err != nil {
		return fmt.Errorf("cannot write %s: %w", LockFile, err)
	}
	return nil
}

// The caller of quote ensures that s has no control characters.
func quote(s string) string { return strconv.Quote(s) }

func isCommit(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// Folder returns the path of a topology's copy. The copy might not exist.
func Folder(city, name string) string { return filepath.Join(city, ".gc", "topologies", name) }

func head(folder string) string {
	data, err := os.ReadFile(filepath.Join(folder, ".git", "HEAD"))
	if commit := strings.TrimSpace(string(data)); err == nil && isCommit(commit) {
		return commit
	}
	return ""
}

// Fetched returns the folder of a topology's copy. It returns an error with the command to run if the copy is missing
// or out of date. It runs no programs.
func Fetched(city string, w Remote) (string, error) {
	lock, err := ReadLock(city)
	if err != nil {
		return "", err
	}
	folder := Folder(city, w.Name)
	if why := lock.stale(folder, w); why != "" {
		return "", fmt.Errorf("topology %q %s; run `gcity topology fetch %s`", w.Name, why,
			w.Name)
	}
	if err := contained(folder); err != nil {
		return "", fmt.Errorf("topology %q has %w; choose a ref without such a link, and run "+
			"`gcity topology fetch %s --update`", w.Name, err, w.Name)
	}
	return folder, nil
}

func (l Lock) stale(folder string, w Remote) string {
	pin, held := l[w.Name]
	at := head(folder)
	switch {
	case !held || at == "" && pin.Source == w.Source && pin.Ref == w.Ref:
		return "is not fetched"
	case pin.Source != w.Source:
		return fmt.Sprintf("was fetched from %q, but its source is now %q", pin.Source, w.Source)
	case pin.Ref != w.Ref:
		return fmt.Sprintf("was fetched at ref %q, but its ref is now %q", pin.Ref, w.Ref)
	case at != pin.Commit:
		return fmt.Sprintf("is at commit %.12s, but %s pins %.12s", at, LockFile, pin.Commit)
	}
	return ""
}

// State is the state of one topology.
type State struct {
	Remote
	Commit string // the pinned commit; "" = not pinned
	Folder string // path of the copy, which might be missing
	Stale  string // why the copy cannot be used; "" = it can be used
}

// States returns the states of topologies. It runs no programs.
func States(city string, wants []Remote) ([]State, error) {
	lock, err := ReadLock(city)
	if err != nil {
		return nil, err
	}
	out := make([]State, len(wants))
	for i, w := range wants {
		folder := Folder(city, w.Name)
		out[i] = State{w, lock[w.Name].Commit, folder, lock.stale(folder, w)}
		if file := w.missingFile(folder); out[i].Stale == "" && file != "" {
			out[i].Stale = fmt.Sprintf("has no %s at commit %.12s", file, out[i].Commit)
		}
	}
	return out, nil
}
