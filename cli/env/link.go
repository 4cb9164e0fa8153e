package env

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/config"
	"gcity/internal/deadline"
	"gcity/internal/suggest"
)

// Link connects a command to a city. The caller must close it.
type Link struct {
	city.Control
	Dir  string
	Live bool // a controller is running; otherwise package offline handles requests
	// nil unless a process holds the city's lock but does not accept connections
	Held *folder.HeldError
	// nil unless the configuration is invalid and no controller is running
	ConfigCache *folder.ConfigCache
	Close       func()
}

// NoController returns the error for a request that only a controller can carry out.
func (l *Link) NoController(what string) error { return folder.NoController(l.Dir, what, l.Held) }

// Idle returns why no controller responds, or "" if one does. effect says what does not happen without a controller.
func (l *Link) Idle(effect string) string {
	switch {
	case l.Live:
		return ""
	case l.Held != nil:
		return l.Held.Error()
	}
	return "no controller is running, so " + effect
}

// FolderTimeout is the timeout for reading a city's folder.
const FolderTimeout = 5 * time.Second

// CityDir returns the city's folder: --city, GC_CITY_PATH, or the nearest folder upwards with a city.toml.
func (e *Env) CityDir() (string, error) {
	type place struct {
		dir string
		err error
	}
	at, ok := deadline.Within(context.Background(), FolderTimeout, func() place {
		dir, err := lookForCity(e)
		return place{dir, err}
	})
	if !ok {
		return "", fmt.Errorf("the city's folder (%s) does not respond; check what is mounted "+
			"there, or select a different city with --city",
			cmp.Or(e.Dir, e.Getenv("GC_CITY_PATH"), "this folder, or one above it"))
	}
	return at.dir, at.err
}

// NoCity is the error for a folder without a city.toml.
type NoCity struct{ Dir, text string }

func (n NoCity) Error() string { return n.text }

func lookForCity(e *Env) (string, error) {
	for _, given := range []struct{ from, dir string }{{"", e.Dir},
		{"GC_CITY_PATH: ", e.Getenv("GC_CITY_PATH")}} {
		if given.dir == "" {
			continue
		}
		dir, err := filepath.Abs(given.dir)
		if err == nil {
			dir, err = filepath.EvalSymlinks(dir)
		}
		var missing error
		if err == nil {
			_, missing = os.Stat(filepath.Join(dir, config.FileName))
		}
		if errors.Is(missing, fs.ErrPermission) {
			err = missing
		}
		if err != nil {
			if wrong, ok := errors.AsType[*fs.PathError](err); ok {
				err = wrong.Err
			}
			return "", exit.Usage("%scannot use the folder %s: %v", given.from, given.dir, err)
		}
		if missing != nil && !config.WasCity(dir) {
			text := fmt.Sprintf("%sno %s in %s; run `gcity init` to create one", given.from,
				config.FileName, dir)
			return "", &exit.Failure{Code: exit.CodeUsage, Err: NoCity{dir, text}}
		}
		return dir, nil
	}
	here, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("cannot determine the working folder: %w; use --city to "+
			"select the city", err)
	}
	dir, err := config.Find(here)
	if err != nil {
		text := "no " + config.FileName +
			" here or in any folder above; run `gcity init` to create one, or select a city " +
			"elsewhere with --city DIR"
		return "", &exit.Failure{Code: exit.CodeUsage, Err: NoCity{here, text}}
	}
	return dir, nil
}

// Open opens the command's city. The caller must close the link.
func (e *Env) Open(ctx context.Context) (*Link, error) {
	dir, err := e.CityDir()
	if err != nil {
		return nil, err
	}
	l, err := e.Reach(ctx, dir)
	if err != nil {
		return nil, err
	}
	if e.ReadOnly {
		l.Control = ReadOnly{l.Control}
	}
	return l, nil
}

// OpenNamed opens the command's city and finds the object with the given name.
func (e *Env) OpenNamed(ctx context.Context, name string, kinds ...suggest.Kind) (*Link, Found,
	error) {
	l, err := e.Open(ctx)
	if err != nil {
		return nil, Found{}, err
	}
	f, err := l.Resolve(ctx, name, kinds...)
	if err != nil {
		l.Close()
	}
	return l, f, err
}

// OpenSnapshot opens the command's city and reads its state.
func (e *Env) OpenSnapshot(ctx context.Context) (*Link, *city.Snapshot, error) {
	l, err := e.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	s, err := l.Snapshot(ctx)
	if err != nil {
		l.Close()
	}
	return l, s, err
}

// ReadOnly is a city that rejects changes.
type ReadOnly struct{ city.Control }

// Do implements city.Control. It always returns an error.
func (ReadOnly) Do(_ context.Context, c city.Command) (city.Receipt, error) {
	return city.Receipt{}, ReadOnlyError(c.Verb())
}

// Attach implements city.Control. It always returns an error, because an attached user can type.
func (ReadOnly) Attach(context.Context, string, city.Viewer) (city.Terminal, error) {
	return nil, ReadOnlyError("attach")
}

// ReadOnlyError returns the error for an operation that --read-only does not allow.
func ReadOnlyError(what string) error {
	return city.Errorf(city.Forbidden, "%s is not allowed with --read-only", what)
}

// Self returns the name of the agent that a command acts on: the first argument, or GC_AGENT.
func (e *Env) Self(args []string) (string, error) {
	if len(args) > 0 && args[0] != "" {
		return args[0], nil
	}
	if me := e.Getenv("GC_AGENT"); me != "" {
		return me, nil
	}
	return "", exit.Usage("no name given; the default is $GC_AGENT, which is set only inside a " +
		"session")
}

// DefaultsToSelf adds to a command's help that the first argument defaults to the agent in GC_AGENT.
func DefaultsToSelf(c *cobra.Command) {
	_, args, _ := strings.Cut(c.Use, " ")
	if name, optional := strings.CutPrefix(args, "["); optional {
		what, _, _ := strings.Cut(name, "]")
		what, _, _ = strings.Cut(what, "|")
		c.Long = cmp.Or(c.Long, c.Short+".") + "\n\n" + what + " is optional inside a session " +
			"(default: $GC_AGENT)."
	}
}

// WarnConfigCache warns that the command uses cached values because the configuration is invalid.
func WarnConfigCache(e *Env) {
	e.Warn(config.FileName + " is invalid, so this command uses the cached stores and agents; " +
		"`gcity config show --validate` lists the errors")
}
