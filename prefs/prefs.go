// Package prefs reads the user's preferences, such as the control room's appearance and keys. Invalid preferences are
// not errors: they are reported, and all others apply.
package prefs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"gcity/internal/detach"
	"gcity/internal/toml"
	"gcity/themes"
)

// MaxSize is the maximum size of the file in bytes.
const MaxSize = 256 << 10

// Prefs are a user's preferences. They are immutable.
type Prefs struct {
	Theme         string   // Auto, or the name of one of Themes; "" = not set
	Columns       []string // from left to right; nil = the default
	ReducedMotion bool
	MouseOff      bool  // leave the mouse to the terminal
	ASCII         *bool // nil = according to the locale
	FPS           int   // maximum frames per second; 0 = the default
	Confirm       string
	OnHangup      string
	Detach        detach.Key
	Keys          []Binding
	TrustFolders  []string // cities in or below these folders are trusted

	Themes   []themes.Theme // the built-in themes and the user's own, by name
	Problems []string       // invalid settings, with positions and advice
}

// Auto selects a dark or light theme to match the terminal's background.
const Auto = "auto"

// Values of Confirm and OnHangup. The first value of each group is the default.
const (
	AskUsual  = "normal" // ask before actions that are harmful or cannot be undone
	AskAlways = "always" // ask before every action
	AskNever  = "never"  // ask only for actions that require typed text

	GoHeadless = "headless" // the city keeps running without a control room
	StopCity   = "stop"     // the city stops with its agents
	LeaveCity  = "leave"    // the controller exits, and the agents keep running
)

// Binding assigns keys to an action. If Keys is empty, the action has no key.
type Binding struct {
	Action   string
	Keys     []string
	Position string // position: "/home/a/.config/gcity/config.toml:12:1"
}

// Columns returns the columns that the agent list can show.
func Columns() []string {
	return []string{"state", "name", "task", "why", "age", "context", "pool", "cpu", "mem",
		"restarts", "mail", "provider", "pid"}
}

// Files are the locations of preferences.
type Files struct {
	Config string // may not exist
	Themes string // may not exist
}

// Find returns the locations below $XDG_CONFIG_HOME or ~/.config. Without a home folder, it returns the zero value. It
// ignores relative paths, as XDG requires.
func Find(getenv func(string) string) Files {
	base := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(base) {
		home := getenv("HOME")
		if !filepath.IsAbs(home) {
			return Files{}
		}
		base = filepath.Join(home, ".config")
	}
	return Files{filepath.Join(base, "gcity", "config.toml"),
		filepath.Join(base, "gcity", "themes")}
}

// Load reads the preferences. If the file cannot be read or parsed, Load returns the earlier preferences with the
// current themes, and reports the problem.
func Load(f Files, earlier Prefs) Prefs {
	p := Prefs{Confirm: AskUsual, OnHangup: GoHeadless}
	own, problems := ownThemes(f.Themes)
	p.Themes = own
	if f.Config == "" {
		return p
	}
	doc, err := toml.Load(f.Config, f.Config, MaxSize)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.Problems = problems
		return p
	case err != nil:
		return stale(p, earlier, append(problems,
			fmt.Sprintf("cannot read the preferences: %v", err)))
	case len(doc.Problems()) > 0:
		return stale(p, earlier, append(problems, lines(doc.Problems())...))
	}
	p.read(doc.Root())
	p.Problems = slices.Concat(problems, lines(doc.Problems()), lines(doc.Warnings()))
	return p
}

func stale(fresh, earlier Prefs, problems []string) Prefs {
	if earlier.Confirm == "" {
		earlier = fresh
	}
	earlier.Themes, earlier.Problems = fresh.Themes, problems
	return earlier
}

func lines(all toml.Problems) []string {
	out := make([]string, len(all))
	for i, p := range all {
		out[i] = p.String()
	}
	return out
}

func ownThemes(dir string) (all []themes.Theme, problems []string) {
	for _, name := range themes.Names() {
		t, err := themes.Load(name)
		if err != nil {
			problems = append(problems, err.Error())
			continue
		}
		all = append(all, t)
	}
	if dir == "" {
		return all, problems
	}
	found, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		problems = append(problems, fmt.Sprintf("cannot read the themes folder: %v", err))
	}
	for _, e := range found {
		if filepath.Ext(e.Name()) != ".toml" || e.Name()[0] == '.' || e.IsDir() {
			continue
		}
		t, err := themes.Open(filepath.Join(dir, e.Name()))
		if err != nil {
			problems = append(problems, err.Error())
			continue
		}
		if at := slices.IndexFunc(all, func(o themes.Theme) bool {
			return o.Name == t.Name
		}); at >= 0 {
			all[at] = t
		} else {
			all = append(all, t)
		}
	}
	return all, problems
}
