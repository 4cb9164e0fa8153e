package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"gcity/api"
	"gcity/city"
	"gcity/cli/agents"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/events"
)

func groupedCity() *fakeCity {
	at := func(d time.Duration) *time.Time { t := noon.Add(d); return &t }
	two := 2
	s := demoCity()
	s.snapshot.Config.Held = &city.Held{
		Revision: "77aa00bb11cc", Since: noon.Add(-time.Minute), Running: 4, Removes: []string{"demo/worker-10", "demo/worker-2", "db"},
		Plan: []string{"removed db, pool demo/worker", "changed web"},
	}
	s.snapshot.Agents = []city.Agent{
		{
			Name: "db", State: city.Running, Since: noon.Add(-2 * time.Hour), PID: 41, Running: true, Available: true, Declaration: city.Declaration{IdleTimeout: 30 * time.Minute, Source: "city.toml:3:1"}, Reason: "declared at city.toml:3:1", Usage: &city.Usage{CPU: 3.25, RSS: 210 << 20, Procs: 4},
			Session: &city.Session{Name: "gc-bright-db", ID: "x", Started: noon.Add(-2 * time.Hour), LastActivity: at(-12 * time.Minute)},
			Next:    &city.Next{At: at(18 * time.Minute), What: "restarts unless it prints something"},
			Decisions: []city.Decision{
				{At: noon.Add(-26 * time.Hour), What: "start", Why: "declared"}, {At: noon.Add(-2 * time.Hour), What: "restart", Why: "by operator"},
			},
		},
		{
			Name: "demo/worker-10", Rig: "demo", Pool: "demo/worker", State: city.Draining, Since: noon.Add(-90 * time.Second), PID: 51, Running: true,
			Reason: "pool demo/worker wants 3", Until: at(210 * time.Second), Usage: &city.Usage{CPU: 99.96, RSS: 1 << 30, Procs: 1},
			Drain: &city.DrainInfo{Since: noon.Add(-90 * time.Second), Deadline: at(210 * time.Second), By: "pool"},
			Next:  &city.Next{At: at(210 * time.Second), What: "is killed if it has not reported done"},
		},
		{Name: "demo/worker-2", Rig: "demo", Pool: "demo/worker", State: city.Running, Since: noon.Add(-time.Hour), PID: 52, Running: true, Available: true},
		{
			Name: "web", State: city.Waiting, Since: noon.Add(-time.Minute), Reason: "waits for demo/worker", Declaration: city.Declaration{DependsOn: []string{"db", "demo/worker", "nobody"}},
			Next: &city.Next{What: "starts when its dependencies are running"},
		},
		{Name: "one", Pool: "one", State: city.Suspended, Reason: "in city.toml", Since: noon.Add(-time.Hour), Suspended: true},
	}
	s.snapshot.Pools = []city.Pool{
		{
			Name: "demo/worker", Description: "works through the queue", Rig: "demo", Min: 1, Max: 12, Size: 1, Desired: 3, Reason: "check returned 3", Since: noon.Add(-4 * time.Minute),
			Draining: []string{"demo/worker-10"}, Timeout: 5 * time.Minute, Source: "city.toml:9:1",
			Check:     city.Check{Command: "wc -l < queue", At: at(-12 * time.Second), Good: at(-12 * time.Second), Took: 40 * time.Millisecond, Value: 3},
			Decisions: []city.Decision{{At: noon.Add(-4 * time.Minute), What: "scale", Why: "4 → 3: check returned 3"}},
			Next:      &city.Next{At: at(18 * time.Second), What: "the check runs"},
		},
		{Name: "off", Reason: "off: max = 0", Since: noon, Source: "city.toml:30:1"},
		{
			Name: "one", Min: 0, Max: 1, Suspended: true, SuspendedReason: "in city.toml", Reason: "suspended in city.toml", Since: noon.Add(-time.Hour), Source: "city.toml:20:1",
			Check: city.Check{Command: "false", At: at(-5 * time.Second), Good: at(-5 * time.Minute), Value: 1, Problem: "it failed with exit 1", Output: "no such queue\n\x1b[2Jtry again\n", Running: at(-2 * time.Second)},
		},
		{Name: "set", Min: 1, Max: 2, Override: &two, Size: 2, Desired: 2, Reason: "set to 2 by operator", Since: noon, Source: "city.toml:40:1"},
	}
	s.snapshot.Rigs = []city.Rig{
		{Name: "demo", Path: "/src/demo", Prefix: "de", Agents: 2, Running: 2, Source: "city.toml:50:1", Work: &city.RigWork{Open: 7, InProgress: 2}},
		{Name: "lost", Path: "/src/lost", Prefix: "lo", Suspended: true, Problem: "its folder is missing", Source: "city.toml:54:1"},
	}
	s.log = []events.Event{
		{Seq: 4, TS: noon.Add(-30 * time.Hour), Type: events.AgentStarted, Actor: "controller", Subject: "db", Message: "pid 40"},
		{Seq: 5, TS: noon.Add(-4 * time.Minute), Type: events.PoolScaled, Actor: "controller", Subject: "demo/worker", Message: "4 → 3: check returned 3"},
	}
	return s
}

func TestGoldenGroups(t *testing.T) {
	time.Local = time.UTC
	for name, line := range map[string]string{
		"status-groups": "status", "pool-list": "pool list", "pool-show": "pool show worker", "why-pool": "why demo/worker", "why-draining": "why worker-10",
		"why-waiting": "why web", "why-idle": "why db", "why-one": "why one", "why-rig": "why demo", "rig-list": "rig list", "rig-status": "rig status",
		"help-pool": "pool scale --help", "help-rig": "rig --help",
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := runCLI(t, groupedCity(), strings.Fields(line)...)
			if code != 0 || errs != "" {
				t.Fatalf("exit %d: %s", code, errs)
			}
			if i := strings.IndexAny(out, "\x1b\x07"); i >= 0 {
				t.Fatalf("a control character reached the output: %q", out[i:])
			}
			golden(t, name+".golden", out)
		})
	}
}

// status names each pool whose check fails, except for suspended pools, whose checks do not run.
func TestStatusFailingPool(t *testing.T) {
	s := groupedCity()
	s.snapshot.Pools[0].Check.Problem = "the check failed with exit code 3"
	_, out, errs := runCLI(t, s, "status")
	if !strings.Contains(out, "\n! pool demo/worker: the check failed with exit code 3; `gcity why demo/worker` shows details\n") ||
		strings.Contains(out, "! pool one") {
		t.Errorf("%s%s", out, errs)
	}
}

func TestGroupsJSON(t *testing.T) {
	for _, line := range []string{
		"pool list", "pool show worker", "rig list", "rig status", "rig status demo", "why demo/worker", "why demo", "why web", "pool scale worker 3",
		"rig restart demo", "agent drain-check worker-10",
	} {
		code, out, errs := runCLI(t, groupedCity(), append(strings.Fields(line), "--json")...)
		if code != 0 || errs != "" || !json.Valid([]byte(out)) {
			t.Errorf("%s: got exit %d, stderr %q, stdout %q", line, code, errs, out)
		}
	}
	_, out, _ := runCLI(t, groupedCity(), "why", "web", "--json")
	var why struct {
		Name         string
		Kind         string
		Dependencies []agents.Need
	}
	if err := json.Unmarshal([]byte(out), &why); err != nil {
		t.Fatal(err)
	}
	want := []agents.Need{{Name: "db", State: "running", Up: true}, {Name: "demo/worker", State: "1/3 live", Up: true}, {Name: "nobody", State: "does not exist", Up: false}}
	if diff := difference(want, why.Dependencies); diff != "" || why.Kind != "agent" || why.Name != "web" {
		t.Errorf("%+v %s", why, diff)
	}
	_, out, _ = runCLI(t, groupedCity(), "agent", "list", "--json")
	var list struct {
		Items []struct {
			CPU, RSS *float64
			Usage    any
		}
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list.Items) != 5 || list.Items[0].CPU == nil || *list.Items[0].RSS != 210<<20 || list.Items[3].RSS != nil || list.Items[0].Usage != nil {
		t.Errorf("%v: %s", err, out)
	}
	_, out, _ = runCLI(t, groupedCity(), "status", "--json")
	var status api.Status
	if err := json.Unmarshal([]byte(out), &status); err != nil {
		t.Fatal(err)
	}
	if status.PoolCount != (api.PoolCounts{Total: 4, Suspended: 1, Overridden: 1}) || status.RigCount != (api.RigCounts{Total: 2, Suspended: 1}) || status.Rigs != 2 || status.Count.Draining != 1 ||
		status.RSS != 210<<20+1<<30 || status.Config.Held == nil {
		t.Errorf("%+v", status)
	}
}

func TestGroupVerbs(t *testing.T) {
	for line, want := range map[string]city.Command{
		"pool scale worker 3": city.Scale{Pool: "demo/worker", Size: 3}, "pool scale demo/worker auto": city.Scale{Pool: "demo/worker", Auto: true},
		"rig suspend demo": city.SuspendRig{Rig: "demo"}, "rig resume lost": city.ResumeRig{Rig: "lost"},
		"agent suspend worker": city.Suspend{Agent: "demo/worker"}, "agent resume off": city.Resume{Agent: "off"}, "agent stop worker": city.Stop{Agent: "demo/worker"},
		"agent drain worker-2": city.Drain{Agent: "demo/worker-2"}, "agent undrain worker-10": city.Undrain{Agent: "demo/worker-10"},
		"agent drain-ack worker-10": city.DrainAck{Agent: "demo/worker-10"}, "reload --confirm": city.Reload{Confirm: true},
	} {
		s := groupedCity()
		code, _, errs := runCLI(t, s, strings.Fields(line)...)
		if diff := difference([]city.Command{want}, s.done); code != 0 || diff != "" {
			t.Errorf("%s: got exit %d, %s%s", line, code, errs, diff)
		}
		if code, _, _ := runCLI(t, s, append(strings.Fields(line), "--read-only")...); code != exit.CodeFailed || len(s.done) != 1 {
			t.Errorf("%s --read-only: got exit %d, done %v", line, code, s.done)
		}
	}
}

func TestMisplacedNames(t *testing.T) {
	for line, want := range map[string]struct {
		code int
		says string
	}{
		"agent restart worker":                   {exit.CodeUsage, `"demo/worker" is a pool, but this command needs one agent; use one of its members: demo/worker-2, demo/worker-10; ` + "`gcity pool restart demo/worker` restarts all members"},
		"agent drain off":                        {exit.CodeUsage, "the pool currently has no members"},
		"agent drain worker":                     {exit.CodeUsage, "demo/worker-10; `gcity pool scale demo/worker N` drains surplus members"},
		"agent kill worker":                      {exit.CodeUsage, "use one of its members: demo/worker-2, demo/worker-10"},
		"pool drain worker":                      {exit.CodeUsage, "command \"pool drain\" not found; `gcity pool scale NAME N` drains surplus members"},
		"agent kill worker-7":                    {exit.CodeUsage, `agent "demo/worker-7" not found; its pool demo/worker wants 3 of at most 12`},
		"agent kill worker-13":                   {exit.CodeUsage, `agent "worker-13" not found`},
		"agent suspend wroker":                   {exit.CodeUsage, `agent or pool "wroker" not found; did you mean "worker"?`},
		"pool scale wrker 3":                     {exit.CodeUsage, `pool "wrker" not found; did you mean "worker"?`},
		"pool scale worker three":                {exit.CodeUsage, `use a number or "auto"`},
		"pool scale":                             {exit.CodeUsage, "NAME and N|auto are missing: gcity pool scale"},
		"pool scale worker":                      {exit.CodeUsage, "N|auto is missing: gcity pool scale"},
		"pool show":                              {exit.CodeUsage, "NAME is missing"},
		"pool shwo worker":                       {exit.CodeUsage, `did you mean "show"`},
		"rig suspend dmo":                        {exit.CodeUsage, `rig "dmo" not found; did you mean "demo"?`},
		"rig restart":                            {exit.CodeUsage, "is missing: gcity rig restart"},
		"why nothing":                            {exit.CodeUsage, `agent, pool, rig, automation or watchdog "nothing" not found`},
		"agent send-keys db Enterr":              {exit.CodeUsage, `unknown key "Enterr"; did you mean "Enter"? Add --literal`},
		"agent send-keys db Escape Upp":          {exit.CodeUsage, `did you mean "Up"?`},
		"agent send-keys db enter":               {exit.CodeUsage, `unknown key "enter"; did you mean "Enter"?`},
		"agent send-keys db Ctrl-C":              {exit.CodeUsage, `did you mean "C-c"?`},
		"agent send-keys db ctrl+x":              {exit.CodeUsage, `did you mean "C-x"?`},
		"agent send-keys db ^D":                  {exit.CodeUsage, `did you mean "C-d"?`},
		"agent send-keys db shift-tab":           {exit.CodeUsage, `did you mean "S-Tab"?`},
		"agent send-keys db C-":                  {exit.CodeUsage, `unknown key "C-"; use C-c for Ctrl+C`},
		"agent send-keys db C-Up":                {exit.CodeUsage, `unknown key "C-Up"; use C-c for Ctrl+C`},
		"agent send-keys db PgeDown --read-only": {exit.CodeUsage, `did you mean "PageDown"?`},
	} {
		code, out, errs := runCLI(t, groupedCity(), append(strings.Fields(line), "--json")...)
		if code != want.code || out != "" || !strings.Contains(errs, want.says) {
			t.Errorf("%s: got exit %d, %q, %q", line, code, out, errs)
		}
	}
	s := groupedCity()
	s.snapshot.Agents = append(s.snapshot.Agents, city.Agent{Name: "other/worker-2", State: city.Running})
	if code, _, errs := runCLI(t, s, "agent", "kill", "worker-2"); code != exit.CodeUsage || !strings.Contains(errs, "use one of demo/worker-2, other/worker-2") {
		t.Errorf("ambiguous name: got exit %d, %q", code, errs)
	}
}

// All numeric flags are checked in the same way. The error says which numbers are valid.
func TestNumbers(t *testing.T) {
	for line, says := range map[string]string{
		"agent peek db -n -1": "at least 1", "agent logs db -n 0": "at least 1", "agent logs db -n -4": "at least 1",
		"daemon logs -n -5": "at least 1", "supervisor logs -n 0": "at least 1", "events -n x": "at least 1",
		"events --after x": "at least 0", "bead list -n -1": "at least 0", "bead update b --title x --if-rev x": "at least 0",
		"automation history a -n x": "at least 0", "heartbeat --cycle x": "at least 0",
	} {
		code, out, errs := runCLI(t, groupedCity(), strings.Fields(line)...)
		if code != exit.CodeUsage || out != "" || !strings.Contains(errs, "flag: use a whole number of "+says) {
			t.Errorf("%s: got exit %d, %q, %q", line, code, out, errs)
		}
	}
}

func TestTextOnly(t *testing.T) {
	for _, line := range []string{"daemon logs", "supervisor logs", "help", "help states", "man", "completion bash"} {
		code, out, errs := runCLI(t, groupedCity(), append(strings.Fields(line), "--json")...)
		if code != exit.CodeUsage || out != "" || !strings.Contains(errs, "prints only text: remove --json") {
			t.Errorf("%s: got exit %d, %q, %q", line, code, out, errs)
		}
	}
}

// The help of a command says what its first argument defaults to. It does not offer --json if the command prints only
// text.
func TestHelpOfDefaults(t *testing.T) {
	for _, line := range []string{"agent release", "agent stop", "agent peek", "agent drain-check", "hook", "heartbeat"} {
		if _, out, _ := runCLI(t, groupedCity(), append(strings.Fields(line), "--help")...); !strings.Contains(out,
			"AGENT is optional inside a session (default: $GC_AGENT).") {
			t.Errorf("%s:\n%s", line, out)
		}
	}
	if _, out, _ := runCLI(t, groupedCity(), "daemon", "logs", "--help"); strings.Contains(out, "--json") {
		t.Error(out)
	}
}

// A JSON stream has one value per line, beginning with the stored output.
func TestLogsStream(t *testing.T) {
	_, out, errs := runCLI(t, groupedCity(), "agent", "logs", "db", "--follow", "--json")
	if strings.Count(out, "\n") != 1 || !strings.HasPrefix(out, `{"agent":"db",`) {
		t.Errorf("%q, %q", out, errs)
	}
}

// logs --follow prints each line once and whole, also what the agent prints between the read and the first frame.
func TestLogsFollow(t *testing.T) {
	frame := func(data string) city.Frame { return city.Frame{Cols: 80, Rows: 10, Data: []byte(data)} }
	reset := func(data string) city.Frame {
		f := frame(data)
		f.Reset = true
		return f
	}
	for name, c := range map[string]struct {
		output string
		frames []city.Frame
		want   string
	}{
		"a new line":                   {"one\ntwo", []city.Frame{reset("one\r\ntwo\r\nthree\r\n"), frame("four\r\n")}, "one\ntwo\nthree\nfour\n"},
		"an unfinished line":           {"one\nhalf", []city.Frame{reset("one\r\nhalf"), frame("-way\r\n")}, "one\nhalf-way\n"},
		"only an unfinished line":      {"half", []city.Frame{reset("half"), frame("-way\r\n")}, "half-way\n"},
		"a line that stays unfinished": {"one\nhalf", []city.Frame{reset("one\r\nhalf"), frame("-way")}, "one\nhalf-way\n"},
		"an unfinished last line":      {"one", []city.Frame{reset("one\r\n"), frame("half")}, "one\nhalf\n"},
		"only control characters":      {"one", []city.Frame{reset("one\r\n"), frame("\x1b[0m")}, "one\n"},
		"a whole screen":               {"top\n\nend", []city.Frame{reset("\x1b[2J\x1b[1;1Htop\x1b[3;1Hend\x1b[1;2H"), frame("\x1b[H")}, "top\n\nend\n"},
		"only the screen":              {"one\ntwo\nthree", []city.Frame{reset("three")}, "one\ntwo\nthree\n"},
		"no frames":                    {"one\ntwo", nil, "one\ntwo\n"},
		"skipped output":               {"one", []city.Frame{reset("one\r\n"), reset("nine\r\n"), frame("ten\r\n")}, "one\n… some output was skipped\nnine\nten\n"},
		"retained output":              {"one", []city.Frame{reset("one\r\n"), frame("two\r\n\r\nha"), reset("one\r\ntwo\r\n\r\nhalf\r\nthr"), frame("ee\r\n")}, "one\ntwo\n\nhalf\nthree\n"},
		"retained in part":             {"one", []city.Frame{reset("one\r\n"), frame("two\r\n"), reset("two\r\nthree\r\n"), frame("four\r\n")}, "one\ntwo\nthree\nfour\n"},
		"lost output":                  {"one", []city.Frame{reset("one\r\n"), frame("two\r\n"), reset("nine\r\n"), frame("ten\r\n")}, "one\ntwo\n… some output was skipped\nten\n"},
	} {
		s := groupedCity()
		s.output, s.frames = c.output, c.frames
		if _, out, errs := runCLI(t, s, "agent", "logs", "db", "--follow"); out != c.want || errs != "" {
			t.Errorf("%s: got %q, want %q, %s", name, out, c.want, errs)
		}
	}
}

// send-keys sends an argument as text if it is neither the name of a key nor similar to one.
func TestTextIsNotAKey(t *testing.T) {
	for _, keys := range [][]string{
		{"Enter", "C-c", "M-x", "F5", "S-Tab"}, {"Hello"}, {"enterr"}, {"Enterr you"}, {"X"}, {"IC"}, {"I"}, {":q", "ZZ"}, {"Entre-nous"}, {"Done"}, {"ls"}, {""},
		{"C-C", "C-[", "M-Enter", "M-C-c"}, {"dc"}, {"c+d"}, {"control-flow"}, {"C"}, {"-"}, {"a-b"},
	} {
		if wrong := agents.Misspelled(keys); wrong != "" {
			t.Errorf("%q: %s", keys, wrong)
		}
	}
	s := groupedCity()
	if code, _, errs := runCLI(t, s, "agent", "send-keys", "db", "--literal", "Enterr"); code != 0 || len(s.done) != 1 {
		t.Errorf("with --literal: got exit %d, %s, %v", code, errs, s.done)
	}
}

// drain-check returns the result as its exit code. No error exits with the code that means "not draining".
func TestDrainCheck(t *testing.T) {
	for _, c := range []struct {
		agent string
		code  int
		says  string
	}{
		{"worker-10", 0, "demo/worker-10: drain requested by pool at 11:58:30, deadline 12:03:30 (in 3m)\n"}, {"worker-2", 1, ""}, {"web", 1, ""},
	} {
		if code, out, errs := runCLI(t, groupedCity(), "agent", "drain-check", c.agent); code != c.code || out != c.says || errs != "" {
			t.Errorf("%s: got exit %d, %q, %q", c.agent, code, out, errs)
		}
	}
	if code, out, errs := runCLI(t, groupedCity(), "agent", "drain-check", "nobody"); code != exit.CodeUsage || out != "" || errs == "" {
		t.Errorf("drain-check of an unknown agent: got exit %d, %q, %q", code, out, errs)
	}
	if code, out, _ := runCLI(t, groupedCity(), "agent", "drain-check", "web", "--json"); code != 1 || !strings.Contains(out, `"draining": false`) {
		t.Errorf("drain-check with --json: got exit %d, %q", code, out)
	}
	for err, want := range map[error]int{
		errors.New("x"): exit.CodeNotRunning, &city.Error{Code: city.Unavailable}: exit.CodeNotRunning, &city.Error{Code: city.Conflict}: exit.CodeNotRunning,
		&city.Error{Code: city.NotFound}: exit.CodeUsage, exit.NotRunning("x"): exit.CodeNotRunning, exit.Usage("x"): exit.CodeUsage,
	} {
		if code, _ := exit.Verdict(env.AsUndetermined(err)); code != want {
			t.Errorf("%v: got exit %d, want %d", err, code, want)
		}
	}
}

// A held reload prints what would change to stderr, and exits with exit.CodeConflict.
func TestHeldReload(t *testing.T) {
	s := groupedCity()
	s.refuse = &city.Error{Code: city.Conflict, Message: "it would remove 3 of 4 running agents"}
	code, out, errs := runCLI(t, s, "reload")
	const want = `gcity: it would remove 3 of 4 running agents
held since 11:59:00; the held configuration would make these changes:
  removed db, pool demo/worker
  changed web
` + "run `gcity plan` to see each change with its reason; restore the file to discard the changes\n"
	if code != exit.CodeConflict || out != "" || errs != want {
		t.Errorf("exit %d, %q, %s", code, out, errs)
	}
	s.snapshot.Config.Held = nil
	if code, _, errs := runCLI(t, s, "reload"); code != exit.CodeConflict || strings.Contains(errs, "held since") {
		t.Errorf("reload with a different conflict: got exit %d, %s", code, errs)
	}
}

func TestRigRestart(t *testing.T) {
	s := groupedCity()
	code, out, errs := runCLI(t, s, "rig", "restart", "demo")
	if diff := difference([]city.Command{city.Restart{Agent: "demo/worker-2"}}, s.done); code != 0 || errs != "" || diff != "" {
		t.Errorf("exit %d, %s%s", code, errs, diff)
	}
	const want = `RESULT     AGENT           HOW
restarted  demo/worker-2   restart demo/worker-2
skipped    demo/worker-10  draining: pool demo/worker wants 3

demo: 1 restarted, 0 failed, 1 skipped
`
	if out != want {
		t.Errorf("got\n%s", out)
	}
	s.refuse = &city.Error{Code: city.Unavailable, Message: "too slow"}
	code, out, _ = runCLI(t, s, "rig", "restart", "demo")
	if code != exit.CodeFailed || !strings.Contains(out, "failed   demo/worker-2   too slow") || !strings.Contains(out, "0 restarted, 1 failed") {
		t.Errorf("exit %d\n%s", code, out)
	}
	s.onDo = func() { // the agent is suspended when the command arrives
		g, _ := s.snapshot.Agent("demo/worker-2")
		g.Suspended, g.State, g.Reason = true, city.Stopping, "suspended with rig demo"
	}
	code, out, _ = runCLI(t, s, "rig", "restart", "demo")
	if code != 0 || !strings.Contains(out, "skipped  demo/worker-2   stopping: suspended with rig demo") {
		t.Errorf("suspended in the meantime: exit %d\n%s", code, out)
	}
	s.snapshot.Watchdogs = []city.Watchdog{{Name: "demo/care", Triage: "demo/worker-2"}}
	code, out, _ = runCLI(t, s, "rig", "restart", "demo")
	if code != 0 || !strings.Contains(out, "skipped  demo/worker-2   triage agent of watchdog demo/care; starts") {
		t.Errorf("a triage agent: exit %d\n%s", code, out)
	}
}

func TestCompletion(t *testing.T) {
	for line, want := range map[string]string{
		"pool scale ": "demo/worker off one set", "rig restart ": "demo lost", "agent drain ": "db demo/worker-2 demo/worker-10 one web",
		"agent suspend ": "db demo/worker demo/worker-2 demo/worker-10 off one set web", "pool scale worker ": "auto",
	} {
		code, out, _ := runCLI(t, groupedCity(), append([]string{"__complete"}, strings.Split(line, " ")...)...)
		names := strings.Fields(strings.ReplaceAll(out[:strings.Index(out, ":4")], "\n", " "))
		if got := strings.Join(names, " "); code != 0 || got != want {
			t.Errorf("%q: got exit %d, %q, want %q", line, code, got, want)
		}
	}
}

// A pool's check can print any bytes. Its output is cut to the terminal's width.
func TestPoolOutputFitsTheTerminal(t *testing.T) {
	var out bytes.Buffer
	a := &env.Env{Printer: output.Printer{Out: &out, OutTTY: true, Getenv: func(string) string { return "dumb" }, Now: func() time.Time { return noon }}}
	s := groupedCity().snapshot
	for i := range s.Pools {
		s.Pools[i].Check.Output = strings.Repeat("\x00\xff世\x1b[31m", 400)
	}
	for i := range s.Pools {
		if err := agents.PrintPool(a, s, &s.Pools[i], &env.Link{Live: true}); err != nil {
			t.Fatal(err)
		}
	}
	capped := 0
	for line := range strings.SplitSeq(out.String(), "\n") {
		if !strings.Contains(line, "世") {
			continue
		}
		if capped++; ansi.StringWidth(line) > 80 || !strings.HasSuffix(line, "…") {
			t.Errorf("%d columns: %q", ansi.StringWidth(line), line)
		}
	}
	if capped != len(s.Pools) {
		t.Errorf("got %d capped rows:\n%s", capped, out.String())
	}
}

// An agent's folder is marked "as configured", because it may have changed since the agent started.
func TestFolderIsAsConfigured(t *testing.T) {
	s := demoCity()
	s.snapshot.Agents[0].Dir = "/srv/app"
	for _, line := range []string{"why reader", "agent show reader"} {
		if _, out, _ := runCLI(t, s, strings.Fields(line)...); !strings.Contains(out, "folder       /srv/app (as configured)\n") {
			t.Errorf("%s: %s", line, out)
		}
	}
}

func TestAgentShown(t *testing.T) {
	s := demoCity()
	name := s.snapshot.Agents[0].Name
	s.about = city.Inspection{
		Spec: &city.Spec{Command: "x", Provider: "pty", Cols: 120, Rows: 40, PreStart: []string{"git fetch"}, ReadyPrefix: "> ", ReadyLimit: time.Minute,
			Restart: city.RestartPolicy{Mode: "always", MinUptime: 10 * time.Second, MaxRestarts: 5, Window: time.Hour, Backoff: time.Second, MaxBackoff: time.Minute}},
		Env:   []city.Variable{{Name: "API_KEY", Hidden: true, From: city.FromConfig}, {Name: "COLOUR", Value: "re\x1b[31md", From: city.FromConfig}},
		Drift: []city.Difference{{Field: "env COLOUR", What: "changed", Runs: "blue", Wants: "red"}, {Field: "pre_start", What: "changed", Wants: "git fetch", RunsUnknown: true}},
		Crashes: []city.Crash{{Exit: city.Exit{Code: 3, At: noon, File: ".gc/crashes/x"}, Why: "exit 3 after 4s", Output: "one\ntwo\nthree\nfour\x1b[2J\n"},
			{Exit: city.Exit{At: noon.Add(-time.Hour)}, Why: "no such folder", NoStart: true}},
		Problems: []string{"the rest is not known"},
	}
	_, out, _ := runCLI(t, s, "agent", "show", name)
	for _, want := range []string{
		"terminal     120x40 while no user is attached", "before       git fetch", `ready        when a line begins with "> ", within 1m`, "restart      always; an exit within 10s is a crash; quarantine on crash 6 within 1h; waits 1s, doubling up to 1m",
		"API_KEY=(hidden)", "COLOUR=red", "env COLOUR changed", "runs         blue", "wants        red", "gcity keeps only a fingerprint",
		"exit 3 after 4s", "two", "four", "stored in .gc/crashes/x", "not started: no such folder", "the rest is not known",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("want %q in:\n%s", want, out)
		}
	}
	if strings.Contains(out, "\x1b[2J") || strings.Contains(out, "\x1b[31m") || strings.Contains(out, "  one\n") {
		t.Errorf("%q", out)
	}
	s.about.Spec.Restart.MaxBackoff = 500 * time.Millisecond
	if _, out, _ = runCLI(t, s, "agent", "show", name); !strings.Contains(out, "in 1h; waits 500ms\n") {
		t.Error(out)
	}
	_, out, _ = runCLI(t, s, "agent", "show", name, "--json")
	var shape struct {
		Name       string           `json:"name"`
		Inspection *city.Inspection `json:"inspection"`
	}
	if err := json.Unmarshal([]byte(out), &shape); err != nil || shape.Name != name || shape.Inspection == nil || len(shape.Inspection.Crashes) != 2 {
		t.Errorf("%v: %s", err, out)
	}
}

func TestWhyOfAStoppedAgent(t *testing.T) {
	s := groupedCity()
	s.snapshot.Agents[2].Frozen = true
	for _, line := range []string{"why demo/worker-2", "agent show demo/worker-2"} {
		code, out, _ := runCLI(t, s, strings.Fields(line)...)
		if code != exit.CodeDone || !strings.Contains(out, "by SIGSTOP; `kill -CONT 52` resumes it") {
			t.Errorf("%s: exit %d\n%s", line, code, out)
		}
	}
}
