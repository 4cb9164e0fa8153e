package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/cli/service"
	"gcity/config"
	"gcity/session"
)

func TestJudgeMachine(t *testing.T) {
	now := time.Date(2026, 11, 22, 3, 0, 0, 0, time.UTC)
	sessions := []session.Status{{ID: "lives", Alive: true}, {ID: "dead"}}
	line := func(pid int) string { return map[int]string{7: "sleep 9", 8: "vi", 9: ""}[pid] }
	for _, c := range []struct {
		f           finding
		state, says string
	}{
		{judgeClock(now, time.Time{}), "ok", ""},
		{judgeClock(now, now.Add(30*time.Second)), "ok", ""},
		{judgeClock(now, now.Add(time.Hour)), "note", "2026-11-22 04:00:00, 1h ahead"},
		{judgeClock(time.Unix(0, 0), time.Time{}), "bad", "1970"},
		{judgeQuarantine([]city.Agent{{Name: "a", State: city.Running}}), "ok", ""},
		{judgeQuarantine([]city.Agent{{Name: "a", State: city.Running},
			{Name: "b", State: city.Quarantined, Reason: "6 crashes\x1b[2J"}}), "note",
			"1 agent in quarantine:\nb: 6 crashes"},
		{judgeStarts([]city.Agent{{State: city.Running}, {State: city.Starting}}), "ok", ""},
		{judgeStarts([]city.Agent{{Name: "a", State: city.Failed, Reason: "no image"}}), "bad", "a: no image"},
		{judgeStarts([]city.Agent{{Name: "a", State: city.Starting, Reason: "waits for its pod",
			Decisions: []city.Decision{{What: city.CannotStart, Why: "no image"}}}}), "bad", "a: no image"},
		{judgeStarts([]city.Agent{{Name: "a", State: city.Unknown, Reason: "its holder does not respond"}}), "bad",
			"a: its holder does not respond"},
		{withStarts(bad("the others are not affected", "a: no program"), judgeStarts([]city.Agent{
			{Name: "a", State: city.Failed, Reason: "failed"}, {Name: "b", State: city.Failed, Reason: "no space"}})),
			"bad", "a: no program\nb: no space"},
		{judgeVersions("/bin/gcity", "/bin/gcity", "", nil), "ok", ""},
		{judgeVersions("/bin/gcity", "", "", nil), "ok", ""},
		{judgeVersions("/bin/gcity", "/bin/gcity (deleted)", "`x`", map[string][]string{"/old": {"a", "b"}}),
			"note", "the controller runs the program /bin/gcity (deleted), and this program is /bin/gcity\n2 agents " +
				"held by the program /old: a, b"},
		{judgeStrays(map[int]string{7: "dead", 8: "lives", 9: "dead"}, sessions, line), "note",
			"left over from sessions that have ended:\n7: sleep 9"},
		{judgeStrays(map[int]string{8: "lives", 9: "dead"}, sessions, line), "ok", ""},
		{judgeElsewhere(nil, nil), "ok", "none"},
		{judgeElsewhere([]string{"/b", "/b"}, nil), "note", "sessions were deleted:\n/b"},
		{judgeElsewhere([]string{"/b"}, []string{"/c", "/c"}), "note", "sessions were moved to:\n/c"},
		{judgeLogout("ann", false, true, logind{}), "ok", ""},
		{judgeLogout("ann", false, false, logind{}), "note", "your services stop"},
		{judgeLogout("ann", false, true, logind{kill: true, from: "/x"}), "note",
			"KillUserProcesses=yes (/x): systemd kills the processes started in a terminal"},
		{judgeLogout("ann", false, true, logind{kill: true, exclude: []string{"ann"}}), "ok", ""},
		{judgeLogout("ann", false, false, logind{kill: true, from: "/x"}), "note",
			"systemd kills your agents"},
		{judgeLogout("ann", false, true, logind{kill: true, only: []string{"bob"}}), "ok", ""},
		{judgeLogout("root", true, false, logind{kill: true, exclude: []string{"root"}}), "ok",
			"you are root"},
		{judgeTasks(1<<62, "max", 1000), "ok", ""},
		{judgeTasks(1<<62, "", 1), "ok", ""},
		{judgeTasks(100, "max", 1), "note", "this user can run 100 processes, but 1 agent might need 296"},
		{judgeTasks(1<<62, "300", 2), "note", "this shell's control group can have 300 processes"},
		{checkGit(t.Context(), &Subject{config: &config.City{}}), "ok", "not needed"},
	} {
		if c.f.State != c.state || !strings.Contains(c.f.Detail, c.says) ||
			strings.Contains(c.f.Detail, "\x1b") || (c.state != "ok" && c.f.Fix == "") {
			t.Errorf("got %+v, want %s: %s", c.f, c.state, c.says)
		}
	}
}

// The advice names the limit that a service really has, and a drop-in if that is not enough.
func TestTasksAdvice(t *testing.T) {
	const install = "run the city as a service; `gcity daemon install` sets TasksMax=32768"
	for agents, want := range map[int]string{10: install, 1000: install + ", so set TasksMax=80512 in a drop-in for the service"} {
		if f := judgeTasks(1<<62, "300", agents); f.Fix != want {
			t.Errorf("%d agents: %s", agents, f.Fix)
		}
	}
}

func TestLogindSettings(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(kill bool, from string) {
		t.Helper()
		if l := logindSettings(root); l.kill != kill || !strings.HasSuffix(l.from, from) {
			t.Errorf("got %+v, want %v from %s", l, kill, from)
		}
	}
	expect(false, "")
	write("usr/lib/systemd/logind.conf", "[Login]\nKillUserProcesses=yes\n")
	expect(true, "usr/lib/systemd/logind.conf")
	write("etc/systemd/logind.conf", "[Login]\n#KillUserProcesses=yes\n[Other]\n"+
		"KillUserProcesses=yes\n")
	expect(false, "")
	write("usr/lib/systemd/logind.conf.d/50-a.conf", "[Login]\nKillUserProcesses = yes\n"+
		"KillExcludeUsers=root ann\n")
	expect(true, "usr/lib/systemd/logind.conf.d/50-a.conf")
	write("run/systemd/logind.conf.d/50-a.conf", "[Login]\n")
	expect(false, "")
	write("etc/systemd/logind.conf.d/60-b.conf", "[Login]\nKillUserProcesses=on\n")
	write("etc/systemd/logind.conf.d/10-c.conf", "[Login]\nKillUserProcesses=no\n")
	expect(true, "60-b.conf")
}

// Doctor reports a unit that install would write differently, and programs that the service does not find.
func TestDoctorChecksTheUnit(t *testing.T) {
	dir, bin := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"city.toml": "[workspace]\nname = \"x\"\n" +
		"[[agents]]\nname = \"a\"\nstart_command = \"helper --now\"\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(bin, "helper"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	conf, err := folder.LoadCity(dir)
	if err != nil {
		t.Fatal(err)
	}
	a := &env.Env{Printer: output.Printer{Getenv: os.Getenv}, Dir: dir}
	m := &service.Manager{Folder: filepath.Join(t.TempDir(), "systemd", "user")}
	s, err := service.CityService(a).Found(t.Context())
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
	judge := func(text string, enabled bool, state, says string) {
		t.Helper()
		path := filepath.Join(m.Folder, s.UnitName())
		links := filepath.Join(m.Folder, "default.target.wants")
		if err := os.MkdirAll(links, 0o700); err != nil {
			t.Fatal(err)
		}
		link := filepath.Join(links, s.UnitName())
		if err := folder.IgnoreNotExist(os.Remove(link)); err != nil {
			t.Fatal(err)
		}
		if enabled {
			if err := os.Symlink(path, link); err != nil {
				t.Fatal(err)
			}
		}
		f := judgeUnit(t.Context(), a, (&Subject{dir: dir, config: conf}).cityService(a),
			&service.UnitFile{Manager: m, Path: path, Text: text})
		if f.State != state || !strings.Contains(f.Detail, says) || (state != "ok" && f.Fix == "") {
			t.Errorf("got %+v, want %s: %s", f, state, says)
		}
	}
	judge(text, true, "ok", "up to date")
	judge(text, false, "note", "the service is not enabled")
	judge(strings.Replace(text, "TimeoutStopSec=90", "TimeoutStopSec=5", 1), true, "note",
		`TimeoutStopSec should be "90"`)
	judge(strings.Replace(text, "[Install]", "MemoryMax=1G\n[Install]", 1), true, "note",
		"MemoryMax should not exist")
	judge(strings.Replace(text, "ExecStart=", "ExecStart=/nowhere", 1), true, "bad", "does not exist")
	judge(strings.ReplaceAll(text, bin+":", ""), true, "bad",
		"does not find the same programs as this shell:\na: the agent's program \"helper\" is not on the agent's PATH")
}

// Doctor warns if the unit of a controller kills the agents too.
func TestDoctorWarnsAboutForeignUnits(t *testing.T) {
	for group, want := range map[string]string{
		"0::/system.slice/city.service\n":                                     "city.service system",
		"0::/user.slice/user-1.slice/user@1.service/app.slice/mine.service\n": "mine.service",
		"0::/user.slice/user-1.slice/session-2.scope\n":                       "", "0::/\n": "",
		"": "", "0::/user.slice/user-1.slice/user@1.service\n": "",
	} {
		unit, system := service.UnitOf(group)
		if got := strings.TrimSpace(unit + map[bool]string{true: " system"}[system]); got != want {
			t.Errorf("%q: got %q, want %q", group, got, want)
		}
	}
	bin := t.TempDir()
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	for says, state := range map[string]string{"echo KillMode=process": "ok",
		"echo KillMode=control-group; echo MainPID=77": "bad",
		"echo MainPID=7; echo KillMode=control-group":  "note", "echo no bus >&2; exit 1": "note"} {
		if err := os.WriteFile(filepath.Join(bin, "systemctl"), []byte("#!/bin/sh\n"+says+"\n"),
			0o700); err != nil {
			t.Fatal(err)
		}
		if f := judgeForeign(t.Context(), &service.Manager{Environ: os.Environ()}, "city.service",
			77); f.State != state || f.Check != "service city" {
			t.Errorf("%s: %+v", says, f)
		}
	}
}
