package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gcity/cli/env"
	"gcity/cli/host"
	"gcity/cli/output"
	"gcity/cli/service"
	"gcity/config"
	"gcity/trust"
)

func TestControllerRestarts(t *testing.T) {
	for want, got := range map[string]string{
		"`kill -USR1 7`, then `gcity daemon start`,":     renewal(7, "headless", ""),
		"`kill -USR1 7`, then `gcity`,":                  renewal(7, "console", ""),
		"`kill -USR1 7`, then `gcity supervisor start`,": renewal(7, "supervised", ""),
		"`systemctl --user restart gcity-supervisor.service`": renewal(7, "supervised",
			"systemctl --user restart gcity-supervisor.service"),
		"different versions work together; x replaces the controller and ": judgeVersions("/new", "/old", "x",
			nil).Fix,
		"different versions work together; an agent keeps its holder until it is stopped. Run `gcity age": judgeVersions("/new", "/new", "",
			map[string][]string{"/old": {"a"}}).Fix,
	} {
		if !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if f := judgeVersions("/new", "/new", "", map[string][]string{"/old": {"a"}}); strings.Contains(f.Fix,
		"controller") {
		t.Errorf("controller with the same program: got %s", f.Fix)
	}
}

// Before a controller is replaced, the city must be one that another controller can start.
func TestBeforeRenewal(t *testing.T) {
	dir := t.TempDir()
	c := &config.City{Path: dir}
	ledger := trust.Ledger{}
	refused := ledger.Check(dir, func() ([]trust.Program, error) {
		return []trust.Program{{What: "agent a", Line: "true"}}, nil
	})
	for want, p := range map[string]*Subject{
		"":                                  {dir: dir, config: c, grant: trust.Running(nil)},
		"first correct the configuration; ": {dir: dir, invalid: errors.New("bad")},
		"first run `gcity trust ":           {dir: dir, config: c, grant: refused},
	} {
		if got := p.beforeRenewal(); !strings.HasPrefix(got, want) || (want == "") != (got == "") {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// The supervisor's unit is checked like a city's unit.
// A failed service is reported even if the configuration is invalid.
func TestDoctorOfServices(t *testing.T) {
	bin, home := t.TempDir(), t.TempDir()
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	t.Setenv("GC_HOME", home)
	a := &env.Env{Printer: output.Printer{Getenv: os.Getenv}, Dir: t.TempDir()}
	p := &Subject{dir: a.Dir}
	m := &service.Manager{Folder: t.TempDir(), Environ: os.Environ()}
	states := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(bin, "systemctl"),
			[]byte("#!/bin/sh\necho ActiveState="+text+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	k := service.SupervisorService(func() (string, error) {
		return env.HomeDir(a)
	}, host.SupervisorOf)
	s, err := k.Found(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := service.CompleteService(a, s, service.ServiceFlags{}); err != nil {
		t.Fatal(err)
	}
	text, err := s.UnitText()
	if err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(m.Folder, "default.target.wants", s.UnitName())
	if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("/dev/null", link); err != nil {
		t.Fatal(err)
	}
	judge := func(v served, text, state, says, fix string) {
		t.Helper()
		f := judgeUnits(t.Context(), a, v, []*service.UnitFile{
			{Manager: m, Path: filepath.Join(m.Folder, s.UnitName()), Text: text}})[0]
		if f.State != state || !strings.Contains(f.Detail, says) || !strings.Contains(f.Fix, fix) ||
			f.Check != "service gcity-supervisor" {
			t.Errorf("got %+v, want %s: %s -> %s", f, state, says, fix)
		}
	}
	many := p.supervisorService(a, home)
	states("active")
	judge(many, text, "ok", "up to date, active", "")
	judge(many, strings.Replace(text, "ExecStart=", "ExecStart=/nowhere", 1), "bad", "does not exist",
		"`gcity supervisor install`")
	judge(many, strings.Replace(text, "TimeoutStopSec=930", "TimeoutStopSec=5", 1), "note",
		`TimeoutStopSec should be "930"`, "restart gcity-supervisor.service")
	judge(many, strings.Replace(text, "ExecStart="+s.Exe, "ExecStart=/bin/sh", 1), "ok",
		"the service runs /bin/sh, and this program is "+s.Exe, "")
	judge(p.cityService(a), text, "note", "not compared: the configuration is invalid", "")
	states("failed")
	judge(many, text, "bad", "the service has failed", "status gcity-supervisor.service")
	judge(p.cityService(a), text, "bad", "the service has failed, and the configuration is invalid",
		"fix that problem, then run `systemctl --user start")
	states("inactive")
	judge(many, text, "ok", "up to date, inactive", "")
	many.runs = true
	judge(many, text, "note", "the supervisor of your cities is running, but its service did not start it",
		"systemctl --user start gcity-supervisor.service")
}

func TestProgramIn(t *testing.T) {
	for _, exe := range []string{"/bin/gcity", awkward + "/gcity", `/a "b" \c/g`, "/a b --c/$d"} {
		for _, args := range [][]string{{"supervisor", "run"}, {"--headless", "--city", awkward}} {
			line, err := service.UnitWords(append([]string{exe}, args...))
			if err != nil {
				t.Fatal(err)
			}
			if got := programIn("[Service]\nExecStart=" + line + "\n"); got != exe {
				t.Errorf("%q of %s, want %q", got, line, exe)
			}
		}
	}
}
