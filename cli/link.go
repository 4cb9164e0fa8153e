package cli

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"gcity/city"
	"gcity/cli/exit"
	"gcity/config"
	"gcity/internal/beside"
)

// link is a city within reach.
type link struct {
	city.Control
	dir   string
	live  bool   // a controller runs it; else see aside
	known *known // of a city that nobody runs, if its file is refused; nil = it is not, or nothing is
	close func()
}

// folderAnswers is how long the folder of a city may take to be looked at.
const folderAnswers = 5 * time.Second

// cityDir says which city is meant: --city, else GC_CITY_PATH, else the first folder upwards that has a city.toml. One that does
// not answer is told of.
func (a *app) cityDir() (string, error) {
	type place struct {
		dir string
		err error
	}
	at, ok := beside.New[place](1).At(context.Background(), "", time.Now(), folderAnswers, func() place {
		dir, err := a.lookForCity()
		return place{dir, err}
	})
	if !ok {
		return "", fmt.Errorf("the city's folder (%s) does not answer; look at what is mounted there, or name another city with --city",
			cmp.Or(a.dir, a.Getenv("GC_CITY_PATH"), "here, or above"))
	}
	return at.dir, at.err
}

// noCity is the error for a folder without a city.toml.
type noCity struct{ dir, text string }

func (n noCity) Error() string { return n.text }

func (a *app) lookForCity() (string, error) {
	for _, given := range []struct{ from, dir string }{{"--city", a.dir}, {"GC_CITY_PATH", a.Getenv("GC_CITY_PATH")}} {
		if given.dir == "" {
			continue
		}
		dir, err := filepath.Abs(given.dir)
		if err == nil {
			dir, err = filepath.EvalSymlinks(dir)
		}
		if err != nil {
			return "", exit.Usage("%s names no folder: %v", given.from, err)
		}
		if _, err := os.Stat(filepath.Join(dir, config.FileName)); err != nil && !config.WasCity(dir) {
			text := fmt.Sprintf("%s: there is no %s in %s; `gcity init` writes one", given.from, config.FileName, dir)
			return "", &exit.Failure{Code: exit.CodeUsage, Err: noCity{dir, text}}
		}
		return dir, nil
	}
	here, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("cannot tell the working folder: %w; name the city with --city", err)
	}
	dir, err := findCity(here)
	if err != nil {
		text := "no " + config.FileName + " here or in any folder above; `gcity init` writes one, --city DIR names another city"
		return "", &exit.Failure{Code: exit.CodeUsage, Err: noCity{here, text}}
	}
	return dir, nil
}

// open opens the city that is meant, whether or not a controller runs it. The caller closes the link.
func (a *app) open(ctx context.Context) (*link, error) {
	dir, err := a.cityDir()
	if err != nil {
		return nil, err
	}
	l, err := a.reach(ctx, dir)
	if err != nil {
		return nil, err
	}
	if a.readOnly {
		l.Control = readOnly{l.Control}
	}
	return l, nil
}

// reachCity is the reach of a real process.
func (a *app) reachCity(ctx context.Context, dir string) (*link, error) {
	near, closeNear, err := dialPatiently(ctx, dir)
	if err == nil {
		return &link{Control: near, dir: dir, live: true, close: closeNear}, nil
	}
	if !exit.IsNotRunning(err) {
		return nil, err
	}
	beside, err := newAside(dir, true, a.Now, nil)
	if err != nil {
		return nil, err
	}
	a.noteUntrusted(beside.grant)
	return &link{Control: beside, dir: dir, known: beside.known, close: beside.close}, nil
}

// dialPatiently gives a controller that has the city's lock and no socket yet, or no longer, two seconds.
func dialPatiently(ctx context.Context, dir string) (city.Control, func(), error) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	for {
		near, closeNear, err := dial(dir)
		if err == nil || !exit.IsNotRunning(err) {
			return near, closeNear, err
		}
		if held, lockErr := isHeld(dir); lockErr != nil || !held {
			return nil, nil, err
		}
		select {
		case <-ctx.Done():
			return nil, nil, err
		case <-tick.C:
		}
	}
}

// readOnly refuses everything that changes something.
type readOnly struct{ city.Control }

func (readOnly) Do(_ context.Context, c city.Command) (city.Receipt, error) {
	return city.Receipt{}, refusedReadOnly(c.Verb())
}

func (readOnly) Attach(context.Context, string, city.Viewer) (city.Terminal, error) {
	return nil, refusedReadOnly("attach")
}

func refusedReadOnly(what string) error {
	return &city.Error{Code: city.Forbidden, Message: what + " is refused: --read-only was given"}
}

// self is the agent a command is about: its argument, else GC_AGENT.
func (a *app) self(args []string) (string, error) {
	if len(args) > 0 && args[0] != "" {
		return args[0], nil
	}
	if me := a.Getenv("GC_AGENT"); me != "" {
		return me, nil
	}
	return "", exit.Usage("which agent? Name one, or run this inside a session, where GC_AGENT does")
}
