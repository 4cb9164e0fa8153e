package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gcity/automation"
	"gcity/beads"
	"gcity/city"
	"gcity/cli/exit"
	"gcity/config"
	"gcity/internal/ownership"
	"gcity/prefs"
	"gcity/session/mixed"
	"gcity/trust"
)

// As in wire.go: what may run, and what takes the place of what may not.

// ledger is where this user's answers are kept.
func ledger() *trust.Ledger {
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

// programsOf lists every program that a city would run.
func programsOf(c *config.City) []trust.Program {
	all, _ := runsOfCity(c)
	return all
}

// runsOfCity is programsOf; complete: there is no automation that cannot be read now, and may be mended later.
func runsOfCity(c *config.City) (all []trust.Program, complete bool) {
	all = c.Runs()
	found, troubles := scanFor(&automation.Scanner{}, c, time.Now())
	for _, d := range found.Automations {
		add := func(what, line string) {
			if line != "" {
				p := trust.Program{What: what + " " + d.Scoped(), Line: line, At: shownIn(c.Path, d.Source), From: []string{d.Source}}
				all = append(all, p.WithScripts(c.Path, d.Dir(), d.Layer.Root))
			}
		}
		add("automation", d.Exec)
		add("check of automation", d.Check)
	}
	marks := filepath.Join(gcDir(c.Path), mixed.MarksFile)
	names, _ := mixed.Marks(gcDir(c.Path)) // the provider says why they cannot be read
	for _, name := range names {
		if path, scripted := cutExec(name); scripted {
			p := trust.Program{What: "session provider of earlier sessions", Line: path, At: shownIn(c.Path, marks), From: []string{marks}}
			all = append(all, p.WithScripts(c.Path))
		}
	}
	return all, len(found.Broken) == 0 && len(troubles) == 0
}

// vet returns why a city may not run, and extends what the user trusts by what the user has edited.
func (o houseOptions) vet(c *config.City) error {
	if c == nil {
		var err error
		if c, err = o.source.Load(); err != nil {
			return trusted(o.dir, nil).Err()
		}
	}
	if err := trusted(o.dir, c).Err(); err != nil {
		return err
	}
	all, complete := runsOfCity(c)
	if err := ownedBy(all); err != nil {
		return err
	}
	if complete {
		if err := ledger().Extend(c.Path, all); err != nil {
			o.logger.Warn("edits of the city will be asked about", "error", err)
		}
	}
	return nil
}

// ownedBy returns an error if another user can change a script of these programs.
func ownedBy(all []trust.Program) error {
	for _, p := range all {
		for _, f := range p.Files {
			if err := ownership.Check(f); err != nil {
				return &exit.Failure{Code: exit.CodeConfig, Err: fmt.Errorf("%s (%s) does not run: %w", p.What, p.At, err)}
			}
		}
	}
	return nil
}

// shownIn is a path as it is shown: from the city's folder, if it is inside.
func shownIn(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// trusted returns the grant for a city; c is its configuration, nil if that is not read yet. Nothing is read before the grant
// is asked.
func trusted(dir string, c *config.City) trust.Grant {
	dir = canonicalDir(dir)
	return ledger().Check(dir, func() ([]trust.Program, error) {
		if c == nil {
			var refused error
			if c, refused = loadCity(dir); refused != nil {
				c = sourceOf(dir).Legible()
			}
		}
		if c != nil {
			return programsOf(c), nil
		}
		return knownPrograms(dir), nil
	})
}

// knownPrograms are those of a city whose file is refused: what keeps its work.
func knownPrograms(dir string) []trust.Program {
	k := knownAt(dir)
	if k == nil {
		return nil
	}
	c := config.City{Path: dir, Beads: config.Beads{Provider: k.Store.Provider}}
	return c.Runs()
}

// inForce returns the grant of a store: of the running controller if that uses it, else as trusted does.
func inForce(p place) trust.Grant {
	g := trusted(p.city, nil)
	if g.Err() == nil {
		return g
	}
	ctx, cancel := context.WithTimeout(context.Background(), glance)
	defer cancel()
	if s, err := askController(ctx, p.city); err == nil && s.Store == p.by {
		return trust.Running()
	}
	return g
}

// shutStore stands for a store whose program may not run.
type shutStore struct{ why error }

var _ store = shutStore{}

func (s shutStore) Get(context.Context, string) (beads.Bead, error)         { return beads.Bead{}, s.why }
func (s shutStore) List(context.Context, beads.Query) ([]beads.Bead, error) { return nil, s.why }
func (s shutStore) Create(context.Context, beads.Bead) (beads.Bead, error) {
	return beads.Bead{}, s.why
}
func (s shutStore) CreateAll(context.Context, []beads.Bead) ([]beads.Bead, error) {
	return nil, s.why
}
func (s shutStore) Update(context.Context, string, beads.Patch) (beads.Bead, error) {
	return beads.Bead{}, s.why
}
func (s shutStore) Close() error { return nil }

// openTrusted is openStore, but that a program that may not run is the store's failure, not the caller's.
func openTrusted(p place) (store, error) {
	s, err := openStore(p)
	if _, untrusted := errors.AsType[*trust.Refusal](err); untrusted {
		return shutStore{&city.Error{Code: city.Unavailable, Message: unopened(err).Error()}}, nil
	}
	return s, err
}

// unopened is a refusal in few words, for one provider among what is told of a city.
func unopened(err error) error {
	if r, untrusted := errors.AsType[*trust.Refusal](err); untrusted {
		return errors.New("its program does not run before `" + r.Command() + "`")
	}
	return err
}
