package feed

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"time"

	"gcity/internal/disk"
)

// SavedRoom is the stored state of a room.
type SavedRoom struct {
	Version int    `json:"version"`
	Focus   string `json:"focus,omitempty"`
	Zoomed  bool   `json:"zoomed,omitempty"`
	Hidden  bool   `json:"pane_hidden,omitempty"`
	// the pane is not in its default place
	Moved   bool              `json:"pane_moved,omitempty"`
	Mouse   string            `json:"mouse,omitempty"`   // "on" or "off"; "" = per preferences
	Filters map[string]string `json:"filters,omitempty"` // by panel name
	Orders  map[string]string `json:"orders,omitempty"`  // by panel name
	// keys of the rows under the cursors, by panel name
	Rows    map[string]string `json:"rows,omitempty"`
	History []string          `json:"history,omitempty"` // lines of the palette, oldest first
	// messages that were sent to agents, oldest first
	Sent []string `json:"sent,omitempty"`
	// the user has dismissed the hint for the first visit
	Greeted bool `json:"greeted,omitempty"`
}

// SavedRoomVersion changes when the meaning of the file changes. Files with other versions are not read.
const SavedRoomVersion = 1

// MaxSavedRoom is the maximum size of the file in bytes.
const MaxSavedRoom = 1 << 20

func (s SavedRoom) Text() []byte {
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil { // strings and flags can always be encoded
		panic(err)
	}
	return append(text, '\n')
}

// SavedUserState is the stored state that all rooms of a user share. Its fields override those of a SavedRoom.
type SavedUserState struct {
	Mouse string `json:"mouse,omitempty"`
}

// userStateFile returns the path of the user's file, which is in the folder of the cities' files. The names of cities'
// files end with a hash, so they never collide with it.
func userStateFile(path string) string { return filepath.Join(filepath.Dir(path), "room.json") }

// ReadSavedRoom reads the city's file and the user's file. If the city's file was ignored, the error says why. If the
// user's file is damaged, it counts as missing.
func ReadSavedRoom(path string) (SavedRoom, error) {
	m, err := readRoomFile(path)
	var user SavedUserState
	data, missing := disk.ReadFile(userStateFile(path))
	if missing == nil && json.Unmarshal(data, &user) == nil {
		m.Mouse = cmp.Or(user.Mouse, m.Mouse)
	}
	return m, err
}

func readRoomFile(path string) (SavedRoom, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return SavedRoom{}, nil
	case err != nil:
		return SavedRoom{}, err
	case !info.Mode().IsRegular() || info.Size() > MaxSavedRoom:
		return SavedRoom{}, fmt.Errorf("%s was not written by gcity", path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return SavedRoom{}, err
	}
	var m SavedRoom
	if err := json.Unmarshal(data, &m); err != nil {
		return SavedRoom{}, fmt.Errorf("%s is damaged: %w", path, err)
	}
	if m.Version != SavedRoomVersion {
		return SavedRoom{}, fmt.Errorf("%s has version %d, but this gcity reads only version %d",
			path, m.Version, SavedRoomVersion)
	}
	return m, nil
}

// withChanges returns stored with the changes from base to own. Another room may have stored the other values.
func withChanges(stored SavedRoom, base, own []byte) []byte {
	var all, before, now map[string]any
	err := errors.Join(json.Unmarshal(stored.Text(), &all), json.Unmarshal(base, &before),
		json.Unmarshal(own, &now))
	if err != nil {
		return own
	}
	var m SavedRoom
	text, err := json.Marshal(applyChanges(all, before, now))
	if errors.Join(err, json.Unmarshal(text, &m)) != nil {
		return own
	}
	return m.Text()
}

func applyChanges(all, before, now map[string]any) map[string]any {
	out := maps.Clone(all)
	if out == nil {
		out = map[string]any{}
	}
	keys := maps.Clone(out)
	maps.Copy(keys, before)
	maps.Copy(keys, now)
	for key := range keys {
		old, wasMap := before[key].(map[string]any)
		own, isMap := now[key].(map[string]any)
		switch value := now[key]; {
		case wasMap || isMap:
			stored, _ := out[key].(map[string]any)
			out[key] = applyChanges(stored, old, own)
		case reflect.DeepEqual(before[key], value):
		case value == nil:
			delete(out, key)
		default:
			out[key] = value
		}
	}
	return out
}

// saveLockTimeout limits the wait for other rooms. If it expires, changes of another room can be lost.
const saveLockTimeout = time.Second

// roomSaves makes sure that saves do not overlap.
type roomSaves struct {
	mu     sync.Mutex
	failed map[string]bool // by path; whether the latest changes were not stored
}

// SaveRoom stores the state of the room. A failure is only logged.
func (r *Runner) SaveRoom(path string, e SaveRoom) {
	if path == "" {
		return
	}
	r.Spawn("memory", func(ctx context.Context) {
		s := &r.Root().saves
		s.mu.Lock()
		defer s.mu.Unlock()
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err == nil {
			err = s.merge(ctx, path, e)
		}
		if s.failed == nil {
			s.failed = map[string]bool{}
		}
		s.failed[path] = err != nil
		if err == nil && e.Mouse != "" {
			err = writeUserState(path, SavedUserState{Mouse: e.Mouse})
		}
		if err != nil {
			r.Log.Warn("cannot store the control room's state", "error", err)
		}
	})
}

// merge stores the changes. Another room of the user might store its own changes at the same time.
func (s *roomSaves) merge(ctx context.Context, path string, e SaveRoom) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveLockTimeout)
	defer cancel()
	lock, err := disk.AwaitLock(ctx, filepath.Join(filepath.Dir(path), "room.lock"))
	if err == nil {
		defer func() { _ = lock.Release() }() // the kernel releases the lock in any case
	}
	data := e.Data
	stored, err := readRoomFile(path)
	if err == nil && stored.Version != 0 && !s.failed[path] {
		data = withChanges(stored, e.Base, e.Data)
	}
	return disk.Replace(path, data, 0o600)
}

func writeUserState(path string, u SavedUserState) error {
	text, err := json.MarshalIndent(u, "", "  ")
	if err != nil {
		return err
	}
	return disk.Replace(userStateFile(path), append(text, '\n'), 0o600)
}
