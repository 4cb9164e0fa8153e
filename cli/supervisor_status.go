package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gcity/city"
	"gcity/cli/exit"
	"gcity/cli/output"
)

// supervisorShape is a supervisor as `supervisor status --json` shows it.
type supervisorShape struct {
	Running bool        `json:"running"`
	PID     int         `json:"pid,omitempty"`
	Version string      `json:"version,omitempty"`
	Started time.Time   `json:"started,omitzero"`
	Home    string      `json:"home"`
	Socket  string      `json:"socket"`
	API     string      `json:"api,omitempty"`            // where it is to answer over TCP; problem says why it does not
	Token   string      `json:"api_token_file,omitempty"` // the file with the token for that
	Problem string      `json:"problem,omitempty"`
	Cities  citiesShape `json:"cities"`
}

func (a *app) supervisorStatus(ctx context.Context) error {
	home, err := a.home()
	if err != nil {
		return err
	}
	out := supervisorShape{Home: home.Dir, Socket: home.Socket(), Cities: citiesOf(nil)}
	out.API, out.Token = fleetAddr(home)
	if r, runs := a.findSupervisor(); runs {
		out.Running, out.PID, out.Version, out.Started, out.Socket = true, r.PID, r.Version, r.Started, r.Socket
	}
	if err := checkHome(home); err != nil {
		out.Problem = err.Error()
	}
	for _, t := range a.supervisorTroubles(ctx) {
		if !strings.Contains(out.Problem, t) {
			out.Problem = strings.TrimPrefix(out.Problem+"\n"+t, "\n")
		}
	}
	all, err := a.cityList(ctx)
	if err != nil && out.Problem == "" {
		out.Problem = err.Error()
	}
	out.Cities = citiesOf(all)
	if a.JSON {
		err = a.WriteJSON(out)
	} else {
		err = a.tellSupervisor(out, all)
	}
	if err == nil && !out.Running {
		return exit.Quietly(exit.CodeNotRunning)
	}
	return err
}

// supervisorTroubles are what the supervisor that runs says is wrong with itself.
func (a *app) supervisorTroubles(ctx context.Context) []string {
	fleet, _, err := a.dialSupervisor()
	if err != nil {
		return nil
	}
	defer fleet.Close()
	ctx, cancel := context.WithTimeout(ctx, deafAfter)
	defer cancel()
	troubles, _ := fleet.Troubles(ctx) // whoever asks for the cities next says why not
	return troubles
}

// door says where the supervisor answers over TCP, and with which token; "" if it does not.
func (s supervisorShape) door() string {
	if s.API == "" || strings.Contains(s.Problem, s.API) {
		return ""
	}
	text := " · API " + s.API
	if s.Token != "" {
		text += " (token in " + output.SafeLine(s.Token) + ")"
	}
	return text
}

func (a *app) tellSupervisor(s supervisorShape, all []city.Info) error {
	if s.Running {
		a.Sayf("%s · %d of %s running · pid %d, up %s, version %s", a.Paint(output.Bold, "supervisor"), s.Cities.Running, countedCities(len(all)), s.PID, a.Age(s.Started), output.SafeLine(s.Version))
		a.Sayf("home %s · socket %s%s", output.SafeLine(s.Home), output.SafeLine(s.Socket), s.door())
	} else {
		a.Sayf("no supervisor runs the cities of %s; `gcity supervisor start` starts one", output.SafeLine(s.Home))
	}
	if s.Problem != "" {
		a.Sayf("%s", a.Paint(output.Red, output.SafeText(fmt.Sprintf("! %s", s.Problem))))
	}
	if len(all) == 0 {
		return nil
	}
	a.Sayf("")
	return a.tellCities(all)
}
