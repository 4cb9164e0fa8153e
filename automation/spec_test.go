package automation

import (
	"flag"
	"os"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestProblems(t *testing.T) {
	const path = "testdata/problems.txt"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	head, cases, _ := strings.Cut(string(data), "=== ")
	out := head
	for story := range strings.SplitSeq(cases, "=== ") {
		name, rest, _ := strings.Cut(story, "\n")
		text, want, _ := strings.Cut(rest, "---\n")
		got := said(text)
		if !*update && got != want {
			t.Errorf("%s\n got:\n%s\nwant:\n%s", name, got, want)
		}
		out += "=== " + name + "\n" + text + "---\n" + got
	}
	if *update {
		if err := os.WriteFile(path, []byte(out), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func said(text string) string {
	d, err := Parse("x/automation.toml", []byte(text), time.UTC)
	if err != nil {
		return err.Error() + "\n"
	}
	out := "ok\n"
	for _, w := range d.Warnings {
		out += "warning: " + w.String() + "\n"
	}
	return out
}

func parse(t testing.TB, name, text string) Definition {
	t.Helper()
	d, err := Parse("/city/automations/"+name+"/automation.toml", []byte("[automation]\n"+text),
		time.UTC)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestFilesThatAreNotWritten(t *testing.T) {
	exec := parse(t, "x", `exec = "x"
gate = "condition"
check = "true"`)
	if exec.Timeout != 60*time.Second || exec.CheckTimeout != 10*time.Second ||
		exec.RetryBackoff != 10*time.Second || exec.Retry != 0 ||
		exec.Overlap != Skip || exec.Off != "" || exec.Zone != time.UTC || exec.Name != "x" ||
		exec.Dir() != "/city/automations/x" {
		t.Errorf("%+v", exec)
	}
	if cooked := parse(t, "x", "formula = 'f'\ngate = 'manual'"); cooked.Timeout != 30*time.Second {
		t.Errorf("default timeout of a formula: got %v, want 30s", cooked.Timeout)
	}
}

func TestNames(t *testing.T) {
	for _, c := range []struct{ rig, pool, scoped, target string }{
		{"", "", "x", ""}, {"", "worker", "x", "worker"}, {"demo", "", "x:rig:demo", ""},
		{"demo", "worker", "x:rig:demo", "demo/worker"},
		{"demo", "other/worker", "x:rig:demo", "other/worker"},
	} {
		d := Definition{Name: "x", Rig: c.rig, Pool: c.pool}
		if d.Scoped() != c.scoped || d.Target() != c.target {
			t.Errorf("%+v: %s %s", c, d.Scoped(), d.Target())
		}
	}
}

func TestWhen(t *testing.T) {
	for text, want := range map[string]string{
		"gate = 'cooldown'\ninterval = '90m'": "cooldown 1h30m",
		"gate = 'cron'\nschedule = '@daily'":  "cron @daily", "gate = 'manual'": "manual",
		"gate = 'condition'\ncheck = 'test -f x'": "condition test -f x",
		"gate = 'event'\non = 'bead.*'":           "event bead.*",
	} {
		if got := parse(t, "x", "exec = 'x'\n"+text).When(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A relative script is looked up in the folder where the action runs, next to the automation, and at the root of its
// topology.
func TestCommand(t *testing.T) {
	there := map[string]bool{"/run/own.sh": true, "/run/bin/here": true, "/a/it's/bin/near": true,
		"/a/it's/bare": true, "/topo/scripts/far": true, "/run/bin/near": false}
	for exec, want := range map[string]string{
		"bin/here -v":         "bin/here -v",
		"bin/near -v":         `'/a/it'\''s/bin/near' -v`,
		"./bin/near":          `'/a/it'\''s/bin/near'`,
		"  scripts/far; true": `'/topo/scripts/far'; true`,
		"bin/none":            "bin/none",
		"bare && x":           `'/a/it'\''s/bare' && x`,
		"own.sh":              "own.sh", // sh searches for it in PATH
		"/bin/near":           "/bin/near",
		"X=1 bin/near":        "X=1 bin/near",
		"'bin/near' x":        "'bin/near' x",
		"":                    "",
	} {
		d := Definition{Exec: exec, Source: "/a/it's/automation.toml"}
		d.Layer.Root = "/topo"
		if got := d.Command("/run", func(p string) bool { return there[p] }); got != want {
			t.Errorf("%q: got %q, want %q", exec, got, want)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		on, kind string
		want     bool
	}{
		{"bead.closed", "bead.closed", true}, {"bead.closed", "bead.closed2", false},
		{"bead.*", "bead.closed", true},
		{"bead.*", "beads", false}, {"*", "anything", true}, {"", "", false},
	} {
		if got := (Definition{On: c.on}).matches(c.kind); got != c.want {
			t.Errorf("%q %q: %v", c.on, c.kind, got)
		}
	}
}

// No input causes a panic. A valid automation has exactly one action and all keys that its gate needs.
func FuzzParse(f *testing.F) {
	data, err := os.ReadFile("testdata/problems.txt")
	if err != nil {
		f.Fatal(err)
	}
	for story := range strings.SplitSeq(string(data), "=== ") {
		_, text, _ := strings.Cut(story, "\n")
		text, _, _ = strings.Cut(text, "---\n")
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := Parse("/x/automation.toml", data, time.UTC)
		if err != nil {
			if strings.TrimSpace(err.Error()) == "" ||
				strings.ContainsAny(err.Error(), "\x1b\x00") {
				t.Fatalf("%q", err)
			}
			return
		}
		gate := map[Gate]bool{Cooldown: d.Interval > 0, Cron: d.Schedule.String() != "" &&
			d.Zone != nil, Condition: strings.TrimSpace(d.Check) != "" && d.CheckTimeout > 0,
			Event: d.On != "", Manual: true}
		if (d.Formula == "") == (d.Exec == "") || d.Exec != "" && d.Pool != "" || !gate[d.Gate] ||
			d.Timeout <= 0 || d.Retry < 0 || d.RetryBackoff < 0 || d.Hash == "" {
			t.Fatalf("%+v", d)
		}
	})
}
