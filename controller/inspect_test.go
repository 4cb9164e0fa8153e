package controller

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/agent"
	"gcity/city"
	"gcity/events"
	"gcity/prompt"
	"gcity/session"
)

// No secret leaves the controller, neither in a variable nor in a difference. Differences are reported per field.
// Values of the running session are read only from its own process.
func TestInspect(t *testing.T) {
	const id, hidden = "life-1", "hunter2"
	running := []string{"GC_SESSION_ID=" + id, "COLOUR=red", "API_TOKEN=" + hidden, "OLD=gone",
		"REPO=https://" + hidden + "@old"}
	cmd := exec.CommandContext(t.Context(), "sleep", "600")
	cmd.Env = running
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	w := agent.Want{Name: "worker", Source: "city.toml:3:1", Spec: session.Spec{
		Command: "exec new", PreStart: []string{"one", "two"}, Cols: 120, Rows: 40,
		Env: []string{"API_TOKEN=" + hidden + "2", "COLOUR=blue", "GC_AGENT=worker", "HOME=/h",
			"URL=https://me:" + hidden + "@host",
			"REPO=https://" + hidden + "@host/r", "API=https://host/?a=b&access_token=" + hidden,
			"DB=host=db password=" + hidden, "PGPASS=" + hidden, "AUTH=" + hidden},
		Fingerprint: session.NewFingerprint(map[string]string{"command": "exec new",
			"pre_start": "one\x00two", "env COLOUR": "blue", "env API_TOKEN": hidden + "2",
			"env REPO": "https://" + hidden + "@host/r"}),
	}}
	st := session.Status{Agent: "worker", ID: id, PID: cmd.Process.Pid, Alive: true,
		Fingerprint: session.NewFingerprint(map[string]string{"command": "exec old",
			"env COLOUR": "red", "env API_TOKEN": hidden, "env OLD": "gone",
			"env REPO": "https://" + hidden + "@old"})}
	s := Subject{City: t.TempDir(), Agent: "worker", Want: &w, Session: &st}
	about := s.Inspect(time.Unix(1, 0))
	var got []string
	for _, d := range about.Drift {
		got = append(got, fmt.Sprintf("%s %s: %q %q unknown=%v hidden=%v", d.Field, d.What, d.Runs,
			d.Wants, d.RunsUnknown, d.Hidden))
	}
	want := []string{
		`command changed: "sleep 600" "exec new" unknown=false hidden=false`,
		`env API_TOKEN changed: "" "" unknown=false hidden=true`,
		`env COLOUR changed: "red" "blue" unknown=false hidden=false`,
		`env OLD removed: "gone" "" unknown=false hidden=false`,
		`env REPO changed: "https://…@old" "https://…@host/r" unknown=false hidden=false`,
		`pre_start added: "" "one\ntwo" unknown=false hidden=false`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	from := map[string]city.Origin{}
	for _, v := range about.Env {
		from[v.Name] = v.From
	}
	if from["COLOUR"] != city.FromConfig || from["GC_AGENT"] != city.FromCity ||
		from["HOME"] != city.FromInherited {
		t.Errorf("%v", from)
	}
	data, err := json.Marshal(about)
	if err != nil || strings.Contains(string(data), hidden) {
		t.Errorf("%s, %v", data, err)
	}
	s.Limits.Lacks = []session.Ability{session.InheritingEnvironment}
	for _, v := range s.Inspect(time.Unix(1, 0)).Env {
		if v.From == city.FromInherited {
			t.Errorf("the provider does not pass on %s, but it is shown", v.Name)
		}
	}
	st.ID = "life-2" // the process belongs to another session
	if d := s.Inspect(time.Unix(1, 0)).Drift[2]; !d.RunsUnknown || d.Runs != "" {
		t.Errorf("%+v", d)
	}
}

// A prompt in the command line of a running session is not shown, even if the configuration no longer has a prompt.
func TestInspectKeepsAnOldPrompt(t *testing.T) {
	const id, hidden = "life-1", "hunter2"
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "sleep 600; : 'the key is "+hidden+"'")
	cmd.Env = []string{"GC_SESSION_ID=" + id, "PATH=/usr/bin:/bin"}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	w := agent.Want{Name: "worker", Spec: session.Spec{Command: "exec new",
		Fingerprint: session.NewFingerprint(map[string]string{"command": "exec new"})}}
	for _, told := range []bool{false, true} {
		fields := map[string]string{"command": "sleep 600"}
		if told {
			fields["prompt_template"] = "a hash"
		}
		st := session.Status{Agent: "worker", ID: id, PID: cmd.Process.Pid, Alive: true,
			Fingerprint: session.NewFingerprint(fields)}
		s := Subject{City: t.TempDir(), Agent: "worker", Want: &w, Session: &st}
		if shown := s.Inspect(time.Unix(1, 0)).Drift[0].Runs; strings.Contains(shown, hidden) ==
			told {
			t.Errorf("told = %v: got %q", told, shown)
		}
	}
}

// The name of a crash file is shown only if the file exists and belongs to the city.
func TestInspectNamesKeptFilesOnly(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "kept"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := Subject{City: dir, Agent: "worker"}
	for _, file := range []string{"kept", "gone", "../kept", "/etc/passwd"} {
		s.Past = append(s.Past, events.Event{Type: events.AgentCrashed,
			Payload: json.RawMessage(fmt.Sprintf(`{"code":2,"file":%q}`, file))})
	}
	s.Past = append(s.Past, events.Event{Type: events.AgentStartFailed, Message: "no such folder"},
		events.Event{Type: "worker.crashed"})
	about := s.Inspect(time.Unix(1, 0))
	var files []string
	for _, c := range about.Crashes {
		files = append(files, c.File)
	}
	if !slices.Equal(files, []string{"kept", "", "", "", ""}) || !about.Crashes[4].NoStart ||
		about.Crashes[0].Code != 2 || about.Spec != nil {
		t.Errorf("%+v", about)
	}
}

// An inspection shows the overlay, the hooks and the prompt mode of an agent, even if the agent gets no prompt.
func TestInspectTellsOfTheOutfit(t *testing.T) {
	w := agent.Want{Name: "worker", Program: "claude", Found: true, Overlay: "/c/overlays/x",
		Hooks: []string{"claude", "gemini"}}
	template, err := prompt.Parse(prompt.File{Name: "p.md", Text: "Do.\n"}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		told       agent.Prompt
		mode, flag string
	}{
		{agent.Prompt{}, "", ""},
		{agent.Prompt{Mode: "arg"}, "", ""},
		{agent.Prompt{File: "p.md", Draft: &prompt.Draft{Template: template}}, "none", ""},
		{agent.Prompt{File: "p.md", Draft: &prompt.Draft{Template: template}, Mode: "flag",
			Flag: "--say"}, "flag", "--say"},
	} {
		w.Prompt = c.told
		s := Subject{City: t.TempDir(), Agent: "worker", Want: &w}
		about := s.Inspect(time.Unix(1, 0))
		AddPrompt(t.Context(), about, &w)
		spec := about.Spec
		if !spec.Found || spec.Overlay != "/c/overlays/x" ||
			!slices.Equal(spec.Hooks, []string{"claude", "gemini"}) || about.PromptMode != c.mode ||
			about.PromptFlag != c.flag {
			t.Errorf("%+v: %+v, mode %q, flag %q", c.told, spec, about.PromptMode, about.PromptFlag)
		}
	}
}
