package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"gcity/agent"
	"gcity/automation"
	"gcity/beads"
	"gcity/beads/bd"
	"gcity/beads/script"
	"gcity/beads/sqlite"
	"gcity/config"
	"gcity/controller"
	"gcity/formula"
	"gcity/internal/disk"
	"gcity/internal/lastwords"
	"gcity/internal/ownership"
	"gcity/trust"
)

// As in wire.go: what is made of which parts, here for work and automations.

// workFolder is where the work of a city or a rig is kept, below its own folder.
const workFolder = sqlite.Folder

// openStore opens the work that is kept at a place. Nothing is read or made before it is asked for something.
func openStore(p place) (store, error) { return openFor(p, false, inForce(p)) }

// openFor opens a store; serve: for as long as a city runs. A store that another program keeps needs the grant.
func openFor(p place, serve bool, grant trust.Grant) (store, error) {
	path, scripted := cutExec(p.by.Provider)
	if scripted || p.by.Provider == "bd" {
		if err := grant.Err(); err != nil {
			return nil, err
		}
	}
	switch {
	case p.by.Provider == "":
		return p.embedded()
	case p.by.Provider == "bd":
		return bd.Open(bd.Options{Dir: p.dir, Prefix: p.prefix, Actor: os.Getenv("GC_AGENT"), Environ: os.Environ(), Host: p.by.Host, Port: p.by.Port})
	case scripted:
		if strings.Contains(path, "/") && !filepath.IsAbs(path) {
			path = filepath.Join(p.city, path)
		}
		if strings.Contains(path, "/") {
			if err := ownership.Check(path); err != nil {
				return nil, err
			}
		}
		return script.Open(script.Options{Script: path, Dir: p.dir, Prefix: p.prefix, Env: scriptEnv(p), Serve: serve && p.rig == ""})
	}
	return nil, fmt.Errorf("there is no beads provider %q; [beads] provider is \"bd\", \"exec:SCRIPT\", or left out", p.by.Provider)
}

// cutExec is the script of a provider that is one.
func cutExec(provider string) (script string, ok bool) { return strings.CutPrefix(provider, "exec:") }

// scriptEnv is the environment of a script that keeps work: who the user is, where programs are, and of gcity what says where
// it is and for whom.
func scriptEnv(p place) []string {
	plain := []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TMPDIR"}
	own := []string{"GC_CITY=" + p.city, "GC_CITY_PATH=" + p.city, "BEADS_DIR=" + filepath.Join(p.dir, workFolder), "GC_EXEC_STATE_DIR=" + filepath.Join(p.dir, workFolder)}
	if p.rig != "" {
		own = append(own, "GC_RIG="+p.rig, "GC_RIG_PATH="+p.dir)
	}
	set := []string{"GC_CITY", "GC_CITY_PATH", "GC_RIG", "GC_RIG_PATH", "GC_EXEC_STATE_DIR"}
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains(plain, name) || strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "GC_") && !slices.Contains(set, name) {
			own = append(own, kv)
		}
	}
	return own
}

// askStore finds out whether a store that another program keeps answers, and which of its records cannot be read. It changes
// nothing.
func askStore(ctx context.Context, p place) (unread []beads.Aside, err error) {
	s, err := openStore(p)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if a, ok := s.(beads.Auditor); ok {
		return a.Aside(ctx)
	}
	_, err = s.List(ctx, beads.Query{Limit: 1})
	return nil, err
}

// condition is how a store's file and folder are.
type condition = sqlite.Condition

// largeLog is how many bytes a write-ahead log has that does not shrink any more.
const largeLog = sqlite.LargeLog

// examineStore looks over the work that is kept at a place, without making anything. unread are the records of it that this
// program cannot read, each with its reason.
func examineStore(ctx context.Context, p place) (c condition, unread []beads.Aside, err error) {
	s, err := p.embedded()
	if err != nil {
		return c, nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if c, err = s.Examine(ctx); err != nil || !c.There {
		return c, nil, err
	}
	unread, err = s.Aside(ctx)
	return c, unread, err
}

// probeStore writes the least there is into the work of a place, and changes nothing by it.
func probeStore(ctx context.Context, p place) (err error) {
	s, err := p.embedded()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return s.Probe(ctx)
}

// readyStore makes the store of a place ready for its first bead, as a controller's first look does.
func (a *app) readyStore(ctx context.Context, p place) (err error) {
	s, err := a.store(p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if w, ok := s.(interface{ Probe(context.Context) error }); ok {
		return w.Probe(ctx)
	}
	_, err = s.List(ctx, beads.Query{Limit: 1})
	return err
}

// stores are the work of a city that runs, open until the city ends.
type stores struct {
	places func() []place // those of the configuration in force
	grant  trust.Grant

	mu   sync.Mutex
	open map[place]store
}

// of opens the work of a rig, or of the city.
func (s *stores) of(rig string) (beads.Store, error) {
	for _, p := range s.places() {
		if p.rig != rig {
			continue
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if have, ok := s.open[p]; ok {
			return have, nil
		}
		fresh, err := openFor(p, true, s.grant)
		if err == nil {
			s.open[p] = fresh
		}
		return fresh, err
	}
	return nil, fmt.Errorf("there is no rig %q any more, so its work is not looked for", rig)
}

// backUp makes the automatic backups that are due.
func (s *stores) backUp(ctx context.Context) error { return backUpAll(ctx, s.places(), time.Now()) }

// close lets go of all of them, of scripts within the last words.
func (s *stores) close(last *lastwords.Time, logger *slog.Logger) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p, have := range s.open {
		c, ok := have.(interface{ CloseWithin(context.Context) error })
		if !ok {
			logError(logger, "the store of work did not close well", have.Close())
			continue
		}
		err := c.CloseWithin(last.Context())
		if err != nil && last.Context().Err() != nil {
			last.GiveUp("the shutdown of the script that keeps the work of %s", p.title())
			continue
		}
		logError(logger, "the store of work did not close well", err)
	}
}

// runPlace is where something of an automation runs, and its environment.
func runPlace(c *config.City, d automation.Definition) (dir string, env []string, err error) {
	dir, env, err = agent.Place(c, d.Rig, thisHost(c.Path))
	return dir, append(env, "AUTOMATION_DIR="+d.Dir(), "GC_AUTOMATION="+d.Scoped()), err
}

// layersOf are the folders of a city's formulas and automations, those that come with the program first.
func layersOf(c *config.City) ([]formula.Layer, error) {
	if err := disk.MakePrivate(gcDir(c.Path)); err != nil {
		return nil, err
	}
	own, err := formula.System(gcDir(c.Path))
	if err != nil {
		return nil, err
	}
	return append([]formula.Layer{own}, c.Layers()...), nil
}

// deedsOf is what the last controller remembered of its automations, by scoped name.
func deedsOf(dir string) (map[string]automation.Memory, error) { return controller.Deeds(dir) }
