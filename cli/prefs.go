package cli

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

	"github.com/spf13/cobra"

	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/config"
	"gcity/prefs"
	"gcity/tui"
	"gcity/tui/keymap"
)

// prefs are the preferences of whoever runs this.
func (a *app) prefs() prefs.Prefs { return prefs.Load(prefs.Find(a.Getenv), prefs.Prefs{}) }

// person is what of the preferences the control room is to know. Files below the home are named from there, because it has
// little room.
func (a *app) person(p prefs.Prefs, file string) tui.Person {
	short := func(text string) string {
		if home := a.Getenv("HOME"); filepath.IsAbs(home) && home != "/" {
			return strings.ReplaceAll(text, filepath.Clean(home)+"/", "~/")
		}
		return text
	}
	out := tui.Person{Theme: p.Theme, Themes: p.Themes, ASCII: p.ASCII, ReducedMotion: p.ReducedMotion, Columns: p.Columns,
		Confirm: p.Confirm, Detach: p.Detach, File: short(file)}
	for _, b := range p.Keys {
		out.Keys = append(out.Keys, keymap.Binding{Action: b.Action, Keys: b.Keys, Place: short(b.Place)})
	}
	for _, problem := range p.Problems {
		out.Problems = append(out.Problems, short(problem))
	}
	return out
}

// ownPrefs are the preferences of the person at the terminal, and the files that have them.
type ownPrefs struct {
	files prefs.Files
	last  prefs.Prefs
}

// watchPrefs tells of changed preferences until ctx ends; then the group has nothing left to wait for. They must not cost a
// city its controller: after a panic they stay as they are, and the log says so.
func (a *app) watchPrefs(ctx context.Context, wg *sync.WaitGroup, own ownPrefs, log *slog.Logger) <-chan tui.Person {
	f, last := own.files, own.last
	if f.Config == "" {
		return nil
	}
	changes := make(chan tui.Person)
	wg.Go(func() {
		defer close(changes)
		defer func() {
			if p := recover(); p != nil {
				log.Error("changed preferences are not taken over any more", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			}
		}()
		for range config.WatchFiles(ctx, []string{f.Config}, []string{f.Themes}, config.WatchOptions{Log: quietLogger()}) {
			last = prefs.Load(f, last)
			select {
			case changes <- a.person(last, f.Config):
			case <-ctx.Done():
			}
		}
	})
	return changes
}

// memoryFile is where the control room of a city keeps how it was left: below $XDG_STATE_HOME, else ~/.local/state; ""
// without a home. Its name has the folder's, for people, and tells folders of one name apart.
func memoryFile(getenv func(string) string, dir string) string {
	base := getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(base) {
		home := getenv("HOME")
		if !filepath.IsAbs(home) {
			return ""
		}
		base = filepath.Join(home, ".local", "state")
	}
	sum := sha256.Sum256([]byte(dir))
	readable := strings.Map(func(r rune) rune {
		if r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, filepath.Base(dir))
	return filepath.Join(base, "gcity", readable[:min(40, len(readable))]+"-"+hex.EncodeToString(sum[:6])+".json")
}

func (a *app) prefsCommand() *cobra.Command {
	return group("prefs", "What belongs to you and not to a city: theme, keys, columns",
		&cobra.Command{Use: "path", Short: "Where the file is, whether it is there or not", Args: exactly(0),
			RunE: func(*cobra.Command, []string) error { return a.prefsPath() }},
		&cobra.Command{Use: "check", Short: "Say what is wrong in it; exit 78 if something is", Args: exactly(0),
			RunE: func(*cobra.Command, []string) error { return a.prefsCheck() }},
	)
}

// prefsFiles is where the preferences are; an error where they can be nowhere.
func (a *app) prefsFiles() (prefs.Files, error) {
	f := prefs.Find(a.Getenv)
	if f.Config == "" {
		return f, errors.New("there is no place for preferences: neither XDG_CONFIG_HOME nor HOME is an absolute path")
	}
	return f, nil
}

func (a *app) prefsPath() error {
	f, err := a.prefsFiles()
	if err != nil {
		return err
	}
	if a.JSON {
		_, missing := os.Stat(f.Config)
		return a.WriteJSON(struct {
			Path   string `json:"path"`
			Themes string `json:"themes"`
			Exists bool   `json:"exists"`
		}{f.Config, f.Themes, !errors.Is(missing, fs.ErrNotExist)})
	}
	a.Sayf("%s", f.Config)
	return nil
}

// badPrefs is what is wrong in the preferences, the keys among it.
func (a *app) badPrefs() []string {
	p := a.prefs()
	mine := tui.Person{Themes: p.Themes}
	for _, b := range p.Keys {
		mine.Keys = append(mine.Keys, keymap.Binding(b))
	}
	return slices.Concat(p.Problems, tui.CheckKeys(mine))
}

func (a *app) prefsCheck() error {
	f, err := a.prefsFiles()
	if err != nil {
		return err
	}
	wrong := a.badPrefs()
	switch {
	case a.JSON:
		if err := a.WriteJSON(output.ListOf(wrong)); err != nil {
			return err
		}
	case len(wrong) == 0:
		a.Sayf("%s: no mistakes", f.Config)
	default:
		for _, w := range wrong {
			a.Sayf("%s", output.SafeText(w))
		}
	}
	if len(wrong) > 0 {
		return exit.Quietly(exit.CodeConfig)
	}
	return nil
}

// doctorPrefs says where the preferences are, and what is wrong in them. They never keep anything from working.
func (a *app) doctorPrefs() finding {
	f, err := a.prefsFiles()
	if err != nil {
		return note("set HOME", "%v", err)
	}
	if wrong := a.badPrefs(); len(wrong) > 0 {
		return note("the rest of it counts; change what is named here", "%s", strings.Join(wrong, "\n"))
	}
	return ok("%s", f.Config)
}
