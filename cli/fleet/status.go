package fleet

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/cli/host"
	"gcity/cli/output"
)

type supervisorShape struct {
	Running bool `json:"running"`
	// the states of the cities come from their folders
	Unresponsive bool        `json:"unresponsive,omitempty"`
	PID          int         `json:"pid,omitempty"`
	Version      string      `json:"version,omitempty"`
	Started      time.Time   `json:"started,omitzero"`
	Home         string      `json:"home"`
	Socket       string      `json:"socket"`
	API          string      `json:"api,omitempty"`
	Token        string      `json:"api_token_file,omitempty"`
	Problem      string      `json:"problem,omitempty"`
	Cities       citiesShape `json:"cities"`
}

func supervisorStatus(ctx context.Context, e *env.Env) error {
	home, err := env.Home(e)
	if err != nil {
		return err
	}
	out := supervisorShape{Home: home.Dir, Socket: home.Socket(), Cities: citiesOf(nil)}
	out.API, out.Token = host.FleetAddr(home)
	if r, runs := host.FindSupervisor(e); runs {
		out.Running, out.PID, out.Version, out.Started, out.Socket = true, r.PID, r.Version,
			r.Started, r.Socket
	}
	if err := host.CheckHome(home); err != nil {
		out.Problem = err.Error()
	}
	all, err := CityList(ctx, e)
	var problems []string
	if out.Unresponsive = exit.IsSilent(err); out.Unresponsive {
		problems = []string{err.Error()}
		all, err = citiesFromFiles(ctx, e)
	} else {
		troubles, notes := SupervisorTroubles(ctx, e)
		problems = append(troubles, notes...)
	}
	for _, t := range problems {
		if !strings.Contains(out.Problem, t) {
			out.Problem = strings.TrimPrefix(out.Problem+"\n"+t, "\n")
		}
	}
	if err != nil && out.Problem == "" {
		out.Problem = err.Error()
	}
	out.Cities = citiesOf(all)
	if e.JSON {
		err = e.WriteJSON(out)
	} else {
		err = printSupervisor(e, out, all)
	}
	switch {
	case err == nil && !out.Running:
		return exit.Quietly(exit.CodeNotRunning)
	case err == nil && out.Unresponsive:
		return exit.Quietly(exit.CodeFailed)
	}
	return err
}

// SupervisorTroubles returns the running supervisor's problems, and notes about the default TCP address.
func SupervisorTroubles(ctx context.Context, e *env.Env) (troubles, notes []string) {
	fleet, _, err := host.DialSupervisor(e)
	if err != nil {
		return nil, nil
	}
	defer fleet.Close()
	ctx, cancel := context.WithTimeout(ctx, folder.HangsAfter)
	defer cancel()
	all, _ := fleet.Troubles(ctx)
	home, err := env.Home(e)
	if err != nil {
		return all, nil
	}
	return splitTroubles(all, host.DefaultFleetAddr(home))
}

func splitTroubles(all []string, byDefault string) (troubles, notes []string) {
	for _, t := range all {
		if byDefault != "" && strings.Contains(t, " on "+byDefault+": ") {
			notes = append(notes, t+"; port = 0 in supervisor.toml turns the API off")
			continue
		}
		troubles = append(troubles, t)
	}
	return troubles, notes
}

func (s supervisorShape) listenerText() string {
	if s.API == "" || strings.Contains(s.Problem, s.API) {
		return ""
	}
	text := " · API " + s.API
	if s.Token != "" {
		text += " (token in " + output.SafeLine(s.Token) + ")"
	}
	return text
}

func printSupervisor(e *env.Env, s supervisorShape, all []city.Info) error {
	if s.Running {
		running := strconv.Itoa(s.Cities.Running)
		if s.Unresponsive {
			running = "?"
		}
		e.Sayf("%s · %s of %s running · pid %d, up %s, version %s",
			e.Paint(output.Bold, "supervisor"), running, CountedCities(len(all)), s.PID,
			e.Age(s.Started), output.SafeLine(s.Version))
		e.Sayf("home %s · socket %s%s", output.SafeLine(s.Home), output.SafeLine(s.Socket),
			s.listenerText())
	} else {
		e.Sayf("no supervisor is running for the cities of %s; run `gcity supervisor start` to "+
			"start one", output.SafeLine(s.Home))
	}
	if s.Problem != "" {
		e.Sayf("%s", e.Paint(output.Red, output.SafeText(fmt.Sprintf("! %s", s.Problem))))
	}
	if len(all) == 0 {
		return nil
	}
	e.Sayf("")
	return printCities(e, all)
}
