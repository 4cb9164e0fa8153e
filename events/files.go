package events

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
)

const (
	activeName = "events.jsonl"
	lockName   = "events.lock"

	relists = 10
)

// file is one of the log's files. All but the newest are segments, which never change.
type file struct {
	path   string
	first  uint64 // first seq, from the name; 0 = the active file
	suffix int    // distinguishes segments with the same first seq
	active bool
	info   fs.FileInfo
}

func (f file) name() string { return filepath.Base(f.path) }

func segmentName(first uint64, suffix int) string {
	if suffix > 0 {
		return fmt.Sprintf("events-%d.%d.jsonl", first, suffix)
	}
	return fmt.Sprintf("events-%d.jsonl", first)
}

func parseSegment(name string) (first uint64, suffix int, ok bool) {
	rest, found := strings.CutPrefix(name, "events-")
	rest, isLog := strings.CutSuffix(rest, ".jsonl")
	seq, number, twinned := strings.Cut(rest, ".")
	first, err := strconv.ParseUint(seq, 10, 64)
	if twinned && err == nil {
		suffix, err = strconv.Atoi(number)
	}
	return first, suffix, found && isLog && err == nil && first <= maxSeq &&
		name == segmentName(first, suffix)
}

func list(dir string) ([]file, error) {
	active := filepath.Join(dir, activeName)
	for range relists {
		before, err := statFile(active)
		if err != nil {
			return nil, err
		}
		files, err := segments(dir)
		if err != nil {
			return nil, err
		}
		after, err := statFile(active)
		if err != nil {
			return nil, err
		}
		if same(before, after) {
			if after != nil {
				files = append(files, file{path: active, active: true, info: after})
			}
			return files, nil
		}
	}
	return nil, fmt.Errorf("cannot read the events in %s: the files change faster than they "+
		"can be listed", dir)
}

func segments(dir string) ([]file, error) {
	entries, err := disk.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var files []file
	for _, e := range entries {
		first, suffix, ok := parseSegment(e.Name())
		if !ok {
			continue
		}
		info, err := statFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, err
		}
		if info == nil {
			continue
		}
		files = append(files, file{path: filepath.Join(dir, e.Name()), first: first, suffix: suffix,
			info: info})
	}
	slices.SortFunc(files, func(a, b file) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.suffix, b.suffix))
	})
	return files, nil
}

// statFile returns nil if the file does not exist. It rejects anything but a regular file, because opening it could
// block.
func statFile(path string) (fs.FileInfo, error) {
	info, err := disk.StatFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return info, err
}

func same(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return os.SameFile(a, b)
}

// errMoved means that the files must be listed again.
var errMoved = errors.New("the file was renamed while it was being opened")

func (f file) open() (*os.File, error) {
	o, err := disk.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errMoved
	}
	if err != nil {
		return nil, err
	}
	info, err := o.Stat()
	if err == nil && !os.SameFile(info, f.info) {
		err = errMoved
	}
	if err != nil {
		o.Close()
		return nil, err
	}
	return o, nil
}

func firstSeq(f *os.File) (uint64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	s := &scanner{r: f}
	seq, _, err := s.intact(info.Size())
	return seq, err
}
