package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/cli/consent"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/cli/host"
	"gcity/cli/offline"
	"gcity/cli/output"
	"gcity/describe"
	"gcity/internal/deadline"
	"gcity/internal/recovery"
	"gcity/internal/shell"
	"gcity/internal/suggest"
	"gcity/supervisor"
)

// RegisterCommand returns the register command.
func RegisterCommand(e *env.Env) *cobra.Command {
	return env.Changes(e, &cobra.Command{
		Use: "register [DIR]", Short: "Register a city with the supervisor, which then runs it",
		Long: `register adds the city in DIR, or the current one, to the cities that this machine's
supervisor runs. A running supervisor starts the city immediately, even if the city is
waiting for a retry. A city is identified by its folder, and by the name in its
city.toml, which must be unique among the registered cities.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return register(cmd.Context(), e, args)
		},
	})
}

// UnregisterCommand returns the unregister command.
func UnregisterCommand(e *env.Env) *cobra.Command {
	return env.Changes(e, &cobra.Command{
		Use: "unregister [NAME|DIR]…", Short: "Stop cities and remove them from the supervisor",
		Long: `unregister removes cities from those that the supervisor runs. Give their names or
their folders, which may no longer exist. Without an argument, unregister removes the
current city. A running supervisor stops the cities and their agents. The folders are
not changed. If one of the names is unknown, unregister does nothing.`,
		ValidArgsFunction: func(cmd *cobra.Command, _ []string, typed string) ([]string,
			cobra.ShellCompDirective) {
			return completeCity(e, cmd, typed)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return unregister(cmd.Context(), e, args)
		},
	})
}

// CitiesCommand returns the cities command.
func CitiesCommand(e *env.Env) *cobra.Command {
	return &cobra.Command{
		Use: "cities [list]", Short: "List all registered and recent cities with their states",
		Long: `cities lists the cities that are registered with the supervisor, and those that you
have opened recently, whether or not they are running. RUN BY is the process that runs
the city: the supervisor, a control room, or a gcity process in the background. The
word "list" is optional.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 && args[0] != "list" {
				return exit.Usage("unexpected argument %q: %s", args[0], cmd.UseLine())
			}
			return listCities(cmd.Context(), e)
		},
	}
}

func register(ctx context.Context, e *env.Env, args []string) error {
	dir, err := CityOf(e, args)
	if err != nil {
		return err
	}
	if err := consent.MayStart(e, dir); err != nil {
		return err
	}
	home, err := env.Home(e)
	if err != nil {
		return err
	}
	if _, runs := host.FindSupervisor(e); !runs {
		entry, err := host.Register(ctx, home, dir)
		if err != nil {
			return err
		}
		return e.Receipt(city.Receipt{Message: fmt.Sprintf("%s is registered, but no supervisor "+
			"is running; run `gcity supervisor start`", entry.Name)})
	}
	info, err := registerRunning(ctx, e, dir)
	if err != nil {
		return err
	}
	return e.Result(info, "%s is registered, and %s", output.SafeLine(info.Name),
		CityStatusText(e, info))
}

func registerRunning(ctx context.Context, e *env.Env, dir string) (city.Info, error) {
	fleet, _, err := host.DialSupervisor(e)
	if err != nil {
		return city.Info{}, err
	}
	defer fleet.Close()
	done := e.SaySlow(ctx, "the supervisor to open "+dir, host.SpawnLimit)
	info, err := fleet.Register(ctx, dir)
	done()
	if err == nil {
		err = cannotRun(e, info)
	}
	return info, err
}

func cannotRun(e *env.Env, info city.Info) error {
	if info.Status != city.CityRefused && info.Status != city.CityCrashed {
		return nil
	}
	err := fmt.Errorf("%s is registered, but cannot run: %s", info.Name, CityStatusText(e, info))
	if runsElsewhere(info) {
		err = &exit.Failure{Code: exit.CodeConflict,
			Err: fmt.Errorf("%w; %s", err, movesHere(info.Path))}
	}
	return err
}

// CityStatusText returns a registered city's state as one line.
func CityStatusText(e *env.Env, i city.Info) string {
	text := string(i.Status)
	if i.Status == city.CityStopped && i.LeftoverSessions > 0 {
		text = "no controller"
	}
	if i.Error != "" {
		text += ": " + output.SafeLead(i.Error)
	}
	if left := orphansText(i); left != "" {
		text += "; " + output.SafeLine(left)
	}
	if i.Until != nil {
		text += "; next attempt at " + e.Clock(*i.Until)
	}
	return text
}

// CityOf returns the folder of the city that the first argument names, or of the current city. It sets e.Dir.
func CityOf(e *env.Env, args []string) (string, error) {
	if len(args) > 0 && args[0] != "" {
		e.Dir = args[0]
	}
	return e.CityDir()
}

func unregister(ctx context.Context, e *env.Env, args []string) error {
	home, err := env.Home(e)
	if err != nil {
		return err
	}
	all, err := registeredCities(ctx, e, home)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		args = []string{""} // the current city
	}
	var entries []host.Registered
	for _, given := range args {
		entry, err := findRegistered(e, all, given)
		if err != nil {
			return err
		}
		if !slices.Contains(entries, entry) {
			entries = append(entries, entry)
		}
	}
	var done []city.Receipt
	for _, entry := range entries {
		what, err := UnregisterAndWait(ctx, e, home, entry)
		if err != nil && len(done) > 0 {
			return errors.Join(e.Receipts(done), err)
		}
		if err != nil {
			return err
		}
		done = append(done, city.Receipt{Message: what})
	}
	return e.Receipts(done)
}

// registeredCities prefers a running supervisor's names to those in the registry.
func registeredCities(ctx context.Context, e *env.Env, home env.SupervisorHome) ([]host.Registered,
	error) {
	fleet, _, err := host.DialSupervisor(e)
	if err != nil {
		return host.Registry(home)
	}
	defer fleet.Close()
	infos, err := fleet.Cities(ctx)
	if exit.IsSilent(err) {
		return nil, err
	}
	if err != nil {
		return host.Registry(home)
	}
	all := make([]host.Registered, len(infos))
	for i := range infos {
		all[i] = host.Registered{Path: infos[i].Path, Name: infos[i].Name}
	}
	return all, nil
}

// UnregisterAndWait unregisters a city, and waits until a running supervisor has stopped it.
func UnregisterAndWait(ctx context.Context, e *env.Env, home env.SupervisorHome,
	entry host.Registered) (string, error) {
	fleet, _, err := host.DialSupervisor(e)
	if exit.IsStopped(err) {
		_, err = supervisor.Remove(ctx, home, entry.Path)
		text := entry.Name + " is no longer registered; no supervisor is running"
		info := readStates(ctx, newLooks(), []host.Registered{entry}, stateWithoutSupervisor)[0]
		if left := orphansText(info); left != "" {
			text += "; " + left
		}
		return text, err
	}
	if err != nil {
		return "", err
	}
	defer fleet.Close()
	all, err := fleet.Cities(ctx)
	if exit.IsSilent(err) {
		return "", err
	}
	if err == nil {
		if i := slices.IndexFunc(all, func(i city.Info) bool {
			return i.Path == entry.Path
		}); i >= 0 {
			entry.Name = all[i].Name // the registry might lack the name
		}
	}
	if c, err := fleet.City(entry.Name); err == nil {
		defer env.SayEnding(ctx, e, c)()
	}
	r, err := fleet.Unregister(ctx, entry.Name)
	return r.Message, err
}

// findRegistered returns the city with this name or folder. If given is "", it returns the city in e.Dir.
func findRegistered(e *env.Env, all []host.Registered, given string) (host.Registered, error) {
	if given == "" {
		given = e.Dir
	} else if i := slices.IndexFunc(all, func(e host.Registered) bool {
		return e.Name == given
	}); i >= 0 {
		return all[i], nil
	}
	at, none := given, error(nil)
	if at == "" {
		at = "."
		own, err := e.CityDir()
		if err == nil {
			at = own
		}
		none = err
	}
	path, err := filepath.Abs(at)
	if err != nil {
		return host.Registered{}, err
	}
	real := Resolved(path)
	for dir := real; ; dir = filepath.Dir(dir) {
		if i := slices.IndexFunc(all, func(e host.Registered) bool {
			return e.Path == dir || e.Path == path
		}); i >= 0 {
			return all[i], nil
		}
		if given != "" || dir == filepath.Dir(dir) {
			break
		}
	}
	if none != nil {
		return host.Registered{}, none
	}
	var names []string
	for _, e := range all {
		names = append(names, e.Name)
	}
	missing := suggest.NotFound(suggest.City, given, names)
	if given == "" {
		missing = suggest.NoSuch(suggest.City, path).Then("run `gcity register` to " +
			"register it, or `gcity cities` to list the registered cities")
	}
	return host.Registered{}, missing
}

// Resolved resolves the symbolic links in a path, which may not exist.
func Resolved(path string) string {
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

type citiesShape struct {
	output.List[city.Info]
	Running int `json:"running"`
}

func citiesOf(all []city.Info) citiesShape {
	return citiesShape{output.ListOf(all), city.CountRunning(all)}
}

// supervisedCities returns the running supervisor's cities, or an exit.NotRunning error if no supervisor is running.
func supervisedCities(ctx context.Context, e *env.Env) ([]city.Info, error) {
	fleet, _, err := host.DialSupervisor(e)
	if err != nil {
		return nil, err
	}
	defer fleet.Close()
	ctx, cancel := context.WithTimeout(ctx, folder.HangsAfter)
	defer cancel()
	return fleet.Cities(ctx)
}

// CityList returns the states of the registered cities, with or without a supervisor.
func CityList(ctx context.Context, e *env.Env) ([]city.Info, error) {
	all, err := supervisedCities(ctx, e)
	if exit.IsStopped(err) {
		return citiesFromFiles(ctx, e)
	}
	return all, err
}

func citiesFromFiles(ctx context.Context, e *env.Env) ([]city.Info, error) {
	home, err := env.Home(e)
	if err != nil {
		return nil, err
	}
	registered, err := host.Registry(home)
	if err != nil {
		return nil, err
	}
	all := readStates(ctx, newLooks(), registered, stateWithoutSupervisor)
	slices.SortFunc(all, byName)
	return all, nil
}

func byName(x, y city.Info) int { return city.CompareNames(x.Name, y.Name) }

func newLooks() *deadline.Calls[city.Info] { return deadline.New[city.Info](1000) }

func readStates(ctx context.Context, looks *deadline.Calls[city.Info], all []host.Registered,
	read func(context.Context, host.Registered) city.Info) []city.Info {
	out := make([]city.Info, len(all))
	var reads recovery.Group
	for n, e := range all {
		reads.Go(func() {
			i, returned := looks.Do(ctx, e.Path, time.Time{}, env.FolderTimeout,
				func() city.Info { return read(ctx, e) })
			if !returned {
				i = city.Info{Name: e.Name, Path: e.Path, Status: city.CityStopped,
					Cause: city.Unresponsive,
					Error: "the city's folder does not respond; check what is mounted there"}
			}
			out[n] = i
		})
	}
	reads.Wait()
	return out
}

func stateWithoutSupervisor(ctx context.Context, e host.Registered) city.Info {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	i := runningOrStopped(ctx, e)
	if i.Running {
		return i
	}
	if i.Error = host.GoneText(e); i.Error != "" {
		return i
	}
	i.LeftoverSessions, _ = offline.CountOrphans(ctx, e.Path)
	return i
}

// runningOrStopped does not search a stopped city for sessions.
func runningOrStopped(ctx context.Context, e host.Registered) city.Info {
	i := city.Info{Name: e.Name, Path: e.Path, Status: city.CityStopped}
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	near, closeNear, err := folder.Dial(e.Path)
	if err == nil {
		defer closeNear()
		return runningState(ctx, i, near)
	}
	if h := folder.HeldBy(e.Path, err); h.Replaced {
		i.Running, i.Status, i.PID, i.Mode = true, city.CityRunning, h.PID, "unknown"
		i.Cause, i.Error = city.Unresponsive, h.Error()
	}
	return i
}

func runningState(ctx context.Context, i city.Info, c city.Control) city.Info {
	s, err := folder.BriefSnapshot(ctx, c)
	i.Running, i.Status = true, city.CityRunning
	if err != nil {
		i.Cause, i.Error = city.Unresponsive, "the city's controller does not respond"
		i.Mode = "unknown"
		return i
	}
	i.Since = s.Started
	i.Name = cmp.Or(i.Name, s.Name)
	switch {
	case s.ShutDown:
		i.Status = city.CityStopping
	case s.Suspended:
		i.Status = city.CitySuspended
	}
	i.Mode, i.PID = s.Mode, s.PID
	return i
}

func listCities(ctx context.Context, e *env.Env) error {
	l := &registryList{e: e, looks: newLooks()}
	all, err := supervisedCities(ctx, e)
	var unsupervised int
	switch {
	case exit.IsStopped(err):
		all, unsupervised, err = l.find(ctx)
	case err == nil:
		l.showOtherControllers(ctx, all)
		all = l.addRecent(ctx, all, nil)
	case exit.IsSilent(err) && !e.JSON:
		return errors.Join(l.printFromFiles(ctx), err)
	}
	if err != nil {
		return err
	}
	WarnAboutRecent(e)
	unattended := slices.ContainsFunc(all[:unsupervised],
		func(i city.Info) bool { return !i.Running })
	slices.SortFunc(all, byName)
	if e.JSON {
		return e.WriteJSON(citiesOf(all))
	}
	troubles, _ := SupervisorTroubles(ctx, e)
	for _, t := range troubles {
		fmt.Fprintf(e.Err, "! %s\n", output.SafeText(t))
	}
	if unattended {
		fmt.Fprintln(e.Err, "no supervisor is running; `gcity supervisor start` starts one, "+
			"which runs the registered cities")
	}
	if len(all) == 0 {
		e.Sayf("no cities are registered, and none was opened recently; `gcity start` in a " +
			"city's folder registers and starts it, and `gcity init DIR` creates a city")
		return nil
	}
	return printCities(e, all)
}

// showOtherControllers replaces the states of the cities that the supervisor cannot run because another process runs
// them.
func (l *registryList) showOtherControllers(ctx context.Context, all []city.Info) {
	var taken []host.Registered
	for _, i := range all {
		if runsElsewhere(i) {
			taken = append(taken, host.Registered{Path: i.Path, Name: i.Name})
		}
	}
	for _, s := range readStates(ctx, l.looks, taken, runningOrStopped) {
		if s.Running && s.Error == "" {
			s.Error = "registered, but not run by the supervisor; " + movesHere(s.Path)
			all[slices.IndexFunc(all, func(i city.Info) bool { return i.Path == s.Path })] = s
		}
	}
}

func runsElsewhere(i city.Info) bool {
	// older supervisors do not send the cause
	return i.Cause == city.RunsElsewhere || i.Cause == "" && i.Status == city.CityRefused &&
		strings.Contains(i.Error, "already running")
}

func movesHere(path string) string {
	return "`gcity start --city " + shell.Quote(path) + "` moves it to the supervisor"
}

func (l *registryList) printFromFiles(ctx context.Context) error {
	all, _, err := l.find(ctx)
	if err != nil || len(all) == 0 {
		return err
	}
	slices.SortFunc(all, byName)
	return printCities(l.e, all)
}

func printCities(e *env.Env, all []city.Info) error {
	table := output.NewTable("NAME", "PATH", "RUN BY", "STATUS")
	for _, i := range all {
		color := map[city.Condition]string{city.CityRunning: output.Green,
			city.CityCrashed: output.Red, city.CityRefused: output.Red}[i.Status]
		runner := "-"
		if i.Running {
			runner = describe.Runner(cmp.Or(i.Mode, "supervised"), i.PID)
		}
		table.Add(output.Tinted(i.Name, output.Bold), i.Path, runner,
			output.Tinted(CityStatusText(e, i), color))
	}
	table.Shrink(1, e.Columns())
	// a status can contain a command, so it is not truncated
	return e.WriteTable(e.Out, 0, table)
}
