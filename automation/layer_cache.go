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

const patience = 10 * time.Second

// maxReading limits the concurrent reads of layers.
const maxReading = 256

// layerCache is the result of reading a layer's folder. It is immutable, because a slow read may still use it.
type layerCache struct {
	err      error
	names    []string               // from the last successful read
	files    map[string]*cachedFile // by name, from the last successful read
	found    map[string]*cachedFile // files that contain an automation, by name
	warnings toml.Problems          // about entries that look like automations but are not
}

type cachedFile struct {
	stamp
	spec     spec
	def      Definition
	problems toml.Problems
}

// readLayer may block.
func readLayer(dir string, previous *layerCache, local *time.Location, now time.Time) *layerCache {
	s := &layerCache{files: map[string]*cachedFile{}, found: map[string]*cachedFile{}}
	s.warnOrders(dir)
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s
	case err != nil: // a folder that cannot be read is not treated as empty
		return previous.withError(err)
	}
	for _, e := range entries {
		name := e.Name()
		if !e.IsDir() && e.Type() != fs.ModeSymlink {
			if file, ok := strings.CutSuffix(name, ".toml"); ok {
				s.warn(filepath.Join(dir, name), "is ignored, because an automation is a "+
					"folder; move this file to "+filepath.Join(dir, file, FileName))
			}
			continue
		}
		s.names = append(s.names, name)
		k, was := readFile(filepath.Join(dir, name, FileName), previous.files[name], local, now)
		if k != nil {
			s.found[name] = k
		} else if odd := misplaced(filepath.Join(dir, name)); odd != "" {
			s.warn(filepath.Join(dir, name), odd)
		}
		if was != nil {
			s.files[name] = was
		}
	}
	return s
}

func (s *layerCache) withError(why error) *layerCache {
	return &layerCache{err: why, names: s.names, files: s.files, found: s.found,
		warnings: s.warnings}
}

func readFile(
	path string, previous *cachedFile, local *time.Location, now time.Time,
) (k, was *cachedFile) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err == nil && previous != nil && previous.unchanged(info) {
		return previous, previous
	}
	var doc *toml.Doc
	if err == nil {
		doc, err = toml.Load(path, path, MaxSize)
	}
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return &cachedFile{problems: toml.Problems{toml.At(toml.Place{File: path}, "",
			"the file cannot be read: %s", reason(err))}}, previous
	}
	k = &cachedFile{stamp: stampOf(info, now)}
	k.spec, k.def, k.problems = read(doc, local)
	return k, k
}

func (s *layerCache) warn(path, text string) {
	s.warnings = append(s.warnings, toml.At(toml.Place{File: path}, "", "%s", text))
}

// warnOrders reports Gas City's orders in the folder next to dir.
func (s *layerCache) warnOrders(dir string) {
	orders := filepath.Join(filepath.Dir(dir), "orders")
	entries, _ := os.ReadDir(orders) // the folder is optional
	for _, e := range entries {
		file := filepath.Join(orders, e.Name(), "order.toml")
		if _, err := os.Stat(file); err == nil {
			s.warn(file, "is ignored, because gcity does not read orders; move this file to "+
				filepath.Join(dir, e.Name(), FileName)+" and rename its table to [automation]")
		}
	}
}

func misplaced(folder string) string {
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		return "is a dangling link"
	}
	if _, err := os.Lstat(filepath.Join(folder, FileName)); err == nil {
		return "its " + FileName + " is a dangling link"
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		if filepath.Ext(e.Name()) == ".toml" {
			return fmt.Sprintf("has no %s, so it is not an automation; %s is ignored", FileName,
				e.Name())
		}
	}
	return ""
}

func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
