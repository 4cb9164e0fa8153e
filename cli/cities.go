package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/internal/beside"
)

func (a *app) registerCommand() *cobra.Command {
	return &cobra.Command{
		Use: "register [DIR]", Short: "Have the supervisor run a city, now and whenever it runs", Args: between(0, 1),
		Long: `register adds a city to those that the supervisor of this machine runs: the one in
DIR, or the one that is meant here. If the supervisor runs, so does the city then;
one that waits to be tried again is tried at once. A city is known by its folder,
and by the name in its city.toml, which no other registered city may have.`,
		RunE: func(cmd *cobra.Command, args []string) error { return a.register(cmd.Context(), args) },
	}
}

func (a *app) unregisterCommand() *cobra.Command {
	return &cobra.Command{
		Use: "unregister [NAME|DIR]", Short: "Stop a city that the supervisor runs, and forget it", Args: between(0, 1),
		Long: `unregister takes a city out of those that the supervisor runs, by its name or its
folder, which need not be there any more. If the supervisor runs, the city is
stopped, with its agents. Nothing in its folder is touched.`,
		ValidArgsFunction: a.completeCity,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.unregister(cmd.Context(), args) },
	}
}

func (a *app) citiesCommand() *cobra.Command {
	return &cobra.Command{
		Use: "cities", Short: "List the cities that are registered, and how they are", Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.listCities(cmd.Context()) },
	}
}

func (a *app) register(ctx context.Context, args []string) error {
	dir, err := a.cityOf(args)
	if err != nil {
		return err
	}
	if a.readOnly {
		return refusedReadOnly("register")
	}
	if err := a.mayStart(dir); err != nil {
		return err
	}
	home, err := a.home()
	if err != nil {
		return err
	}
	if _, runs := a.findSupervisor(); !runs {
		e, err := register(ctx, home, dir)
		if err != nil {
			return err
		}
		return a.receipt(city.Receipt{Message: fmt.Sprintf("%s is registered; no supervisor runs, `gcity supervisor start` starts one", e.Name)})
	}
	info, err := a.enrol(ctx, dir)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.WriteJSON(info)
	}
	a.Sayf("%s is registered, and %s", output.SafeLine(info.Name), a.cityStands(info))
	return nil
}

// enrol has the supervisor that runs run a city too. One that it cannot run is registered all the same, and an error.
func (a *app) enrol(ctx context.Context, dir string) (city.Info, error) {
	fleet, _, err := a.dialSupervisor()
	if err != nil {
		return city.Info{}, err
	}
	defer fleet.Close()
	done := a.saySlow(ctx, "the supervisor to open "+dir, spawnLimit)
	info, err := fleet.Register(ctx, dir)
	done()
	if err == nil && (info.Status == city.CityRefused || info.Status == city.CityCrashed) {
		err = fmt.Errorf("%s is registered, and does not run: %s", info.Name, a.cityStands(info))
		if strings.Contains(info.Error, "already running") {
			err = &exit.Failure{Code: exit.CodeConflict, Err: err}
		}
	}
	return info, err
}

// cityStands says how a registered city is, in a line.
func (a *app) cityStands(i city.Info) string {
	text := string(i.Status)
	if i.Error != "" {
		text += ": " + output.SafeLead(i.Error)
	}
	if left := leftOf(i); left != "" {
		text += "; " + output.SafeLine(left)
	}
	if i.Until != nil {
		text += "; tried again at " + a.Clock(*i.Until)
	}
	return text
}

// cityOf is the folder of the city that an argument names, else the one that is meant here.
func (a *app) cityOf(args []string) (string, error) {
	if len(args) > 0 && args[0] != "" {
		a.dir = args[0]
	}
	return a.cityDir()
}

func (a *app) unregister(ctx context.Context, args []string) error {
	if a.readOnly {
		return refusedReadOnly("unregister")
	}
	home, err := a.home()
	if err != nil {
		return err
	}
	all, err := a.known(ctx, home)
	if err != nil {
		return err
	}
	e, err := a.among(all, args)
	if err != nil {
		return err
	}
	what, err := a.dismiss(ctx, home, e)
	if err != nil {
		return err
	}
	return a.receipt(city.Receipt{Message: what})
}

// known are the cities that are registered, called as the supervisor calls them if one runs.
func (a *app) known(ctx context.Context, home supervisorHome) ([]registered, error) {
	fleet, _, err := a.dialSupervisor()
	if err != nil {
		return registry(home)
	}
	defer fleet.Close()
	infos, err := fleet.Cities(ctx)
	if err != nil {
		return registry(home)
	}
	all := make([]registered, len(infos))
	for i := range infos {
		all[i] = registered{Path: infos[i].Path, Name: infos[i].Name}
	}
	return all, nil
}

// dismiss has a city be registered no more, and waits for its end where a supervisor runs it.
func (a *app) dismiss(ctx context.Context, home supervisorHome, e registered) (string, error) {
	fleet, _, err := a.dialSupervisor()
	if exit.IsStill(err) {
		_, err = unregister(ctx, home, e.Path)
		text := e.Name + " is not registered any more; no supervisor runs"
		if left := leftOf(lookAtAll(ctx, []registered{e})[0]); left != "" {
			text += "; " + left
		}
		return text, err
	}
	if err != nil {
		return "", err
	}
	defer fleet.Close()
	if all, err := fleet.Cities(ctx); err == nil {
		if i := slices.IndexFunc(all, func(i city.Info) bool { return i.Path == e.Path }); i >= 0 {
			e.Name = all[i].Name // it knows better, where the registry says none
		}
	}
	if c, err := fleet.City(e.Name); err == nil {
		defer a.sayEnding(ctx, c)()
	}
	r, err := fleet.Unregister(ctx, e.Name)
	return r.Message, err
}

// among finds a registered city by its name or its folder, which may be gone.
func (a *app) among(all []registered, args []string) (registered, error) {
	given := a.dir
	if len(args) > 0 && args[0] != "" {
		given = args[0]
		if i := slices.IndexFunc(all, func(e registered) bool { return e.Name == given }); i >= 0 {
			return all[i], nil
		}
	}
	at := given
	if at == "" {
		at = "."
		if own, err := a.cityDir(); err == nil {
			at = own
		}
	}
	path, err := filepath.Abs(at)
	if err != nil {
		return registered{}, err
	}
	real := resolved(path)
	for dir := real; ; dir = filepath.Dir(dir) {
		if i := slices.IndexFunc(all, func(e registered) bool { return e.Path == dir || e.Path == path }); i >= 0 {
			return all[i], nil
		}
		if given != "" || dir == filepath.Dir(dir) {
			break
		}
	}
	var names []string
	for _, e := range all {
		names = append(names, e.Name)
	}
	hint := "no city is registered"
	if len(names) > 0 {
		hint = "registered are " + strings.Join(names, ", ")
	}
	if given == "" {
		given = "the city here"
	}
	return registered{}, &city.Error{Code: city.NotFound, Message: fmt.Sprintf("%s is not registered; %s", given, hint)}
}

// resolved is a path without links, as far as it is there.
func resolved(path string) string {
	for up, rest := path, ""; ; {
		if real, err := filepath.EvalSymlinks(up); err == nil {
			return filepath.Join(real, rest)
		}
		if up == filepath.Dir(up) {
			return path
		}
		up, rest = filepath.Dir(up), filepath.Join(filepath.Base(up), rest)
	}
}

// citiesShape is a list of cities, as the API gives it.
type citiesShape struct {
	output.List[city.Info]
	Running int `json:"running"`
}

func citiesOf(all []city.Info) citiesShape {
	out := citiesShape{List: output.ListOf(all)}
	for _, i := range all {
		if i.Running {
			out.Running++
		}
	}
	return out
}

// cityList is how the registered cities are: as the supervisor says, and without one as far as can be seen.
func (a *app) cityList(ctx context.Context) ([]city.Info, error) {
	fleet, r, err := a.dialSupervisor()
	if err == nil {
		defer fleet.Close()
		ctx, cancel := context.WithTimeout(ctx, deafAfter)
		defer cancel()
		return fleet.Cities(ctx)
	}
	if !exit.IsStill(err) {
		return nil, fmt.Errorf("the supervisor (pid %d) does not answer: %w", r.PID, err)
	}
	home, err := a.home()
	if err != nil {
		return nil, err
	}
	all, err := registry(home)
	if err != nil {
		return nil, err
	}
	out := lookAtAll(ctx, all)
	slices.SortFunc(out, func(x, y city.Info) int { return city.CompareNames(x.Name, y.Name) })
	return out, nil
}

// lookAtAll says how cities are that no supervisor runs. One whose folder does not answer keeps nobody waiting for long.
func lookAtAll(ctx context.Context, all []registered) []city.Info {
	looks := beside.New[city.Info](len(all))
	see := func(e registered) func() city.Info { return func() city.Info { return lookAt(ctx, e) } }
	for _, e := range all {
		looks.Begin(e.Path, see(e))
	}
	out := make([]city.Info, 0, len(all))
	for _, e := range all {
		i, answered := looks.At(ctx, e.Path, time.Time{}, folderAnswers, see(e))
		if !answered {
			i = city.Info{Name: e.Name, Path: e.Path, Status: city.CityStopped, Error: "its folder does not answer; look at what is mounted there"}
		}
		out = append(out, i)
	}
	return out
}

// lookAt says how a city is that no supervisor runs.
func lookAt(ctx context.Context, e registered) city.Info {
	i := city.Info{Name: e.Name, Path: e.Path, Status: city.CityStopped}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	near, closeNear, err := dial(e.Path)
	if err != nil {
		if _, err := os.Stat(e.Path); errors.Is(err, os.ErrNotExist) {
			i.Error = "its folder is gone; `gcity unregister " + e.Name + "` forgets it"
			return i
		}
		i.Left, _ = living(ctx, e.Path) // as far as it can be seen at once
		return i
	}
	defer closeNear()
	s, err := near.Snapshot(ctx)
	if err != nil {
		i.Error = "its controller does not answer"
		return i
	}
	i.Running, i.Status, i.Since = true, city.CityRunning, s.Started
	if s.Suspended {
		i.Status = city.CityPaused
	}
	return i
}

func (a *app) listCities(ctx context.Context) error {
	all, err := a.cityList(ctx)
	if err != nil {
		return err
	}
	if a.JSON {
		return a.WriteJSON(citiesOf(all))
	}
	for _, t := range a.supervisorTroubles(ctx) {
		fmt.Fprintf(a.Err, "! %s\n", output.SafeText(t))
	}
	if _, runs := a.findSupervisor(); !runs && len(all) > 0 {
		fmt.Fprintln(a.Err, "no supervisor runs these cities, whose agents may; `gcity supervisor start` starts one")
	}
	if len(all) == 0 {
		a.Sayf("no cities are registered: `gcity register` in the folder of a city, or `gcity start`, adds it")
		return nil
	}
	return a.tellCities(all)
}

func (a *app) tellCities(all []city.Info) error {
	rows := make([][]output.Cell, 0, len(all))
	for _, i := range all {
		colour := map[city.Condition]string{city.CityRunning: output.Green, city.CityCrashed: output.Red, city.CityRefused: output.Red}[i.Status]
		rows = append(rows, []output.Cell{output.Tinted(i.Name, output.Bold), output.Plain(i.Path), output.Tinted(a.cityStands(i), colour)})
	}
	return a.Table(a.Out, 0, []string{"NAME", "PATH", "STATUS"}, rows)
}
