package folder

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gcity/automation"
	"gcity/cli/exit"
	"gcity/config"
	"gcity/internal/ownership"
	"gcity/prefs"
	"gcity/session"
	"gcity/session/mixed"
	"gcity/trust"
)

// Ledger returns the records of which cities and programs this user trusts.
func Ledger() *trust.Ledger {
	return trust.Open(os.Getenv, func() []string {
		all := prefs.Load(prefs.Find(os.Getenv), prefs.Prefs{}).TrustFolders
		for i, f := range all {
			if below, home := strings.CutPrefix(f, "~/"); home {
				f = filepath.Join(os.Getenv("HOME"), below)
			}
			all[i] = canonicalDir(f)
		}
		return all
	})
}

// ProgramsOf returns every program that a city would run.
func ProgramsOf(c *config.City) []trust.Program {
	all, _ := CityPrograms(c)
	return all
}

// CityPrograms is like ProgramsOf. complete is false if some automations cannot be read.
func CityPrograms(c *config.City) (all []trust.Program, complete bool) {
	automations, complete := AutomationPrograms(c)
	all = c.Programs()
	all = slices.Concat(all, automations, earlierProviders(c.Path, all))
	for i := range all {
		all[i].With = c.Additional
	}
	// a recorded commit of a fetched copy covers the whole copy, whichever file uses it
	return append(all, c.FetchedFolders()...), complete
}

// AutomationPrograms returns the programs of the automations in a configuration's folders. complete is false if some
// automations cannot be read.
func AutomationPrograms(c *config.City) (all []trust.Program, complete bool) {
	found, troubles := ScanFor(&automation.Scanner{}, c, time.Now())
	for _, d := range found.Automations {
		add := func(what, line string) {
			if line != "" {
				p := trust.Program{What: what + " " + d.Scoped(), Line: line,
					At: shownIn(c.Path, d.Source), From: []string{d.Source},
					User: "automation " + d.Scoped(), With: c.Additional}
				folders := []string{c.Path, d.Dir(), d.Layer.Root}
				// the folder can be a rig, and agents change the files of rigs
				if strings.Contains(line, "PACK_DIR") {
					folders = append(folders, d.PackDir())
				}
				all = append(all, p.WithScripts(folders...))
			}
		}
		add("automation", d.Exec)
		add("check of automation", d.Check)
	}
	return all, len(found.Broken) == 0 && len(troubles) == 0
}

// earlierProviders returns the session providers that might still have sessions of the city in dir. Their first session
// can be newer than the record, so the same program is also trusted if the configuration names it.
func earlierProviders(dir string, configured []trust.Program) (all []trust.Program) {
	marks := filepath.Join(StateDir(dir), mixed.MarksFile)
	names, _ := mixed.Marks(StateDir(dir)) // the session provider reports read errors
	for _, name := range names {
		if _, program, external := session.External(name); external {
			same := []string{"session provider"} // as in config.City.Programs
			for _, p := range configured {
				if p.Line == program {
					same = append(same, p.What)
				}
			}
			p := trust.Program{What: "session provider of earlier sessions", Line: program,
				At: shownIn(dir, marks), From: []string{marks}, Same: same}
			all = append(all, p.WithScripts(dir))
		}
	}
	return all
}

// OwnedBy returns an error if another user can change a script of one of these programs.
func OwnedBy(all []trust.Program) error {
	for _, p := range all {
		for _, f := range p.Files {
			if err := ownership.Check(f); err != nil {
				return exit.Errorf(exit.CodeConfig, "%s (%s) will not be run: %w", p.What,
					p.At, err)
			}
		}
	}
	return nil
}

func shownIn(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// Trusted returns the grant for a city. If c is nil, it uses the configuration on disk. No file is read before the
// grant is first used.
func Trusted(dir string, c *config.City) trust.Grant {
	dir = canonicalDir(dir)
	return Ledger().Check(dir, func() ([]trust.Program, error) {
		if c == nil {
			var err error
			if c, err = LoadCity(dir); err != nil {
				c = SourceOf(dir).LoadPartial()
			}
		}
		if c != nil {
			return ProgramsOf(c), nil
		}
		return knownPrograms(dir), nil
	})
}

func knownPrograms(dir string) []trust.Program {
	c := config.City{Path: dir}
	if k := LoadConfigCache(dir); k != nil {
		c.Beads.Provider = k.Store.Provider
	}
	return append(c.Programs(), earlierProviders(dir, nil)...)
}
