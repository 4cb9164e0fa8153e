package config

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// What a file may be at most.
const (
	MaxSize     = 10 << 20 // bytes
	MaxAgents   = 10_000
	maxProblems = 50 // told at once
)

// Find looks for the city that start is in: start itself or the nearest folder above it that has a city.toml. The result
// is absolute and free of symbolic links.
func Find(start string) (string, error) {
	abs, err := filepath.Abs(start)
	if err != nil {
		return "", fmt.Errorf("cannot look for a city: %w", err)
	}
	abs, err = filepath.EvalSymlinks(abs)
	if err != nil {
		return "", fmt.Errorf("cannot look for a city in %s: %w", start, err)
	}
	for dir := abs; ; dir = filepath.Dir(dir) {
		_, err := os.Stat(filepath.Join(dir, FileName))
		if err == nil || WasCity(dir) {
			return dir, nil
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return "", fmt.Errorf("cannot look for a city: %w", err)
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no city here: neither %s nor a folder above it has a %s; make one with \"gcity init\", "+
				"or name one with --city DIR", abs, FileName)
		}
	}
}

// WasCity reports whether a folder without a configuration has been a city: it may still have agents to be looked at and
// stopped.
func WasCity(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, ".gc", "controller.lock"))
	return err == nil
}

// Load reads the configuration of the city in dir. environ ("K=V") beats the file: GC_SESSION names the session
// provider, GC_BEADS that of the work.
// What is wrong with the content, all of it, is an *Error.
func Load(dir string, environ ...string) (*City, error) {
	dir, err := canonical(dir)
	if err != nil {
		return nil, fmt.Errorf("cannot read the city in %s: %w", dir, err)
	}
	data, err := read(filepath.Join(dir, FileName))
	var f *fault
	switch {
	case errors.As(err, &f):
		return nil, whole(dir, f.msg)
	case errors.Is(err, fs.ErrNotExist):
		return nil, whole(dir, "the file is gone; put it back, or make a new one with \"gcity init\"")
	case err != nil:
		return nil, fmt.Errorf("cannot read the city's configuration: %w", err)
	}
	return Parse(dir, data, environ...)
}

// canonical is dir, absolute and free of symbolic links.
func canonical(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return dir, err
	}
	links, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return dir, err
	}
	return links, nil
}

// whole is an error about the file as a whole.
func whole(dir, msg string) *Error {
	return &Error{Path: dir, Problems: []Problem{{Origin: Origin{File: FileName}, Message: msg}}}
}

// read reads a source of at most MaxSize bytes. It does not wait: what is no file at all may never answer.
func read(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
		return nil, &fault{msg: "it is not a regular file"}
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err == nil && len(data) > MaxSize {
		return nil, tooLarge()
	}
	return data, err
}

func tooLarge() *fault {
	return &fault{at: everywhere, msg: fmt.Sprintf("the file is larger than %d MB; is it the right one?", MaxSize>>20)}
}

// Revision is the Revision of the configuration as it is on disk now, whether or not it is valid.
func Revision(dir string) (string, error) {
	dir, err := canonical(dir)
	if err != nil {
		return "", fmt.Errorf("cannot look at the city's configuration: %w", err)
	}
	path := filepath.Join(dir, FileName)
	data, err := read(path)
	if err != nil {
		return "", fmt.Errorf("cannot look at the city's configuration: %w", err)
	}
	for _, key := range []string{"session_setup_script", "rigs", "include"} {
		if bytes.Contains(data, []byte(key)) {
			return decode(dir, data, nil).revision(), nil
		}
	}
	return (&decoder{city: &City{Sources: []string{path}}, hashes: map[string]string{path: sum(data)}}).revision(), nil
}

// Parse is Load for a city.toml that has been read already. What it includes, and the scripts that it names, are read from
// below dir, which is taken as it stands.
func Parse(dir string, data []byte, environ ...string) (*City, error) {
	d := decode(dir, data, environ)
	if len(d.problems) > 0 {
		return nil, d.failure()
	}
	d.city.Revision = d.revision()
	return d.city, nil
}

// decode reads a configuration as far as that goes.
func decode(dir string, data []byte, environ []string) *decoder {
	path := filepath.Join(dir, FileName)
	d := &decoder{schema: newSchema(), hashes: map[string]string{path: sum(data)}}
	d.city = &City{Path: dir, Sources: []string{path}, Origins: map[string]Origin{}}
	root := d.open(FileName, data, cityNeeds)
	if root == nil {
		return d
	}
	for _, table := range []string{"workspace", "daemon", "session", "events", "beads", "formulas", "automations"} {
		d.defaults(table, place{city: d.city})
	}
	d.table(root, "", place{city: d.city})
	d.inOrder(0)
	d.include(root)
	d.environment(environ)
	d.whole()
	return d
}

// environment lets the environment beat the file.
func (d *decoder) environment(environ []string) {
	for _, kv := range environ {
		name, value, _ := strings.Cut(kv, "=")
		path := map[string]string{"GC_SESSION": "session.provider", "GC_BEADS": "beads.provider"}[name]
		if path == "" || value == "" {
			continue
		}
		k, origin := d.schema.byPath[path], Origin{File: "environment " + name}
		if msg := k.check(value); msg != "" {
			d.say(origin, "", msg)
			continue
		}
		set(k.field(place{city: d.city}), value)
		d.city.Origins[path] = origin
	}
	if d.city.Session.Provider == "" {
		d.city.Session.Provider = "pty"
	}
}

// failure is all problems as an error, in the order of the files.
func (d *decoder) failure() *Error {
	slices.SortStableFunc(d.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(slices.Index(d.files, a.File), slices.Index(d.files, b.File)), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if d.more {
		d.problems = append(d.problems, Problem{Message: fmt.Sprintf("… and more; these are the first %d", maxProblems)})
	}
	return &Error{Path: d.city.Path, Problems: d.problems}
}

// revision is one hash over those of the sources, and over the folders of rigs that cannot be used: when one comes to be
// there, the configuration means something else. A source that cannot be read has no hash: that is the problem of who
// names it.
func (d *decoder) revision() string {
	h := sha256.New()
	for _, path := range d.city.Sources {
		fmt.Fprintf(h, "%s\x00%s\n", path, d.hashes[path])
	}
	for _, r := range d.city.Rigs {
		if r.Problem != "" {
			fmt.Fprintf(h, "%s\x00\x00%s\n", r.Path, r.Problem)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
