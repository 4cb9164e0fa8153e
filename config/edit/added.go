package edit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"gcity/internal/disk"
	"gcity/internal/toml"
)

// addedName keeps, in .gc, what suspending has added to files, by the place of the flag: only that is taken out
// again, for every other flag is somebody's own.
const addedName = "suspended.json"

// added is what suspending has added. It is read and written while edits are locked. Nothing depends on it but
// whether a resumed flag goes or becomes false, so what cannot be read counts as nothing.
type added map[string]string

func addedIn(dir string) added {
	out := added{}
	data, err := disk.ReadFile(filepath.Join(dir, ".gc", addedName))
	if err != nil || json.Unmarshal(data, &out) != nil || out == nil {
		return added{}
	}
	return out
}

func (a added) write(dir string) error {
	path := filepath.Join(dir, ".gc", addedName)
	if len(a) == 0 {
		if err := disk.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot keep what suspending has added: %w", err)
		}
		return nil
	}
	data, err := json.Marshal(a)
	if err == nil {
		err = disk.Save(path, append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("cannot keep what suspending has added: %w", err)
	}
	return nil
}

// note remembers what a suspending edit has added to a file, or that it has added nothing.
func (a added) note(key string, before, after []byte) {
	front := 0
	for front < len(before) && before[front] == after[front] {
		front++
	}
	n := len(after) - len(before)
	delete(a, key)
	if n > 0 && bytes.Equal(after[front+n:], before[front:]) {
		a[key] = string(after[front : front+n])
	}
}

// without is a file without what suspending has added to it, nil if that does not stand there as it was written. again
// suspends in the file that is left: that has to give the one there is.
func (a added) without(key string, data []byte, flag toml.Span,
	again func(left []byte) ([]byte, error)) []byte {
	text := a[key]
	for at := strings.Index(text, "true"); at >= 0; {
		start := flag.Start - at
		if start >= 0 && bytes.HasPrefix(data[start:], []byte(text)) {
			left := cut(data, toml.Span{Start: start, End: start + len(text)}, "")
			if back, err := again(left); err == nil && bytes.Equal(back, data) {
				return left
			}
		}
		next := strings.Index(text[at+1:], "true")
		if next < 0 {
			return nil
		}
		at += 1 + next
	}
	return nil
}

// key names the place of a flag.
func (s place) key(path string) string {
	return strings.Join([]string{path, s.List, s.Rig + s.Dir, s.Name}, "\n")
}
