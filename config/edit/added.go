package edit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"gcity/internal/disk"
	"gcity/internal/toml"
)

// addedName is the file in .gc that records the lines that gcity has added in order to suspend targets.
const addedName = "suspended.json"

// addedLines maps the key of each suspended target to the added text. Reading and writing it requires the edit lock.
type addedLines map[string]string

func addedIn(dir string) addedLines {
	out := addedLines{}
	data, err := disk.ReadFile(filepath.Join(dir, ".gc", addedName))
	if err != nil || json.Unmarshal(data, &out) != nil || out == nil {
		return addedLines{}
	}
	return out
}

func (a addedLines) write(dir string) error {
	path := filepath.Join(dir, ".gc", addedName)
	if len(a) == 0 {
		if err := disk.RemoveAny(path); err != nil {
			return fmt.Errorf("cannot record the lines that `suspend` has added: %w", err)
		}
		return nil
	}
	data, err := json.Marshal(a)
	if err == nil {
		err = disk.Save(path, append(data, '\n'), 0o600)
	}
	if err != nil {
		return fmt.Errorf("cannot record the lines that `suspend` has added: %w", err)
	}
	return nil
}

func (a addedLines) note(key string, before, after []byte) {
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

// without returns data without the text that suspending added. It returns nil if that text was changed later.
func (a addedLines) without(key string, data []byte, flag toml.Span,
	suspend func(left []byte) ([]byte, error)) []byte {
	text := a[key]
	for at := strings.Index(text, "true"); at >= 0; {
		start := flag.Start - at
		if start >= 0 && bytes.HasPrefix(data[start:], []byte(text)) {
			left := cut(data, toml.Span{Start: start, End: start + len(text)}, "")
			if back, err := suspend(left); err == nil && bytes.Equal(back, data) {
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

func (s flagPlace) key(path string) string {
	return strings.Join([]string{path, s.List, s.Rig + s.Dir, s.Name}, "\n")
}
