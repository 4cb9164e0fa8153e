package env

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"gcity/cli/folder"
	"gcity/config/watch"
	"gcity/prefs"
	"gcity/tui"
	"gcity/tui/keymap"
)

// Prefs returns the user's preferences.
func Prefs(e *Env) prefs.Prefs { return prefs.Load(prefs.Find(e.Getenv), prefs.Prefs{}) }

// HasPrefs reports whether the preferences file exists. It returns true if that cannot be determined.
func HasPrefs(f prefs.Files) bool {
	_, err := os.Stat(f.Config)
	return !errors.Is(err, fs.ErrNotExist)
}

// RoomPrefs returns the preferences for the control room.
func RoomPrefs(e *Env, p prefs.Prefs, file string) tui.Preferences {
	short := func(text string) string {
		if home := e.Getenv("HOME"); filepath.IsAbs(home) && home != "/" {
			return strings.ReplaceAll(text, filepath.Clean(home)+"/", "~/")
		}
		return text
	}
	out := tui.Preferences{Theme: p.Theme, Themes: p.Themes, ASCII: p.ASCII,
		ReducedMotion: p.ReducedMotion, MouseOff: p.MouseOff, Columns: p.Columns,
		Confirm: p.Confirm, Detach: p.Detach,
		OnHangup: p.OnHangup, File: short(file)}
	for _, b := range p.Keys {
		out.Keys = append(out.Keys, keymap.Binding{Action: b.Action, Keys: b.Keys,
			Position: short(b.Position)})
	}
	for _, problem := range p.Problems {
		out.Problems = append(out.Problems, short(problem))
	}
	return out
}

// OwnPrefs contains a user's preferences and their files.
type OwnPrefs struct {
	Files prefs.Files
	Last  prefs.Prefs
}

// WatchPrefs reports changed preferences until ctx is done.
func WatchPrefs(ctx context.Context, e *Env, wg *sync.WaitGroup, own OwnPrefs,
	log *slog.Logger) <-chan tui.Preferences {
	f, last := own.Files, own.Last
	if f.Config == "" {
		return nil
	}
	changes := make(chan tui.Preferences)
	wg.Go(func() {
		defer close(changes)
		defer func() {
			if p := recover(); p != nil {
				log.Error("changes to the preferences are no longer detected", "panic",
					fmt.Sprint(p), "stack", string(debug.Stack()))
			}
		}()
		for range watch.Files(ctx, []string{f.Config}, []string{f.Themes},
			watch.Options{Log: folder.QuietLogger()}) {
			last = prefs.Load(f, last)
			select {
			case changes <- RoomPrefs(e, last, f.Config):
			case <-ctx.Done():
			}
		}
	})
	return changes
}

// roomFile returns the path of a file in the folder for the control room's state, or "" without a home folder.
func roomFile(getenv func(string) string, name string) string {
	base := getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(base) {
		home := getenv("HOME")
		if !filepath.IsAbs(home) {
			return ""
		}
		base = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(base, "gcity", name)
}

// RoomLog returns the log of control rooms that do not run their city themselves, or "" without a home folder.
func RoomLog(getenv func(string) string) string { return roomFile(getenv, "room.log") }

// MemoryFile returns the file in which the control room stores its state for a city, or "" without a home folder.
func MemoryFile(getenv func(string) string, dir string) string {
	sum := sha256.Sum256([]byte(dir))
	readable := strings.Map(func(r rune) rune {
		if r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, filepath.Base(dir))
	return roomFile(getenv, readable[:min(40, len(readable))]+"-"+
		hex.EncodeToString(sum[:6])+".json")
}

// PrefsFiles returns the preferences files. It returns an error if neither XDG_CONFIG_HOME nor HOME is usable.
func PrefsFiles(e *Env) (prefs.Files, error) {
	f := prefs.Find(e.Getenv)
	if f.Config == "" {
		return f, errors.New("cannot find the preferences: neither XDG_CONFIG_HOME nor HOME is " +
			"an absolute path")
	}
	return f, nil
}

// BadPrefs returns the errors in the preferences and in the user's keys.
func BadPrefs(e *Env) []string {
	p := Prefs(e)
	mine := tui.Preferences{Themes: p.Themes}
	for _, b := range p.Keys {
		mine.Keys = append(mine.Keys, keymap.Binding(b))
	}
	return slices.Concat(p.Problems, tui.CheckKeys(mine))
}
