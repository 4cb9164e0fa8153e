// Package topology keeps copies of topologies that live in git repositories: fetched when somebody says so, held at the
// commit that a lock file names, and read without a network from then on.
//
// # Concurrency
//
// All functions may be called by any goroutine. Fetches for one city take turns, between processes too.
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

// LockFile is beside city.toml and belongs into its repository: it says which commits the city is made of.
const LockFile = "topologies.lock"

// maxLock is the size of a lock file, in bytes.
const maxLock = 1 << 20

// Want is a topology as the configuration asks for it.
type Want struct {
	Name   string
	Source string // as it is written
	From   string // what git is given: the source, or the absolute path that it means
	Ref    string // "" = the repository's own branch
	Path   string // of the topology's folder within the repository; "" = its top
}

// A topology's folder has one of these files.
const (
	File     = "topology.toml"
	PackFile = "pack.toml"
)

// lacks says what a copy is without that makes it no topology, "" if it is one.
func (w Want) lacks(folder string) string {
	for _, name := range []string{File, PackFile} {
		if _, err := os.Stat(filepath.Join(folder, w.Path, name)); err == nil {
			return ""
		}
	}
	return filepath.Join(w.Path, File)
}

// fits fails for a copy at a commit that is no topology.
func (w Want) fits(folder, commit string) error {
	if file := w.lacks(folder); file != "" {
		return fmt.Errorf("commit %.12s has no %s, so nothing is changed; another ref, or the "+
			"path within the repository, may be meant", commit, file)
	}
	return nil
}

// Pin is what a lock file says of one topology.
type Pin struct {
	Source, Ref string
	Commit      string // hex, in full
}

// Lock is what is held where, by name.
type Lock map[string]Pin

// ReadLock reads the lock file of a city. A city without one holds nothing.
func ReadLock(city string) (Lock, error) {
	path := filepath.Join(city, LockFile)
	doc, err := toml.Load(path, LockFile, maxLock)
	if errors.Is(err, fs.ErrNotExist) {
		return Lock{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w", LockFile, err)
	}
	out := Lock{}
	root := doc.Root()
	root.Only("topologies")
	all, _ := root.Table("topologies")
	for _, name := range all.Keys() {
		t, ok := all.Table(name)
		if !ok {
			continue
		}
		t.Only("source", "ref", "commit")
		p := Pin{t.Text("source"), t.Text("ref"), t.Text("commit")}
		if !isCommit(p.Commit) {
			t.Wrong("commit", "is no commit; take the table out, and `gcity topology fetch` "+
				"writes it anew")
		}
		out[name] = p
	}
	if wrong := doc.Problems(); len(wrong) > 0 {
		for i := range wrong {
			if strings.Contains(wrong[i].Message, "topology fetch") {
				continue
			}
			wrong[i].Message += "; put the file back as it was, or remove it, and `gcity " +
				"topology fetch` writes it anew, with the newest commits"
		}
		return nil, wrong
	}
	return out, nil
}

// write replaces the lock file of a city.
func (l Lock) write(city string) error {
	var b strings.Builder
	b.WriteString("# The commits that this city's topologies are held at. `gcity topology fetch` " +
		"writes it; keep it with city.toml.\n")
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
		return fmt.Errorf("%s cannot be written: %w", LockFile, err)
	}
	return nil
}

// quote is a string of TOML. What it is given has no control characters: the configuration refuses them.
func quote(s string) string { return strconv.Quote(s) }

func isCommit(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// Folder is where the copy of a topology is, or would be.
func Folder(city, name string) string { return filepath.Join(city, ".gc", "topologies", name) }

// head is the commit that a copy is at, "" if there is no copy.
func head(folder string) string {
	data, err := os.ReadFile(filepath.Join(folder, ".git", "HEAD"))
	if commit := strings.TrimSpace(string(data)); err == nil && isCommit(commit) {
		return commit
	}
	return ""
}

// Fetched gives the folder of a topology's copy. It is an error, with what to do about it, if that is not there, or
// is not what the configuration and the lock ask for. No program is run.
func Fetched(city string, w Want) (string, error) {
	lock, err := ReadLock(city)
	if err != nil {
		return "", err
	}
	folder := Folder(city, w.Name)
	if why := lock.stale(folder, w); why != "" {
		return "", fmt.Errorf("the topology %q %s; run `gcity topology fetch %s`", w.Name, why,
			w.Name)
	}
	if err := contained(folder); err != nil {
		return "", fmt.Errorf("the topology %q has %w; take it from a ref that has no such link, "+
			"and run `gcity topology fetch %s --update`", w.Name, err, w.Name)
	}
	return folder, nil
}

// stale says why a copy cannot be used, "" if it can.
func (l Lock) stale(folder string, w Want) string {
	pin, held := l[w.Name]
	at := head(folder)
	switch {
	case !held || at == "" && pin.Source == w.Source && pin.Ref == w.Ref:
		return "is not fetched"
	case pin.Source != w.Source:
		return fmt.Sprintf("was fetched from %q, and now comes from %q", pin.Source, w.Source)
	case pin.Ref != w.Ref:
		return fmt.Sprintf("was fetched at ref %q, and now is at ref %q", pin.Ref, w.Ref)
	case at != pin.Commit:
		return fmt.Sprintf("is at commit %.12s, and %s says %.12s", at, LockFile, pin.Commit)
	}
	return ""
}

// State is how a topology stands.
type State struct {
	Want
	Commit string // that the lock names, "" = none
	Folder string // of the copy, whether or not it is there
	Stale  string // why it cannot be used, "" = it can
}

// States tells how topologies stand. No program is run.
func States(city string, wants []Want) ([]State, error) {
	lock, err := ReadLock(city)
	if err != nil {
		return nil, err
	}
	out := make([]State, len(wants))
	for i, w := range wants {
		folder := Folder(city, w.Name)
		out[i] = State{w, lock[w.Name].Commit, folder, lock.stale(folder, w)}
		if file := w.lacks(folder); out[i].Stale == "" && file != "" {
			out[i].Stale = fmt.Sprintf("has no %s at commit %.12s", file, out[i].Commit)
		}
	}
	return out, nil
}
