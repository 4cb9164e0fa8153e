package service

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	sdunit "github.com/coreos/go-systemd/v22/unit"
	"github.com/google/go-cmp/cmp"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/output"
)

const awkward = `/srv/my %h "city" $HOME\x--é;&<'`

var update = flag.Bool("update", false, "rewrite the packaged units")

func services() []*unit {
	env := []string{"PATH=/opt/a b/bin:/usr/bin", "GC_HOME=" + awkward, "LANG=C.UTF-8"}
	return []*unit{
		{kind: "city", group: "daemon", Name: "town", at: "/srv/town", about: "the city town (/srv/town)", Exe: "/bin/sh", args: []string{"--headless", "--city", "/srv/town"}},
		{kind: "city", group: "daemon", Name: "odd", at: awkward, about: "the city odd (" + awkward + ")", Exe: "/bin/sh", args: []string{"--headless", "--city", awkward, "--file", "$x"}, env: env, limit: 400 * time.Second},
		{kind: "supervisor", group: "supervisor", Name: "supervisor", at: "/root/.gc", about: "the cities of /root/.gc", Exe: "/bin/sh", args: []string{"supervisor", "run"}, limit: supervisorStop},
		{kind: "city", group: "daemon", Name: "town", at: "/srv/town", about: "x", Exe: "/bin/sh", args: []string{"--headless"}, System: true, User: "root", env: env},
	}
}

func TestUnitsAreVerified(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	for _, s := range services() {
		text, err := s.UnitText()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), s.UnitName())
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		scope := "--user"
		if s.System {
			scope = "--system"
		}
		cmd := exec.Command(analyze, scope, "--man=no", "verify", file)
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir(), "LC_ALL=C")
		if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), s.UnitName()) {
			t.Errorf("%v: %s\n%s", err, out, text)
		}
	}
}

// A unit keeps the agents running during a restart, gives a stop enough time, and quotes the command line correctly.
func TestUnitText(t *testing.T) {
	odd := services()[1]
	text, err := odd.UnitText()
	if err != nil {
		t.Fatal(err)
	}
	options, err := sdunit.DeserializeOptions(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	has := func(section, name, value string) {
		t.Helper()
		if !slices.ContainsFunc(options, func(o *sdunit.UnitOption) bool { return o.Section == section && o.Name == name && o.Value == value }) {
			t.Errorf("want %s=%s in [%s]:\n%s", name, value, section, text)
		}
	}
	path := `"` + `/srv/my %%h \"city\" $HOME\\x--é;&<'` + `"`
	has("Service", "ExecStart", ":/bin/sh --headless --city "+path+` --file "$x"`)
	has("Service", "Type", "notify")
	has("Service", "KillMode", "process")
	has("Service", "RestartKillSignal", "SIGUSR1")
	has("Service", "TimeoutStopSec", "430")
	has("Service", "RestartPreventExitStatus", "4 5 78")
	has("Service", "Environment", `"GC_HOME=`+path[1:])
	has("Install", "WantedBy", "default.target")
	if markIn(text) != markOf("city", awkward) || markIn(text) == markOf("city", "/srv/my") || markIn("[Unit]\n"+text) != "" {
		t.Errorf("mark of the unit: got %q", markIn(text))
	}
	for _, word := range []string{"a\nb", "a\x00b", "a\x1bb", "a\xffb"} {
		for _, s := range []*unit{{Exe: "/bin/sh", args: []string{word}}, {Exe: "/bin/sh", env: []string{"PATH=" + word}}} {
			if _, err := s.UnitText(); err == nil || !strings.Contains(err.Error(), "cannot be written to a unit") {
				t.Errorf("%q: %v", word, err)
			}
			if _, err := s.plistText(); err == nil {
				t.Errorf("%q was accepted in a property list", word)
			}
		}
	}
}

func TestPlist(t *testing.T) {
	for _, s := range services() {
		text, err := s.plistText()
		if err != nil {
			t.Fatal(err)
		}
		var values []string
		d := xml.NewDecoder(strings.NewReader(text))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%v in\n%s", err, text)
			}
			if data, ok := token.(xml.CharData); ok && strings.TrimSpace(string(data)) != "" {
				values = append(values, string(data))
			}
		}
		for _, want := range append(s.command(), "gcity."+s.Name) {
			if !slices.Contains(values, want) {
				t.Errorf("want %q in %q", want, values)
			}
		}
		if !strings.Contains(text, "<key>AbandonProcessGroup</key>\n\t<true/>") {
			t.Errorf("agents would exit together with their controller:\n%s", text)
		}
	}
}

// A service gets the PATH of the user who installs it, without folders of a single session. It gets no secrets.
func TestServiceEnviron(t *testing.T) {
	environ := []string{"PATH=/town/.gc/bin:/home/ann/.local/bin:.::/usr/bin:/home/ann/.local/bin", "LC_TIME=de_DE", "LANG=C", "API_KEY=secret",
		"GC_HOME=/home/ann/gc", "TZ=", "GC_SESSION=fake", "XDG_CONFIG_HOME=/home/ann/conf"}
	want := []string{"PATH=/home/ann/.local/bin:/usr/bin", "LC_TIME=de_DE", "LANG=C", "GC_HOME=/home/ann/gc", "XDG_CONFIG_HOME=/home/ann/conf"}
	if got := serviceEnviron(environ, true, ""); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	want = []string{"PATH=/home/bob/.local/bin:/home/bob/bin:/home/ann/.local/bin:/usr/bin", "LC_TIME=de_DE", "LANG=C"}
	if got := serviceEnviron(environ, false, "/home/bob"); !slices.Equal(got, want) {
		t.Errorf("for another user: got %q, want %q", got, want)
	}
}

// Two cities with the same name have separate units. A unit that gcity did not write is not overwritten.
func TestUnitsOfCitiesWithOneName(t *testing.T) {
	m := &Manager{Folder: filepath.Join(t.TempDir(), "units")}
	make := func(at string) *unit {
		return &unit{kind: "city", group: "daemon", Name: "town", at: at, about: at, Exe: "/bin/sh"}
	}
	one, err := writeUnit(make("/a"), m, false)
	if err != nil {
		t.Fatal(err)
	}
	two, err := writeUnit(make("/b"), m, false)
	if err != nil {
		t.Fatal(err)
	}
	again, err := writeUnit(make("/b"), m, false)
	if err != nil {
		t.Fatal(err)
	}
	if one.Unit != "gcity-town.service" || two.Unit == one.Unit || !strings.HasPrefix(two.Unit, "gcity-town-") || again.File != two.File || again.Written || !two.Written {
		t.Errorf("%+v\n%+v\n%+v", one, two, again)
	}
	u, err := m.own(markOf("city", "/a"))
	if err != nil || u == nil || u.Path != one.File {
		t.Fatalf("%+v, %v", u, err)
	}
	if err := os.WriteFile(one.File, []byte("[Unit]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, why := exit.Verdict(errOf(writeUnit(make("/a"), m, false))); code != exit.CodeConflict || !strings.Contains(why, "--force") {
		t.Errorf("exit %d, %s", code, why)
	}
	if _, err := writeUnit(make("/a"), m, true); err != nil {
		t.Error(err)
	}
}

func errOf[T any](_ T, err error) error { return err }

type fall struct{ error }

func (fall) Stack() []byte { return nil }

// A service exits with 2 after any panic, whether recovered or not.
func TestCrashIsNotAFailure(t *testing.T) {
	if code, why := exit.Verdict(errors.Join(errors.New("the loop"), fall{errors.New("broke")})); code != 2 || !strings.Contains(why, "broke") {
		t.Errorf("exit %d, %s", code, why)
	}
}

func TestSupervisorUnit(t *testing.T) {
	var out strings.Builder
	a := &env.Env{Printer: output.Printer{Out: &out, Err: io.Discard, Getenv: os.Getenv}}
	root := env.Group("supervisor", "", ServiceCommands(a, SupervisorService(func() (string, error) { return "/srv/gc", nil }, nil))...)
	root.SetArgs([]string{"install", "--print"})
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{`# gcity-unit: supervisor "/srv/gc"`, "TimeoutStopSec=930"} {
		if !strings.Contains(out.String(), line+"\n") {
			t.Errorf("want %s in:\n%s", line, out.String())
		}
	}
	if !strings.Contains(out.String(), " supervisor run\n") {
		t.Error(out.String())
	}
}

// The packaged units are the ones that install writes, except for values that only install knows.
func TestPackagedUnitsAreTheSame(t *testing.T) {
	for file, u := range map[string]*unit{
		"gcity@.service": {kind: "city", group: "daemon", about: "%f", args: []string{"--headless", "--city", "%f"}, limit: 10 * time.Minute},
		"gcity-supervisor.service": {kind: "supervisor", group: "supervisor", about: "the cities of this user", args: []string{"supervisor", "run"},
			limit: supervisorStop},
	} {
		u.Exe = "/usr/bin/gcity"
		text, err := u.UnitText()
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ = strings.Cut(text, "[Unit]\n")
		text = "# `gcity " + u.group + " install` writes a unit with your PATH and a suitable stop timeout.\n[Unit]\n" + strings.ReplaceAll(text, "%%f", "%f")
		file = filepath.Join("..", "..", "packaging", file)
		if *update {
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), text); diff != "" {
			t.Errorf("%s (-want +got; -update to accept):\n%s", file, diff)
		}
	}
}

// The hint for stopping a controller never signals a process that runs several cities.
func TestHowToStop(t *testing.T) {
	for mode, want := range map[string]string{"headless": "kill -USR1 7", "console": "kill -USR1 7", "supervised": "gcity stop", "": "gcity stop"} {
		if how, keeps := howToStop(&city.Snapshot{Mode: mode, PID: 7}); how != want || strings.Contains(keeps, "leaves") != (how != "gcity stop") {
			t.Errorf("%s: %s %s", mode, how, keeps)
		}
	}
}

// The unit restarts a service after a crash, but not after a stop or a lasting error.
func TestUnitRestartsCrashes(t *testing.T) {
	text, err := services()[0].UnitText()
	if err != nil {
		t.Fatal(err)
	}
	set := map[string]string{}
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && !strings.HasPrefix(key, "#") {
			set[key] = value
		}
	}
	prevented := strings.Fields(set["RestartPreventExitStatus"])
	want := []string{strconv.Itoa(exit.CodeConflict), strconv.Itoa(exit.CodeStopFailed), strconv.Itoa(exit.CodeConfig)}
	if set["Restart"] != "on-failure" || !slices.Equal(prevented, want) {
		t.Errorf("Restart=%s except for %q, want on-failure except for %q", set["Restart"], prevented, want)
	}
	if set["RestartSec"] != "5" || set["StartLimitIntervalSec"] != "0" {
		t.Errorf("got a restart after %s s with StartLimitIntervalSec=%s",
			set["RestartSec"], set["StartLimitIntervalSec"])
	}
}
