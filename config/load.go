package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"gcity/internal/ownership"
	"gcity/internal/toml"
)

// What a file may be at most.
const (
	MaxSize     = 10 << 20 // bytes
	maxProblems = 50       // told at once
)

// Find looks for the city that start is in: start itself or the nearest folder above it that has a city.toml. The
// result is absolute and free of symbolic links.
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
			return "", fmt.Errorf("no city here: neither %s nor a folder above it has a %s; make "+
				"one with \"gcity init\", "+
				"or name one with --city DIR", abs, FileName)
		}
	}
}

// WasCity reports whether a folder without a configuration has been a city: it may still have agents to be looked
// at and stopped.
func WasCity(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, ".gc", "controller.lock"))
	return err == nil
}

// Canonical returns dir, absolute and free of symbolic links.
func Canonical(dir string) (string, error) {
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

// ReadSource reads a source of at most MaxSize bytes that only the user and root can change. It does not wait: what
// is no file at all may never answer.
func ReadSource(path string) ([]byte, error) {
	data, err := readAny(path)
	if err == nil {
		err = owned(path)
	}
	return data, err
}

// foreign is the error of a file that another user can change. It is a *toml.Fault, too.
type foreign struct{ *toml.Fault }

func (f foreign) Unwrap() error { return f.Fault }

// owned returns a foreign if another user can change a file or folder.
func owned(path string) error {
	if err := ownership.Check(path); err != nil {
		return foreign{&toml.Fault{At: toml.Everywhere, Msg: err.Error()}}
	}
	return nil
}

// readAny is ReadSource whoever can change the file.
func readAny(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
		return nil, &toml.Fault{Msg: "it is not a regular file"}
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err == nil && len(data) > MaxSize {
		return nil, tooLarge()
	}
	return data, err
}

func tooLarge() *toml.Fault {
	return &toml.Fault{At: toml.Everywhere, Msg: fmt.Sprintf("the file is larger than %d MB; is "+
		"it the right one?", MaxSize>>20)}
}

// Beats picks out of an environment what beats the file, as Load understands it.
func Beats(environ []string) []string {
	var out []string
	for _, kv := range environ {
		if path, value := beaten(kv); path != "" && value != "" {
			out = append(out, kv)
		}
	}
	return out
}

// beaten is the key that an entry of the environment beats, "" if none.
func beaten(kv string) (path, value string) {
	name, value, _ := strings.Cut(kv, "=")
	return map[string]string{"GC_SESSION": "session.provider", "GC_BEADS": "beads.provider",
		"GC_EVENTS": "events.provider"}[name], value
}

// environment lets the environment beat the file.
func (d *decoder) environment(environ []string) {
	for _, kv := range Beats(environ) {
		path, value := beaten(kv)
		name, _, _ := strings.Cut(kv, "=")
		k, origin := d.schema.ByPath[path], Origin{File: "environment " + name}
		if msg := k.Wrong(value); msg != "" {
			d.say(origin, "", msg)
			continue
		}
		set(place{city: d.city}.field(k), value)
		d.city.Origins[path] = origin
	}
	if d.city.Session.Provider == "" {
		d.city.Session.Provider = defaultProvider
	}
}

// failure is all problems as an error, in the order of the files, behind what keeps from knowing what else is wrong.
func (d *decoder) failure() *Error {
	order := make([]int, len(d.problems))
	for i := range order {
		order[i] = i
		d.problems[i].Message += d.about[i].whom()
	}
	rank := func(i int) int {
		if d.about[i].cause {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := &d.problems[i], &d.problems[j]
		return cmp.Or(cmp.Compare(rank(i), rank(j)),
			cmp.Compare(slices.Index(d.files, a.File), slices.Index(d.files, b.File)),
			cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	sorted := make([]Problem, len(order), len(order)+1)
	for to, from := range order {
		sorted[to] = d.problems[from]
	}
	d.problems = sorted
	if d.more {
		d.problems = append(d.problems, Problem{
			Message: fmt.Sprintf("… and more; these are the first %d", maxProblems)})
	}
	return &Error{Path: d.city.Path, Problems: d.problems, Warnings: d.city.Warnings}
}

// revision is one hash over those of the sources, over the folders of topologies and those that fragments and
// overlays are in, and over the folders of rigs that cannot be used: when one comes to be there, the configuration
// means something else. A source that cannot be read has no hash: that is the problem of who names it.
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
	for _, folder := range slices.Sorted(maps.Keys(d.outfits.folders)) {
		fmt.Fprintf(h, "%s\x00%s\n", folder, d.outfits.folders[folder])
	}
	for _, dir := range d.city.trees {
		contents, more := contentsOf(dir)
		fmt.Fprintf(h, "%s\x00tree %s\n", dir, contents)
		if more {
			d.city.Warnings = append(d.city.Warnings,
				Problem{Origin: Origin{File: d.city.called(dir)}, Message: fmt.Sprintf(
					"the topology's folder has more than %d files or %d MB in it; changes of the "+
						"others are not noticed", maxTreeFiles, maxTreeSize>>20)})
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}
