package automation

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gcity/internal/toml"
)

// patience is how long a layer has to answer, where nothing else is said.
const patience = 5 * time.Second

// maxLooks is how many layers may leave a scanner without an answer before it looks at no more of them.
const maxLooks = 256

// shelf is what a layer's folder had when it was looked at. It does not change: a look that comes too late has it
// still.
type shelf struct {
	err   error             // why the folder cannot be read
	names []string          // found when it could be read last
	files map[string]*known // by name, as they could be read last
	found map[string]*known // by name: what counts
	odd   toml.Problems     // what was meant to be an automation, and is none
}

// known is a file as it was read.
type known struct {
	stamp
	spec     spec
	def      Definition
	problems toml.Problems
}

// look reads a layer's folder, however long that takes. What was read before and has not changed is taken from there.
func look(dir string, before *shelf, local *time.Location, now time.Time) *shelf {
	s := &shelf{files: map[string]*known{}, found: map[string]*known{}}
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s
	case err != nil: // a folder that cannot be read is not an empty one
		return before.kept(err)
	}
	for _, e := range entries {
		name := e.Name()
		if !e.IsDir() && e.Type() != fs.ModeSymlink {
			if file, ok := strings.CutSuffix(name, ".toml"); ok {
				s.warn(filepath.Join(dir, name), "is not read: an automation is a folder; "+
					"move it to "+filepath.Join(dir, file, FileName))
			}
			continue
		}
		s.names = append(s.names, name)
		k, was := readFile(filepath.Join(dir, name, FileName), before.files[name], local, now)
		if k != nil {
			s.found[name] = k
		} else if odd := strange(filepath.Join(dir, name)); odd != "" {
			s.warn(filepath.Join(dir, name), odd)
		}
		if was != nil {
			s.files[name] = was
		}
	}
	return s
}

// kept is the shelf when nothing new can be known of it.
func (s *shelf) kept(why error) *shelf {
	return &shelf{err: why, names: s.names, files: s.files, found: s.found, odd: s.odd}
}

// readFile gives a file, from memory if it has not changed; nil if there is none. was is what to remember of it.
func readFile(path string, before *known, local *time.Location, now time.Time) (k, was *known) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && before != nil && before.still(info) {
		return before, before
	}
	var doc *toml.Doc
	if err == nil {
		doc, err = toml.Load(path, path, MaxSize)
	}
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return &known{problems: toml.Problems{toml.At(toml.Place{File: path}, "",
			"it cannot be read: %s", reason(err))}}, before
	}
	k = &known{stamp: stampOf(info, now)}
	k.spec, k.def, k.problems = read(doc, local)
	return k, k
}

// warn notes something about a path that is not an automation.
func (s *shelf) warn(path, text string) {
	s.odd = append(s.odd, toml.At(toml.Place{File: path}, "", "%s", text))
}

// strange says what is odd about a folder that has no automation although it looks like one, "" = nothing.
func strange(folder string) string {
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return "is a link that leads nowhere"
	}
	if _, err := os.Lstat(filepath.Join(folder, FileName)); err == nil {
		return "its " + FileName + " is a link that leads nowhere"
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".toml" {
			return fmt.Sprintf("has no %s, so it is no automation; %s is not read", FileName,
				e.Name())
		}
	}
	return ""
}

// reason is a file system's error without the path, which is told already.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
