// Package overlay copies the files in one folder into another. It replaces only files that it has copied and that have
// not changed since.
//
// # Concurrency
//
// Callers must not apply overlays to the same folder at the same time.
package overlay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"gcity/internal/disk"
)

const (
	MaxFiles = 2000     // maximum number of files, and of folders
	MaxSize  = 32 << 20 // maximum total size of the files in bytes
)

// File is one file of an overlay.
type File struct {
	Path string // relative to the overlay, with slashes
	Mode fs.FileMode
	Hash string // SHA-256 of its content, hex
}

// Tree is the content of an overlay on disk.
type Tree struct {
	Files   []File   // sorted by path
	Folders []string // absolute paths of all folders; the overlay itself is first
	Hash    string   // hash of all paths, modes and contents, in hex
}

// Report is the result of copying an overlay. The lists contain paths below the target folder.
type Report struct {
	Copied  []string // files that did not exist before
	Updated []string // files that an earlier call had copied
	Kept    []string // foreign or changed files that differ from the overlay

	// files that were copied or updated, or were already up to date
	Written []string
}

// Apply copies the overlay in source into the existing folder target, and stores a list of the copied files in
// records.Dir. It never writes outside these two folders.
func Apply(ctx context.Context, source, target string, records Records) (Report, error) {
	tree, err := Scan(ctx, source)
	if err != nil {
		return Report{}, fmt.Errorf("the overlay %s %w", source, err)
	}
	src, err := open(source)
	if err != nil {
		return Report{}, fmt.Errorf("the overlay %s %w", source, err)
	}
	defer src.Close()
	dst, err := open(target)
	if err != nil {
		return Report{}, fmt.Errorf("the folder %s %w", target, err)
	}
	defer dst.Close()
	known, err := records.load(target)
	if err != nil {
		return Report{}, err
	}
	a := applier{from: records.name(source), src: src, dst: dst, records: records, known: known,
		changed: known.absolute, sync: (*os.File).Sync}
	err = a.apply(ctx, tree.Files)
	return a.report, err
}

type applier struct {
	from     string // see Records.name
	src, dst *os.Root
	records  Records
	known    *record
	report   Report
	changed  bool // the record must be saved
	sync     func(*os.File) error
}

func (a *applier) apply(ctx context.Context, files []File) error {
	a.removeTemps(files)
	// if gcity is killed while it copies, the next call must recognize the files that were already copied
	for _, f := range files {
		if _, err := a.dst.Lstat(f.Path); errors.Is(err, fs.ErrNotExist) {
			a.mark(f.Path, f.Hash)
		}
	}
	if err := a.save(); err != nil {
		return err
	}
	var err error
	for _, f := range files {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		} else {
			err = a.file(f)
		}
		if err != nil {
			err = fmt.Errorf("%s cannot be copied into %s: %w", f.Path, a.dst.Name(), plainly(err))
			break
		}
	}
	return errors.Join(err, a.save())
}

func (a *applier) save() error {
	if !a.changed {
		return nil
	}
	a.changed = false
	return a.records.save(a.known)
}

func (a *applier) removeTemps(files []File) {
	folders := map[string]bool{}
	for _, f := range files {
		folders[path.Dir(f.Path)] = true
	}
	for name := range a.known.Files {
		folders[path.Dir(name)] = true
	}
	for dir := range folders {
		disk.SweepTemps(a.dst, dir)
	}
}

func (a *applier) file(f File) error {
	data, _, err := read(a.src, f.Path, MaxSize)
	if err != nil {
		return err
	}
	mine := a.known.Files[f.Path]
	_, err = a.dst.Lstat(f.Path)
	switch {
	case err == nil:
		return a.overwrite(f, data, mine)
	case isNoFolder(err) || a.isBlocked(f.Path):
		// the path contains a foreign file in place of a folder, or a link out of the target folder
		a.report.Kept = append(a.report.Kept, f.Path)
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if dir := path.Dir(f.Path); dir != "." {
		if err := a.dst.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	put, err := a.write(f, data, false)
	if err != nil || !put {
		return err
	}
	a.report.Copied = append(a.report.Copied, f.Path)
	a.report.Written = append(a.report.Written, f.Path)
	a.mark(f.Path, sum(data))
	return nil
}

func (a *applier) isBlocked(at string) bool {
	for dir := path.Dir(at); dir != "."; dir = path.Dir(dir) {
		if info, err := a.dst.Lstat(dir); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			_, err := a.dst.Stat(dir)
			return err != nil
		}
	}
	return false
}

func isNoFolder(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

func (a *applier) overwrite(f File, data []byte, mine fileRecord) error {
	info, err := a.dst.Lstat(f.Path)
	if err != nil {
		return err
	}
	var there []byte
	if info.Mode().IsRegular() {
		if there, _, err = read(a.dst, f.Path, MaxSize); err != nil {
			there = nil // too large or unreadable, so treat it as foreign
		}
	}
	switch {
	case mine.From == a.from && bytes.Equal(there, data) && there != nil:
		if mine.Hash != sum(data) || mine.Source != mine.Hash {
			a.mark(f.Path, sum(data))
		}
		a.report.Written = append(a.report.Written, f.Path)
		return nil
	case there != nil && bytes.Equal(there, data):
		return nil
	case there == nil || mine.From != a.from || mine.Hash != sum(there):
		a.report.Kept = append(a.report.Kept, f.Path)
		return nil
	case mine.Source == sum(data):
		a.report.Written = append(a.report.Written, f.Path)
		return nil
	}
	if _, err := a.write(f, data, true); err != nil {
		return err
	}
	a.report.Updated, a.report.Written = append(a.report.Updated, f.Path),
		append(a.report.Written, f.Path)
	a.mark(f.Path, sum(data))
	return nil
}

// mark records that the file comes from the overlay, and the hash of its content.
func (a *applier) mark(at, hash string) {
	now := fileRecord{From: a.from, Source: hash, Hash: hash}
	a.changed = a.changed || a.known.Files[at] != now
	a.known.Files[at] = now
}

// write writes a file atomically and durably. A file that is empty after a power failure would count as changed by the
// user, because the record contains the hash of the complete file. If replace is false, write keeps an existing file,
// and returns false.
func (a *applier) write(f File, data []byte, replace bool) (put bool, err error) {
	temp := disk.Temp(f.Path)
	at := filepath.Join(a.dst.Name(), f.Path)
	w, err := a.dst.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return false, disk.WriteReason(at, err)
	}
	_, err = w.Write(data)
	err = errors.Join(err, w.Chmod(f.Mode))
	if err == nil {
		err = a.sync(w)
	}
	err = errors.Join(err, w.Close())
	if err == nil && replace {
		err = a.dst.Rename(temp, f.Path)
		put = err == nil
	} else if err == nil {
		put, err = a.place(temp, f.Path)
	}
	if !put || !replace {
		_ = a.dst.Remove(temp)
	}
	if err != nil {
		return false, disk.WriteReason(at, err)
	}
	return put, nil
}

func (a *applier) place(temp, name string) (bool, error) {
	switch err := a.dst.Link(temp, name); {
	case err == nil:
		return true, nil
	case errors.Is(err, fs.ErrExist):
		a.report.Kept = append(a.report.Kept, name)
		return false, nil
	}
	// the file system does not support hard links
	if _, err := a.dst.Lstat(name); err == nil {
		a.report.Kept = append(a.report.Kept, name)
		return false, nil
	}
	err := a.dst.Rename(temp, name)
	return err == nil, err
}

// String returns the report as one line, or "" if nothing was copied and nothing was kept.
func (r Report) String() string {
	var parts []string
	for _, p := range []struct {
		what  string
		paths []string
	}{{"copied", r.Copied}, {"updated", r.Updated}, {"left as they are", r.Kept}} {
		if n := len(p.paths); n > 0 {
			shown := slices.Clone(p.paths[:min(n, 3)])
			if n > 3 {
				shown = append(shown, fmt.Sprintf("and %d more", n-3))
			}
			parts = append(parts, p.what+": "+strings.Join(shown, ", "))
		}
	}
	return strings.Join(parts, "; ")
}
