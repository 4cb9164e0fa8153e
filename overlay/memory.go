package overlay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"gcity/internal/disk"
)

// Records is the folder with the lists of copied files.
type Records struct {
	Dir string
	// City is the city's folder. The lists contain paths inside it relative to it, so they stay valid if it is moved.
	City string
}

func (r Records) name(path string) string {
	below, err := filepath.Rel(r.City, path)
	if err == nil && filepath.IsLocal(below) {
		return below
	}
	return path
}

func (r Records) file(folder string) string {
	return filepath.Join(r.Dir, sum([]byte(folder))[:16]+".json")
}

type record struct {
	Folder string                `json:"folder"` // see Records.name
	Files  map[string]fileRecord `json:"files"`  // by path
	// it contained absolute paths inside the city, as written by older versions
	absolute bool
}

type fileRecord struct {
	From   string `json:"from"` // the overlay's folder; see Records.name
	Source string `json:"source"`
	// of the copied file
	Hash string `json:"sha256"`
}

// load reads the record of the files copied into a folder. Without a readable record, all existing files count as
// foreign.
func (r Records) load(folder string) (*record, error) {
	name := r.name(folder)
	data, err := disk.ReadFile(r.file(name))
	if errors.Is(err, fs.ErrNotExist) {
		data, err = disk.ReadFile(r.file(folder)) // older versions stored only absolute paths
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot read the record of copied files: %w", err)
	}
	known := &record{}
	if err != nil || json.Unmarshal(data, known) != nil || r.name(known.Folder) != name ||
		known.Files == nil {
		known = &record{Folder: name, Files: map[string]fileRecord{}}
	}
	known.absolute, known.Folder = known.Folder != name, name
	for at, f := range known.Files {
		if from := r.name(f.From); from != f.From {
			f.From, known.absolute = from, true
			known.Files[at] = f
		}
	}
	return known, nil
}

func (r Records) save(known *record) error {
	data, err := json.MarshalIndent(known, "", "  ")
	if err == nil {
		err = disk.MkdirAll(r.Dir, 0o700)
	}
	if err == nil {
		err = disk.Save(r.file(known.Folder), append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("cannot write the record of copied files: %w", err)
	}
	return nil
}

// RecordCopied records the current content of copied files, so that Apply can still update them. Call it after changing
// files in Report.Written.
func RecordCopied(to string, records Records, paths []string) error {
	known, err := records.load(to)
	if err != nil {
		return err
	}
	root, err := open(to)
	if err != nil {
		return fmt.Errorf("the folder %s %w", to, err)
	}
	defer root.Close()
	changed := false
	for _, at := range paths {
		m, ok := known.Files[at]
		if !ok {
			continue
		}
		data, _, err := read(root, at, MaxSize)
		if err != nil {
			return err
		}
		m.Hash = sum(data)
		known.Files[at], changed = m, true
	}
	if !changed {
		return nil
	}
	return records.save(known)
}
