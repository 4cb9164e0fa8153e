// Package prefs reads what belongs to the person at the terminal and not to a city: how the control room looks, which
// keys do what, what is asked. Nothing in it can keep anybody from working: what cannot be read is told with its place,
// and everything else counts.
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

// MaxSize bounds the file, in bytes.
const MaxSize = 256 << 10

// Prefs are a person's preferences. They are values: nobody changes them once read.
type Prefs struct {
	Theme         string   // "" = none chosen; Auto; else one of Themes
	Columns       []string // of agents, from left to right; nil = the usual ones
	ReducedMotion bool
	ASCII         *bool // nil = as the locale says
	FPS           int   // most frames a second; 0 = the usual number
	Confirm       string
	OnHangup      string
	Detach        detach.Key
	Keys          []Binding // in the order of the file
	TrustFolders  []string  // every city in or below one of them is trusted: absolute, or below ~/

	Themes   []themes.Theme // those that come with gcity and the person's own, by name
	Problems []string       // what could not be read, each with its place and what to write instead
}

// Auto is the theme that is dark or light as the terminal is.
const Auto = "auto"

// What Confirm and OnHangup may be. The first one of each is what counts where nothing is written.
const (
	AskUsual  = "normal" // before what is not harmless and reversible
	AskAlways = "always" // before every verb
	AskNever  = "never"  // only where something must be typed

	GoHeadless = "headless" // the city goes on, without a screen
	StopCity   = "stop"     // it is stopped with its agents
	LeaveCity  = "leave"    // the controller ends, the agents run on
)

// Binding gives an action its keys; with none the action has no key any more.
type Binding struct {
	Action string
	Keys   []string
	Place  string // where it is written: "/home/a/.config/gcity/config.toml:12:1"
}

// Columns are the columns that the list of agents may have.
func Columns() []string {
	return []string{"state", "name", "task", "why", "age", "context", "pool", "cpu", "mem",
		"restarts", "mail", "provider", "pid"}
}

// Files are where preferences are. The zero value is nowhere.
type Files struct {
	Config string // the file; it need not exist
	Themes string // the folder of one's own themes; it need not exist
}

// Find says where the files are by the environment: below $XDG_CONFIG_HOME, else ~/.config. Without a home they are
// nowhere. A path that is not absolute does not count, as XDG has it.
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

// Load reads the files. Where the file is no TOML at all what was read last stays, with the problem told; the zero
// value is fine as last.
func Load(f Files, last Prefs) Prefs {
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
		return stale(p, last, append(problems,
			fmt.Sprintf("the preferences cannot be read: %v", err)))
	case len(doc.Problems()) > 0:
		return stale(p, last, append(problems, lines(doc.Problems())...))
	}
	p.read(doc.Root())
	p.Problems = slices.Concat(problems, lines(doc.Problems()), lines(doc.Warnings()))
	return p
}

// stale is what counts where nothing new could be read.
func stale(fresh, last Prefs, problems []string) Prefs {
	if last.Confirm == "" {
		last = fresh
	}
	last.Themes, last.Problems = fresh.Themes, problems
	return last
}

func lines(all toml.Problems) []string {
	out := make([]string, len(all))
	for i, p := range all {
		out[i] = p.String()
	}
	return out
}

// ownThemes are all themes there are, a person's own in the place of those that are called the same.
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
		problems = append(problems, fmt.Sprintf("the folder of themes cannot be read: %v", err))
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
