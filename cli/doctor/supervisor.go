package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"gcity/api/client"
	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/fleet"
	"gcity/cli/host"
	"gcity/config"
	"gcity/internal/deadline"
)

func checkSupervisor(ctx context.Context, p *Subject) finding {
	e := p.env
	home, err := env.Home(e)
	if err != nil {
		return note("set GC_HOME, or HOME", "%v", err)
	}
	if _, err := os.Stat(home.Dir); errors.Is(err, os.ErrNotExist) {
		return ok("no city is registered")
	}
	if err := host.CheckHome(home); err != nil {
		return bad("fix this problem; running cities are not affected", "%v", err)
	}
	all, err := fleet.CityList(ctx, e)
	r, runs := host.FindSupervisor(e)
	if err != nil {
		return unlistedCities(r.PID, runs, err)
	}
	troubles, notes := fleet.SupervisorTroubles(ctx, e)
	if len(troubles) > 0 {
		return bad("fix this problem; running cities are not affected", "%s",
			strings.Join(troubles, "\n"))
	}
	failing, more := cityProblems(e, all, runs)
	lines := append(notes, more...)
	if info, err := os.Stat(home.Dir); err == nil && info.Mode().Perm()&0o077 != 0 {
		lines = append(lines, fmt.Sprintf("other users can open %s (%v); run `chmod 700 %[1]s`",
			home.Dir, info.Mode()))
	}
	if runs && r.Version != e.Version {
		lines = append(lines, fmt.Sprintf("the supervisor has version %s, this program has "+
			"version %s; %s replaces the supervisor and keeps all agents", r.Version, e.Version,
			renewal(r.PID, "supervised", mainUnit(ctx, r.PID))))
	}
	if !runs && len(all) > 0 {
		lines = append(lines, fmt.Sprintf("%s registered, but no supervisor is running; run "+
			"`gcity supervisor start`", fleet.CountedCities(len(all))))
	}
	switch lines = append(failing, lines...); {
	case len(failing) > 0:
		return bad("fix the problem in each line; `gcity register DIR` retries a city immediately",
			"%s", strings.Join(lines, "\n"))
	case len(lines) > 0:
		return note("", "%s", strings.Join(lines, "\n"))
	case !runs:
		return ok("no city is registered")
	}
	return ok("running, pid %d, with %s", r.PID, fleet.CountedCities(len(all)))
}

// cityProblems returns the cities that the supervisor cannot run, and notes about other cities.
func cityProblems(e *env.Env, all []city.Info, runs bool) (failing, notes []string) {
	gone := fleet.GoneCities(all)
	switch {
	case gone != "" && runs:
		failing = append(failing, gone)
	case gone != "":
		notes = append(notes, gone)
	}
	for _, i := range all {
		switch {
		case gone != "" && host.IsGone(i):
		case i.Status == city.CityCrashed || i.Status == city.CityRefused:
			failing = append(failing, i.Name+" ("+i.Path+") is "+fleet.CityStatusText(e, i))
		case notACity(i.Path):
			notes = append(notes, fmt.Sprintf("%s: no city in %s; `gcity unregister %s` "+
				"removes the entry", i.Name, i.Path, i.Name))
		}
	}
	return failing, notes
}

func unlistedCities(pid int, runs bool, err error) finding {
	if exit.IsSilent(err) {
		return bad(client.Remedy(client.SupervisorName, pid), "the supervisor (pid %d) does not "+
			"respond", pid)
	}
	how := "see `gcity supervisor logs`"
	if runs {
		how += fmt.Sprintf("; `kill -9 %d` kills the supervisor but not the agents, and "+
			"`gcity supervisor start` takes over the agents", pid)
	}
	return bad(how, "%v", err)
}

func notACity(dir string) bool {
	gone, _ := deadline.Within(context.Background(), env.FolderTimeout, func() bool {
		_, err := os.Stat(filepath.Join(dir, config.FileName))
		return errors.Is(err, os.ErrNotExist) && !config.WasCity(dir)
	})
	return gone
}

// NotRun returns why a registered city is not running, or "" if that is unknown.
func NotRun(ctx context.Context, e *env.Env, dir string) string {
	client, _, err := host.DialSupervisor(e)
	if err != nil {
		return ""
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	all, err := client.Cities(ctx)
	if err != nil {
		return ""
	}
	for _, i := range all {
		if i.Path == dir && i.Running {
			return "the supervisor is running this city, but the city's socket does not respond; " +
				"if the socket was removed from .gc, the controller will create it again at the " +
				"next patrol"
		}
		if i.Path == dir {
			return "the city is registered, but the supervisor is not running it: " +
				fleet.CityStatusText(e, i)
		}
	}
	return ""
}
