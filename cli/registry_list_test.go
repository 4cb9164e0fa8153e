package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"gcity/city"
	"gcity/city/citytest"
	"gcity/cli/env"
	"gcity/cli/fleet"
	"gcity/cli/folder"
	"gcity/cli/host"
	"gcity/cli/output"
	"gcity/internal/eventually"
	"gcity/supervisor"
)

// Without a supervisor, the control room lists the registered cities and can start a controller for one of them.
func TestTheRegistryIsListedWithoutASupervisor(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a whole city")
	}
	home, dir := t.TempDir(), filepath.Join(t.TempDir(), "dock")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	text := "[workspace]\nname = \"dock\"\n"
	if err := os.WriteFile(filepath.Join(dir, "city.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GC_HOME", home)
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	e := &env.Env{Printer: output.Printer{Getenv: os.Getenv}}
	e.Cities = func() (city.Directory, func(), error) { return host.OpenDirectory(e) }
	at, err := env.Home(e)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := host.Register(t.Context(), at, dir); err != nil {
		t.Fatal(err)
	}
	d, closeIt := fleet.RoomDirectory(e, nil, "")
	defer closeIt()
	state := func() city.Info {
		for all, err := range d.Watch(t.Context()) {
			if err != nil || len(all) != 1 {
				t.Fatalf("%v, %v", all, err)
			}
			return all[0]
		}
		t.Fatal("no list")
		return city.Info{}
	}
	s := d.(city.Starter)
	if i := state(); i.Name != "dock" || i.Running || s.Supervised() {
		t.Errorf("%+v, supervised %v", i, s.Supervised())
	}
	if err := s.Start(t.Context(), "quay"); err == nil || !strings.Contains(err.Error(), `city "quay" not found`) {
		t.Errorf("an unknown city: got %v", err)
	}
	e.ReadOnly = true
	if err := s.Start(t.Context(), "dock"); err == nil {
		t.Error("a read-only command started a city")
	}
	e.ReadOnly = false
	if err := s.Start(t.Context(), "dock"); err != nil {
		t.Fatal(err)
	}
	defer func() {
		stop := exec.Command("gcity", "stop", "--city", dir)
		if out, err := stop.CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}()
	if i := state(); !i.Running || i.Status != city.CityRunning {
		t.Errorf("%+v", i)
	}
	c, err := d.City("dock")
	if err != nil {
		t.Fatal(err)
	}
	if snap, err := c.Snapshot(t.Context()); err != nil || snap.Mode != "headless" {
		t.Errorf("%v, %+v", err, snap)
	}
	if all, err := d.Cities(t.Context()); err != nil || len(all) != 1 || !all[0].Running {
		t.Errorf("%v, %v", all, err)
	}
	// This city's controller hangs but is still running, so the city is silent.
	pidFile, err := os.ReadFile(filepath.Join(dir, ".gc", "daemon.pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(pidFile)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the controller is stopped", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err == nil && strings.Contains(string(stat), ") T ")
	})
	i := state()
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if !i.Running || !strings.Contains(i.Error, "does not respond") {
		t.Errorf("%+v", i)
	}
}

// The control room also lists recently opened cities, running or not. It forgets a city that no longer exists.
func TestRunningCitiesAreListedWithoutASupervisor(t *testing.T) {
	if testing.Short() {
		t.Skip("runs whole cities")
	}
	t.Setenv("GC_HOME", t.TempDir())
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	root := t.TempDir()
	var dirs []string
	for _, name := range []string{"east", "north", "west"} {
		dir := filepath.Join(root, name, "yard")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "city.toml"), []byte("[workspace]\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, dir)
	}
	stop := func(dir string) {
		if out, err := exec.Command("gcity", "stop", "--city", dir).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	}
	for _, dir := range []string{dirs[0], dirs[2]} {
		if _, err := host.SpawnHeadless(t.Context(), &env.Env{}, dir); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if held, _ := folder.IsHeld(dir); held {
				stop(dir)
			}
		}()
	}
	e := &env.Env{Printer: output.Printer{Getenv: os.Getenv}}
	e.Cities = func() (city.Directory, func(), error) { return host.OpenDirectory(e) }
	d, closeIt := fleet.RoomDirectory(e, nil, "")
	defer closeIt()
	all, err := d.Cities(t.Context())
	if err != nil || len(all) != 2 || all[0].Name != "yard" || all[0].Path != dirs[0] ||
		all[1].Name != "yard-2" || all[1].Path != dirs[2] || !all[1].Running {
		t.Errorf("%+v, %v", all, err)
	}
	code, out, errs := runCLI(t, &fakeCity{env: map[string]string{"GC_HOME": os.Getenv("GC_HOME")}}, "cities")
	if code != 0 || strings.Count(out, "background (gcity --headless, pid ") != 2 || !strings.Contains(out, dirs[2]) {
		t.Errorf("gcity cities: exit %d\n%s%s", code, out, errs)
	}
	c, err := d.City("yard-2")
	if err != nil {
		t.Fatal(err)
	}
	if snap, err := c.Snapshot(t.Context()); err != nil || snap.Path != dirs[2] {
		t.Errorf("%+v, %v", snap, err)
	}
	stop(dirs[0])
	stop(dirs[2])
	code, out, errs = runCLI(t, &fakeCity{env: map[string]string{"GC_HOME": os.Getenv("GC_HOME")}}, "cities")
	if code != 0 || errs != "" || strings.Count(out, "stopped") != 2 {
		t.Errorf("gcity cities: exit %d\n%s%s", code, out, errs)
	}
	if err := os.Remove(filepath.Join(dirs[2], "city.toml")); err != nil {
		t.Fatal(err)
	}
	for all, err := range d.Watch(t.Context()) {
		if err != nil || len(all) != 1 || all[0].Path != dirs[0] || all[0].Status != city.CityStopped {
			t.Errorf("%+v, %v", all, err)
		}
		break
	}
	if err := d.(city.Starter).Start(t.Context(), "yard"); err != nil {
		t.Fatal(err)
	}
	home, err := env.Home(e)
	if all, readErr := supervisor.Recent(home); err != nil || readErr != nil || len(all) != 1 {
		t.Errorf("%v, %v, %v", all, err, readErr)
	}
}

// With a supervisor, a stopped city stays in the lists. Starting it from the control room registers it again.
func TestStoppedCitiesAreListedWithASupervisor(t *testing.T) {
	if testing.Short() {
		t.Skip("runs a whole city")
	}
	dir := filepath.Join(t.TempDir(), "pier")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "city.toml"), []byte("[workspace]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GC_HOME", t.TempDir())
	t.Setenv("XDG_RUNTIME_DIR", "")
	gcity := func(args ...string) string {
		t.Helper()
		out, err := exec.Command("gcity", args...).CombinedOutput()
		if err != nil {
			t.Fatalf("gcity %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	gcity("start", "--city", dir)
	defer exec.Command("gcity", "supervisor", "stop").Run()
	e := &env.Env{Printer: output.Printer{Getenv: os.Getenv}}
	e.Cities = func() (city.Directory, func(), error) { return host.OpenDirectory(e) }
	d, closeIt := fleet.RoomDirectory(e, nil, "")
	defer closeIt()
	var lists []city.Info
	for all, err := range d.Watch(t.Context()) {
		if err != nil || len(all) != 1 {
			t.Fatalf("%+v, %v", all, err)
		}
		if lists = append(lists, all[0]); len(lists) == 1 {
			if all[0].Status != city.CityRunning {
				t.Errorf("%+v", all)
			}
			if out := gcity("stop", "--city", dir); !strings.Contains(out, "`gcity start` registers") {
				t.Error(out)
			}
		}
		if all[0].Status == city.CityStopped && all[0].Error == "" {
			break
		}
	}
	if out := gcity("cities"); !strings.Contains(out, dir) || !strings.Contains(out, "stopped") {
		t.Error(out)
	}
	if _, err := d.(city.Registrar).Unregister(t.Context(), "pier"); err == nil ||
		!strings.Contains(err.Error(), "pier is not registered; to stop it, run `gcity stop --city "+dir) {
		t.Error(err)
	}
	if err := d.(city.Starter).Start(t.Context(), "pier"); err != nil {
		t.Fatal(err)
	}
	if all, err := d.Cities(t.Context()); err != nil || len(all) != 1 || all[0].Status != city.CityRunning {
		t.Errorf("%+v, %v", all, err)
	}
	if c, err := d.City("pier"); err != nil {
		t.Error(err)
	} else if s, err := c.Snapshot(t.Context()); err != nil || s.Mode != "supervised" {
		t.Errorf("%+v, %v", s, err)
	}

	gcity("supervisor", "stop")
	eventually.True(t, "a list without a supervisor", func() bool {
		for _, err := range d.Watch(t.Context()) {
			if err != nil || !d.(city.Starter).Supervised() {
				break
			}
		}
		return !d.(city.Starter).Supervised()
	})
	if err := d.(city.Starter).Start(t.Context(), "pier"); err != nil {
		t.Fatal(err)
	}
	defer gcity("stop", "--city", dir)
	if c, err := d.City("pier"); err != nil {
		t.Error(err)
	} else if s, err := c.Snapshot(t.Context()); err != nil || s.Mode != "headless" {
		t.Errorf("%+v, %v", s, err)
	}
}

// The list of cities shows a new city soon after the command that created it. Refresh makes it read the cities at once.
func TestTheListOfCitiesFollowsCommands(t *testing.T) {
	home, root := t.TempDir(), t.TempDir()
	t.Setenv("GC_HOME", home)
	e := &env.Env{Printer: output.Printer{Getenv: os.Getenv}}
	e.Cities = func() (city.Directory, func(), error) { return host.OpenDirectory(e) }
	create := func(name string) string {
		dir := filepath.Join(root, name)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "city.toml"), []byte("[workspace]\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := host.Remember(e, dir, name); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	dock := create("dock")
	before := time.Now().Add(-time.Hour) // files that change within a few milliseconds can have the same time
	if err := os.Chtimes(filepath.Join(home, "recent"), before, before); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		d, closeIt := fleet.RoomDirectory(e, nil, "")
		defer closeIt()
		lists := 0
		start := time.Now()
		for all, err := range d.Watch(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			elapsed := time.Since(start)
			start = time.Now()
			switch lists++; lists {
			case 1:
				create("quay")
				continue
			case 2:
				if len(all) != 2 || elapsed > time.Second/2 {
					t.Errorf("%v after the command: %+v", elapsed, all)
				}
				if err := os.Remove(filepath.Join(dock, "city.toml")); err != nil {
					t.Fatal(err)
				}
				d.(city.Refresher).Refresh()
				continue
			}
			if len(all) != 1 || elapsed > 0 {
				t.Errorf("%v after Refresh: %+v", elapsed, all)
			}
			break
		}
	})
}

// For the city that this process runs, the list does not use a socket.
func TestTheHostedCityIsListedDirectly(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "city.toml"), []byte("[workspace]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GC_HOME", t.TempDir())
	e := &env.Env{Printer: output.Printer{Getenv: os.Getenv}}
	e.Cities = func() (city.Directory, func(), error) { return host.OpenDirectory(e) }
	if err := host.Remember(e, dir, "quay"); err != nil {
		t.Fatal(err)
	}
	hosted := citytest.NewFake("quay")
	d, closeIt := fleet.RoomDirectory(e, hosted, dir)
	defer closeIt()
	if all, err := d.Cities(t.Context()); err != nil || len(all) != 1 || !all[0].Running {
		t.Errorf("%+v, %v", all, err)
	}
	if c, err := d.City("quay"); err != nil || c != city.Control(hosted) {
		t.Errorf("%v, %v", c, err)
	}
}

// If the recently opened cities cannot be read, `gcity cities` says so and lists the other cities.
func TestUnreadableRecentCitiesAreReported(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "recent"), nil, 0o600); err != nil { // not a folder
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "city.toml"), []byte("[workspace]\nname = \"dock\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	e := &env.Env{Printer: output.Printer{Getenv: func(name string) string { return map[string]string{"GC_HOME": home}[name] }}}
	at, err := env.Home(e)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := host.Register(t.Context(), at, dir); err != nil {
		t.Fatal(err)
	}
	code, out, errs := runCLI(t, &fakeCity{env: map[string]string{"GC_HOME": home}}, "cities")
	if code != 0 || !strings.Contains(out, "dock") || !strings.Contains(errs, "recently opened cities are not listed: cannot read") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
}
