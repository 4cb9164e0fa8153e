package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gcity/city"
	"gcity/city/citytest"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/fleet"
	"gcity/cli/output"
)

func machine(d city.Directory, out, errs *bytes.Buffer) *env.Env {
	return &env.Env{
		Printer: output.Printer{
			Out:    out,
			Err:    errs,
			Now:    time.Now,
			Getenv: func(string) string { return "" },
		},
		Version: "test",
		Cities:  func() (city.Directory, func(), error) { return d, func() {}, nil },
	}
}

func town(name string, state city.State) *citytest.Fake {
	f := citytest.NewFake(name, city.Agent{Name: "one", Running: true}, city.Agent{Name: "two", Running: true})
	f.Set(func(s *city.Snapshot) { s.Agents[1].State, s.Agents[1].Running = state, state == city.Running })
	return f
}

// Without a terminal, --all prints all cities as a table. A city that hangs does not hide the others.
func TestAllCitiesAsATable(t *testing.T) {
	t.Parallel()
	d := citytest.NewDirectory(town("alpha", city.Running), town("beta", city.Quarantined), town("gamma", city.Running), town("quarry", city.Running))
	d.Hang("gamma", true)
	d.SetCondition("quarry", city.CityRefused, "/quarry/city.toml does not exist; `gcity unregister quarry` removes it from the list")
	var out, errs bytes.Buffer
	m, home := machine(d, &out, &errs), t.TempDir()
	m.Getenv = func(name string) string { return map[string]string{"GC_HOME": home}[name] }
	if code := run(t.Context(), m, []string{"--all"}); code != 0 || errs.Len() > 0 {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	for _, want := range []string{"CITY", "2/2", "1/2", "1 quarantined", "no response within 2s", "refused", "does not exist"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in:\n%s", want, out.String())
		}
	}
	out.Reset()
	if code := run(t.Context(), machine(d, &out, &errs), []string{"--all", "--json"}); code != 0 || !strings.Contains(out.String(), `"total": 4`) {
		t.Errorf("exit %d: %s", code, out.String())
	}
	out.Reset()
	if code := run(t.Context(), machine(citytest.NewDirectory(), &out, &errs), []string{"--all"}); code != 0 || !strings.Contains(out.String(), "no city is registered") {
		t.Errorf("exit %d: %s", code, out.String())
	}
}

// --all also shows recently opened cities that the supervisor does not run.
func TestAllCitiesHaveTheRecentOnes(t *testing.T) {
	var out, errs bytes.Buffer
	m := machine(citytest.NewDirectory(town("alpha", city.Running)), &out, &errs)
	home, dir := t.TempDir(), t.TempDir()
	m.Getenv = func(name string) string { return map[string]string{"GC_HOME": home}[name] }
	if err := os.WriteFile(filepath.Join(dir, "city.toml"), []byte("[workspace]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := rememberJoined(t.Context(), m, &env.Link{Control: town("marsh", city.Running), Dir: dir}); err != nil {
		t.Fatal(err)
	}
	if code := run(t.Context(), m, []string{"--all"}); code != 0 || !strings.Contains(out.String(), "alpha") ||
		!strings.Contains(out.String(), "marsh  stopped") {
		t.Errorf("exit %d: %s%s", code, out.String(), errs.String())
	}
}

func TestAllCitiesWithoutASupervisor(t *testing.T) {
	for _, a := range []func(a *env.Env){func(a *env.Env) {}, func(a *env.Env) { a.Cities = nil }} {
		var out, errs bytes.Buffer
		m := machine(nil, &out, &errs)
		a(m)
		if code := run(t.Context(), m, []string{"--all"}); code != exit.CodeNotRunning || out.Len() > 0 || !strings.Contains(errs.String(), "`gcity start`") {
			t.Errorf("exit %d, %q, %q", code, out.String(), errs.String())
		}
	}
}

func TestAllCitiesAlone(t *testing.T) {
	for _, args := range [][]string{{"--all", "--headless"}, {"--all", "--city", "/tmp"}} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), machine(citytest.NewDirectory(), &out, &errs), args); code != exit.CodeUsage {
			t.Errorf("%v: got exit %d, %s", args, code, errs.String())
		}
	}
}

func TestAllCitiesReadOnly(t *testing.T) {
	f := town("alpha", city.Running)
	m := machine(citytest.NewDirectory(f), &bytes.Buffer{}, &bytes.Buffer{})
	m.ReadOnly = true
	d, _, err := fleet.Directory(m)
	if err != nil {
		t.Fatal(err)
	}
	if _, changes := d.(city.Registrar); changes {
		t.Error("the list can be changed")
	}
	c, err := d.City("alpha")
	if err != nil {
		t.Fatal(err)
	}
	var refused *city.Error
	if _, err := c.Do(t.Context(), city.Suspend{}); !errors.As(err, &refused) || refused.Code != city.Forbidden || len(f.Commands()) > 0 {
		t.Errorf("%v, %v", err, f.Commands())
	}
	if _, err := d.City("nowhere"); !errors.As(err, &refused) || refused.Code != city.NotFound {
		t.Error(err)
	}
}

// A control room identifies its city by the resolved folder, even if it was opened through a symbolic link.
func TestRoomResolvesItsFolder(t *testing.T) {
	dir := t.TempDir()
	real := fleet.Resolved(dir)
	if err := os.Symlink(real, dir+"/link"); err != nil {
		t.Fatal(err)
	}
	if got := fleet.Resolved(dir + "/link"); got != real {
		t.Errorf("%s, want %s", got, real)
	}
}

type silentList struct{ *citytest.Directory }

func (silentList) Cities(ctx context.Context) ([]city.Info, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestAllCitiesOfAnUnresponsiveSupervisor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 10*fleet.ListTimeout)
		defer cancel()
		var out, errs bytes.Buffer
		err := fleet.PrintFleet(ctx, machine(citytest.NewDirectory(), &out, &errs), silentList{citytest.NewDirectory()})
		if ctx.Err() != nil || err == nil || !strings.Contains(err.Error(), "the supervisor did not respond") {
			t.Errorf("returned %v", err)
		}
	})
}
