package feed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"gcity/internal/disk"
	"io/fs"
	"os"
	"path/filepath"
)

// Memory is what a room remembers of how it was left: one file for each city. Fields may be added; what an older file
// lacks is as usual, and of what a newer one has besides nothing is known.
type Memory struct {
	Version int    `json:"version"`
	Focus   string `json:"focus,omitempty"`
	Zoomed  bool   `json:"zoomed,omitempty"`
	Hidden  bool   `json:"pane_hidden,omitempty"`
	// it is not where it usually is: beside, over SSH below
	Moved     bool              `json:"pane_moved,omitempty"`
	Attention bool              `json:"attention,omitempty"`
	Filters   map[string]string `json:"filters,omitempty"` // by the names of panels
	Orders    map[string]string `json:"orders,omitempty"`  // by the names of panels
	History   []string          `json:"history,omitempty"` // of the palette, oldest first
	// texts that went to agents, oldest first
	Sent []string `json:"sent,omitempty"`
}

// MemoryVersion grows when a file means something else than before; one of a later version is not read.
const MemoryVersion = 1

// MaxMemory bounds a file that is read.
const MaxMemory = 1 << 20

func (s Memory) Text() []byte {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil { // strings and flags always can be written
		panic(err)
	}
	return append(text, '\n')
}

// ReadMemory reads a file. None at all is nothing to remember; the error says why one does not count.
func ReadMemory(path string) (Memory, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Memory{}, nil
	case err != nil:
		return Memory{}, err
	case !info.Mode().IsRegular() || info.Size() > MaxMemory:
		return Memory{}, fmt.Errorf("%s is no file that gcity has written", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return Memory{}, err
	}
	var m Memory
	if err := json.Unmarshal(data, &m); err != nil {
		return Memory{}, fmt.Errorf("%s is damaged: %w", path, err)
	}
	if m.Version != MemoryVersion {
		return Memory{}, fmt.Errorf("%s has the version %d, this gcity knows %d", path, m.Version,
			MemoryVersion)
	}
	return m, nil
}

// Remember writes a memory down. Where that fails nothing is lost but the convenience.
func (r *Runner) Remember(path string, e Remember) {
	if path == "" {
		return
	}
	r.Spawn("memory", func(context.Context) {
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = disk.Replace(path, e.Body, 0o600)
		}
		if err != nil {
			r.Log.Warn("how the control room stands cannot be kept", "error", err)
		}
	})
}
