package overlay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"gcity/internal/disk"
)

type record struct {
	Folder string                `json:"folder"`
	Files  map[string]fileRecord `json:"files"` // by path
}

type fileRecord struct {
	From   string `json:"from"` // the overlay's folder
	Source string `json:"source"`
	// of the copied file
	Hash string `json:"sha256"`
}

// loadRecord reads the record of copied files. Without a readable record, all existing files count as foreign.
func loadRecord(file, folder string) (*record, error) {
	r := &record{}
	data, err := disk.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot read the record of copied files: %w", err)
	}
	if err != nil || json.Unmarshal(data, r) != nil || r.Folder != folder || r.Files == nil {
		r = &record{Folder: folder, Files: map[string]fileRecord{}}
	}
	return r, nil
}

func saveRecord(file string, r *record) error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = disk.MkdirAll(filepath.Dir(file), 0o700)
	}
	if err == nil {
		err = disk.Save(file, append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("cannot write the record of copied files: %w", err)
	}
	return nil
}

// RecordCopied records the current content of copied files, so that Apply can still update them. Call it after changing
// files in Report.Written.
func RecordCopied(to, memory string, paths []string) error {
	file := fileOf(memory, to)
	known, err := loadRecord(file, to)
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
	return saveRecord(file, known)
}

func fileOf(memory, to string) string { return filepath.Join(memory, sum([]byte(to))[:16]+".json") }
