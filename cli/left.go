package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"gcity/city"
	"gcity/internal/mishap"
	"gcity/internal/shell"
	"gcity/session"
)

// What runs on of a city that nobody runs.

// living counts the sessions of a city that live without a controller, as far as they can be seen.
func living(ctx context.Context, dir string) (n int, err error) {
	if _, err := os.Stat(gcDir(dir)); errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if _, closeNear, err := dial(dir); err == nil {
		closeNear()
		return 0, nil
	}
	p, closeIt, err := openSessions(sessionOptions{dir: dir, grant: trusted(dir, nil), observe: true, logger: quietLogger(),
		broken: func(error) {}}) // what breaks is not counted
	if err != nil {
		return 0, err
	}
	defer closeIt()
	all, err := p.List(ctx)
	if _, partly := errors.AsType[*session.Partial](err); err != nil && !partly {
		return 0, err
	}
	for _, st := range all {
		if st.Alive {
			n++
		}
	}
	return n, nil
}

// endLeft ends the sessions of a city that no controller runs, and says how many it was.
func endLeft(ctx context.Context, dir string, now func() time.Time, slow slowly, broken func(error)) (int, error) {
	if _, err := os.Stat(gcDir(dir)); errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	release, err := holdCity(dir) // so that no controller starts agents meanwhile
	if err != nil {
		return 0, err
	}
	defer release()
	beside, err := newAside(dir, false, now, broken)
	if err != nil {
		return 0, err
	}
	defer beside.close()
	beside.slow = slow
	return beside.end(ctx, everyone)
}

// tellBroken tells of what breaks beside something that is done for a city.
func tellBroken(logger *slog.Logger) func(error) {
	return func(err error) {
		stack := ""
		if p, ok := errors.AsType[*mishap.Panic](err); ok {
			stack = string(p.Stack())
		}
		logger.Error("the sessions of a city that nobody runs", "error", err, "stack", stack)
	}
}

// leftOf says what runs on of a city that nobody runs, and what ends it; "" if nothing does.
func leftOf(i city.Info) string {
	switch i.Left {
	case 0:
		return ""
	case 1:
		return "1 session of it runs on, `gcity stop --city " + shell.Quote(i.Path) + "` ends it"
	}
	return fmt.Sprintf("%d sessions of it run on, `gcity stop --city %s` ends them", i.Left, shell.Quote(i.Path))
}

// allLeft says what runs on of the cities that are registered, and that nobody runs; "" if nothing does.
func (a *app) allLeft(ctx context.Context) string {
	all, err := a.cityList(ctx)
	if err != nil {
		return ""
	}
	var out []string
	for _, i := range all {
		if text := leftOf(i); text != "" {
			out = append(out, i.Name+": "+text)
		}
	}
	return strings.Join(out, "\n")
}
