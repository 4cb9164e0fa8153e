package edit

import (
	"bytes"
	"errors"
	"gcity/config"
	"gcity/internal/toml"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
)

// SetSuspended changes only the flag and keeps everything else byte for byte.
func TestSuspendedSplice(t *testing.T) {
	tests := []struct {
		name, before, agent string
		on                  bool
		after               string
	}{
		{"in place", "[[agents]]\nname = \"a\"\nsuspended = false # for now\n", "a", true,
			"[[agents]]\nname = \"a\"\nsuspended = true # for now\n"},
		{"back again", "[[agents]]\nname = \"a\"\nsuspended=true\n", "a", false, "[[agents]]\nname = \"a\"\nsuspended=false\n"},
		{"below the name", "[[agents]]\n# the one\nname = \"a\" # yes\n\nstart_command = \"sh\"\n", "a", true,
			"[[agents]]\n# the one\nname = \"a\" # yes\nsuspended = true\n\nstart_command = \"sh\"\n"},
		{"the second of three", "[[agents]]\nname = \"a\"\n[[agents]]\nname = \"b\"\n[[agents]]\nname = \"c\"\n", "b", true,
			"[[agents]]\nname = \"a\"\n[[agents]]\nname = \"b\"\nsuspended = true\n[[agents]]\nname = \"c\"\n"},
		{"the other spelling", "[[agent]]\nname = \"a\"\n", "a", true, "[[agent]]\nname = \"a\"\nsuspended = true\n"},
		{"indented", "[[agents]]\n  name = \"a\"\n  nudge = \"x\"\n", "a", true,
			"[[agents]]\n  name = \"a\"\n  suspended = true\n  nudge = \"x\"\n"},
		{"CRLF", "[[agents]]\r\nname = \"a\"\r\nnudge = \"x\"\r\n", "a", true,
			"[[agents]]\r\nname = \"a\"\r\nsuspended = true\r\nnudge = \"x\"\r\n"},
		{"no end of line", "[[agents]]\nname = \"a\"", "a", true, "[[agents]]\nname = \"a\"\nsuspended = true\n"},
		{"a byte order mark", "\ufeff[[agents]]\nname = \"a\"\n", "a", true, "\ufeff[[agents]]\nname = \"a\"\nsuspended = true\n"},
		{"inline", "agents = [{ name = \"a\" }, { name = \"b\", nudge = \"x\" }]\n", "b", true,
			"agents = [{ name = \"a\" }, { name = \"b\", suspended = true, nudge = \"x\" }]\n"},
		{"inline in place", "agents = [{ suspended = true, name = \"a\" }]\n", "a", false,
			"agents = [{ suspended = false, name = \"a\" }]\n"},
		{"a name of several lines", "[[agents]]\nname = \"\"\"\na\"\"\" # x\n", "a", true, "[[agents]]\nname = \"\"\"\na\"\"\" # x\nsuspended = true\n"},
		{"quoted keys", "[['agents']]\n\"name\" = 'a'\n'suspended' = false\n", "a", true,
			"[['agents']]\n\"name\" = 'a'\n'suspended' = true\n"},
		{"env after", "[[agents]]\nname = \"a\"\n[agents.env]\nsuspended = \"no\"\n", "a", true,
			"[[agents]]\nname = \"a\"\nsuspended = true\n[agents.env]\nsuspended = \"no\"\n"},

		{"the city", "[workspace]\nname = \"x\"\n", "", true, "[workspace]\nname = \"x\"\nsuspended = true\n"},
		{"the city without a name", "[workspace] # all of it\nstart_command = \"sh\"\n", "", true,
			"[workspace] # all of it\nsuspended = true\nstart_command = \"sh\"\n"},
		{"no workspace", "# mine\n[[agents]]\nname = \"a\"\n", "", true, "# mine\n[[agents]]\nname = \"a\"\n\n[workspace]\nsuspended = true\n"},
		{"no workspace, no end of line", "[[agents]]\nname = \"a\"", "", true, "[[agents]]\nname = \"a\"\n\n[workspace]\nsuspended = true\n"},
		{"no workspace, CRLF", "[daemon]\r\n", "", true, "[daemon]\r\n\r\n[workspace]\r\nsuspended = true\r\n"},
		{"dotted", "workspace.name = \"x\"\n[daemon]\n", "", true, "workspace.name = \"x\"\nworkspace.suspended = true\n[daemon]\n"},
		{"dotted in place", "workspace . suspended = true\n", "", false, "workspace . suspended = false\n"},
		{"inline city", "workspace = { name = \"x\" }\n", "", true, "workspace = { name = \"x\", suspended = true }\n"},
		{"inline empty city", "workspace = {}\n", "", true, "workspace = { suspended = true }\n"},

		{"said already", "[[agents]]\nname = \"a\"\nsuspended = true\n", "a", true, "[[agents]]\nname = \"a\"\nsuspended = true\n"},
		{"the default", "[[agents]]\nname = \"a\"\n", "a", false, "[[agents]]\nname = \"a\"\n"},
		{"no workspace, the default", "[daemon]\n", "", false, "[daemon]\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := folder(t, tt.before)
			if err := SetSuspended(config.Source{Dir: dir}, config.Target{Agent: tt.agent}, tt.on); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(filepath.Join(dir, config.FileName))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tt.after {
				t.Errorf("got:\n%q\nwant:\n%q", got, tt.after)
			}
			if !tt.on || strings.Contains(tt.name, "in place") || tt.before == tt.after || tt.name == "quoted keys" {
				return
			}
			if err := SetSuspended(config.Source{Dir: dir}, config.Target{Agent: tt.agent}, false); err != nil {
				t.Fatal(err)
			}
			if got, _ := os.ReadFile(filepath.Join(dir, config.FileName)); string(got) != tt.before {
				t.Errorf("resumed:\n%q\nwas:\n%q", got, tt.before)
			}
		})
	}
}

// Resuming removes only a line that suspending has added.
func TestResumeRemovesOnlyAddedLines(t *testing.T) {
	const plain = "[[agents]]\nname          = \"a\"\nstart_command = \"sh\"\n\n[[agents]]\nname = \"b\"\n"
	const flagged = "[[agents]]\nname          = \"a\"\nsuspended = true\nstart_command = \"sh\"\n\n[[agents]]\nname = \"b\"\n"
	for _, tt := range []struct {
		name, before string
		meanwhile    func(string) string // a user's edit while the agent is suspended; may be nil
		after        string
	}{
		{"added", plain, nil, plain},
		{"set by the user", flagged, nil, strings.Replace(flagged, "true", "false", 1)},
		{"theirs was false", strings.Replace(flagged, "true", "false", 1), nil, strings.Replace(flagged, "true", "false", 1)},
		{"edited elsewhere", plain, func(s string) string { return "# mine\n" + s + "# the end" }, "# mine\n" + plain + "# the end"},
		{"with a comment since", plain, func(s string) string { return strings.Replace(s, "= true", "= true # holidays", 1) },
			strings.Replace(flagged, "= true", "= false # holidays", 1)},
		{"aligned since", plain, func(s string) string { return strings.Replace(s, "suspended =", "suspended     =", 1) },
			strings.Replace(flagged, "suspended = true", "suspended     = false", 1)},
		{"moved since", plain, func(string) string { return strings.Replace(plain, "\"sh\"\n", "\"sh\"\nsuspended = true\n", 1) },
			strings.Replace(plain, "\"sh\"\n", "\"sh\"\nsuspended = false\n", 1)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := folder(t, tt.before)
			path := filepath.Join(dir, config.FileName)
			// suspending agent "b" must not affect the record about agent "a"
			if err := SetSuspended(config.Source{Dir: dir}, config.Target{Agent: "b"}, true); err != nil {
				t.Fatal(err)
			}
			if err := SetSuspended(config.Source{Dir: dir}, config.Target{Agent: "a"}, true); err != nil {
				t.Fatal(err)
			}
			if tt.meanwhile != nil {
				got, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				put(t, path, tt.meanwhile(string(got)))
				if strings.HasPrefix(tt.name, "moved") {
					put(t, path, tt.meanwhile("")+"suspended = true\n")
				}
			}
			for _, name := range []string{"a", "b"} {
				if err := SetSuspended(config.Source{Dir: dir}, config.Target{Agent: name}, false); err != nil {
					t.Fatal(err)
				}
			}
			if got, _ := os.ReadFile(path); string(got) != tt.after {
				t.Errorf("got:\n%q\nwant:\n%q", got, tt.after)
			}
			if _, err := os.Stat(filepath.Join(dir, ".gc", addedName)); !os.IsNotExist(err) {
				t.Errorf("the record was not removed: %v", err)
			}
		})
	}
}

// Without a valid record, resuming sets the flag to false.
func TestResumeWithoutRecord(t *testing.T) {
	for _, memory := range []string{"", "{", "null", "[]", `{"city.toml\nagents\n\na":"name = \"a\"\nsuspended = true\n"}`, `{"city.toml\nagents\n\na":"true"}`} {
		dir := folder(t, "[[agents]]\nname = \"a\"\nsuspended = true\n")
		if err := os.MkdirAll(filepath.Join(dir, ".gc"), 0o700); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, ".gc", addedName), memory)
		if err := SetSuspended(config.Source{Dir: dir}, config.Target{Agent: "a"}, false); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(filepath.Join(dir, config.FileName)); string(got) != "[[agents]]\nname = \"a\"\nsuspended = false\n" {
			t.Errorf("%s: %q", memory, got)
		}
	}
}

func TestSetSuspendedErrors(t *testing.T) {
	tests := []struct{ name, text, agent, want string }{
		{"a typo", "[[agents]]\nname = \"worker\"\n", "wroker", "agent \"wroker\" not found; did you mean \"worker\"? Run `gcity agent list` to see all"},
		{"a stranger", "[[agents]]\nname = \"worker\"\n", "x", "agent \"x\" not found; run `gcity agent list` to see all"},
		{"a broken file", "[[agents]]\nnam = \"worker\"\n", "worker",
			"city.toml:1:1: agents.name: is missing; every agent needs one: name = \"…\"\ncity.toml:2:1: agents.nam: unknown key; did you mean \"name\"?"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := folder(t, tt.text)
			err := SetSuspended(config.Source{Dir: dir}, config.Target{Agent: tt.agent}, true)
			if err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if got, _ := os.ReadFile(filepath.Join(dir, config.FileName)); string(got) != tt.text {
				t.Errorf("the file was written: %q", got)
			}
		})
	}
	if err := SetSuspended(config.Source{Dir: folder(t, "[daemon]\n")}, config.Target{Agent: "x"}, true); !errors.Is(err, config.ErrNoAgent) {
		t.Errorf("got %v, want ErrNoAgent", err)
	}
}

// A linked city.toml stays a link and keeps its permissions.
func TestSetSuspendedKeepsLinkAndPermissions(t *testing.T) {
	dir := folder(t, "")
	link, target := filepath.Join(dir, config.FileName), filepath.Join(dir, "real.toml")
	if err := os.Remove(link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(target, []byte("[[agents]]\nname = \"a\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("real.toml", link); err != nil {
		t.Fatal(err)
	}
	if err := SetSuspended(config.Source{Dir: dir}, config.Target{Agent: "a"}, true); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(link); err != nil || to != "real.toml" {
		t.Errorf("target of the link: got %q, %v", to, err)
	}
	info, err := os.Stat(target)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if got, _ := os.ReadFile(target); !bytes.Contains(got, []byte("suspended = true")) {
		t.Errorf("not written: %q", got)
	}
	var names []string
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if got := strings.Join(names, " "); got != ".gc city.toml real.toml" {
		t.Errorf("files in the folder: got %s", got)
	}
}

// Concurrent edits, even from several processes, are all applied.
func TestConcurrentSetSuspended(t *testing.T) {
	if dir := os.Getenv("CONFIG_TEST_EDIT"); dir != "" {
		if err := SetSuspended(config.Source{Dir: dir}, config.Target{Agent: os.Getenv("CONFIG_TEST_AGENT")}, true); err != nil {
			t.Fatal(err)
		}
		return
	}
	names := []string{"a", "b", "c", "d", "e", "f"}
	text := ""
	for _, n := range names {
		text += "[[agents]]\nname = \"" + n + "\" # stays\n"
	}
	dir := folder(t, text)
	var wg sync.WaitGroup
	for i, n := range names {
		wg.Go(func() {
			if i%2 == 0 {
				if err := SetSuspended(config.Source{Dir: dir}, config.Target{Agent: n}, true); err != nil {
					t.Error(err)
				}
				return
			}
			cmd := exec.Command(os.Args[0], "-test.run", "^TestConcurrentSetSuspended$")
			cmd.Env = append(os.Environ(), "CONFIG_TEST_EDIT="+dir, "CONFIG_TEST_AGENT="+n)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	wg.Wait()
	c, err := config.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range c.Agents {
		if !a.Suspended {
			t.Errorf("the edit of %s was lost", a.Name)
		}
	}
}

// For any valid file, the edit changes only the flag of the target. Undoing it restores the values.
func FuzzSetSuspended(f *testing.F) {
	const include = "include = [\"team.toml\"]\n"
	f.Add([]byte("[[agents]]\nname = \"a\"\nsuspended = false # for now\n"), 1)
	f.Add([]byte("agents = [{ name = \"a\" }, { name = \"b\", nudge = \"x\" }]\n"), 2)
	f.Add([]byte("\ufeffworkspace.name = \"x\"\r\n[[agent]]\r\nname='a'\r\n"), 0)
	f.Add([]byte("[workspace]\n[[agents]]\n name = \"\"\"\\\n a\"\"\"\n[agents.env]\nsuspended = \"x\"\n"), 1)
	f.Add([]byte(include+"[[agents]]\nname = \"a\"\npool.max = 3\n"), 2)
	f.Add([]byte(include+"[[patches.agents]]\r\nname = \"one\"\r\nsuspended = true\r\n"), 1)
	f.Add([]byte(include+"patches = { agents = [{ name = \"one\" }] }\n"), 2)
	f.Add([]byte(include+"patches = {}"), 2)
	f.Add([]byte(include+"[patches]\nagents = [ # none\n]\n"), 1)
	f.Add([]byte(include+"patches.agents = [{name='two',dir='demo'}]"), 2)
	f.Add([]byte(include+"[patches]\n[[rigs]]\nsuspended = true\nname = \"x\"\npath = \"/x\""), 3)
	f.Add([]byte("[[agents]]\nname = \"a\"\n[orders]\nskip = [\"x\"]\n[[orders.overrides]]\nname = \"a\"\nenabled = false\n"), 1)
	f.Add([]byte("rigs = [{ path = \"/x\", name = \"x\" }]"), 1)
	dir := folderOf(f, map[string]string{"team.toml": teamOfTwo})
	f.Fuzz(func(t *testing.T, data []byte, which int) {
		c, err := config.Parse(dir, data)
		if err != nil {
			return
		}
		targets := []config.Target{{}}
		for i := range c.Agents {
			targets = append(targets, config.Target{Agent: c.Agents[i].Qualified()})
		}
		for i := range c.Rigs {
			targets = append(targets, config.Target{Rig: c.Rigs[i].Name})
		}
		target := targets[uint(which)%uint(len(targets))]
		s, err := placeOf(c, target)
		if err != nil {
			t.Fatalf("%+v: %v\n%q", target, err, data)
		}
		if s.File != config.FileName {
			if data = []byte(teamOfTwo); s.File != "team.toml" || s.List != "rigs" {
				t.Fatalf("%+v of %+v\n%q", s, target, data)
			}
		}
		after, err := s.set(data, !s.On)
		if err != nil {
			t.Fatalf("refused: %v\n%q", err, data)
		}
		if kept(data, after) < len(data)-len("false") {
			t.Fatalf("text is missing\n%q\n%q", data, after)
		}
		if s.File != config.FileName {
			return
		}
		edited, err := config.Parse(dir, after)
		if err != nil {
			t.Fatalf("%v\n%q\n%q", err, data, after)
		}
		now, err := placeOf(edited, target)
		if err != nil || now.On == s.On || now.NoTable {
			t.Fatalf("flag is not set: %+v, %v\n%q\n%q", now, err, data, after)
		}
		if !s.On {
			memo := addedLines{}
			memo.note(s.key(s.File), data, after)
			left := now.unset(config.Source{Dir: dir}, target, after, memo)
			if wrote := s.NoTable || s.table(treeOf(data)).Get("suspended") == nil; wrote != (left != nil) || wrote && !bytes.Equal(left, data) {
				t.Fatalf("removing the line: got %q\n%q\n%q", left, data, after)
			}
		}
		*flagOf(edited, target) = s.On
		if a, b := values(c), values(edited); a != b {
			t.Fatalf("other values changed\n%s\n%s", a, b)
		}
	})
}

const teamOfTwo = "[[agents]]\nname = \"one\"\n[[agents]] # of a rig\nname = \"two\"\ndir = \"demo\"\npool.max = 2\n[[rigs]]\npath = \"/usr\"\nname = \"demo\"\nprefix = \"zzdemo\""

func treeOf(data []byte) *toml.Node {
	root, _ := config.ParseTOML(data)
	return root
}

func flagOf(c *config.City, t config.Target) *bool {
	switch {
	case t.Rig != "":
		return &c.Rig(t.Rig).Suspended
	case t.Agent != "":
		for _, name := range []func(*config.Agent) string{
			(*config.Agent).Qualified, func(a *config.Agent) string { return a.Name },
		} {
			for i := range c.Agents {
				if name(&c.Agents[i]) == t.Agent {
					return &c.Agents[i].Suspended
				}
			}
		}
	}
	return &c.Workspace.Suspended
}

func kept(a, b []byte) int {
	front, back := 0, 0
	for front < len(a) && front < len(b) && a[front] == b[front] {
		front++
	}
	for back < len(a)-front && back < len(b)-front && a[len(a)-1-back] == b[len(b)-1-back] {
		back++
	}
	return front + back
}

func TestSetSuspendedDetectsConcurrentEdit(t *testing.T) {
	const mine, theirs = "[[agents]]\nname = \"a\"\n", "[[agents]]\nname = \"a\"\n# theirs\n"
	dir := folder(t, mine)
	path := filepath.Join(dir, config.FileName)
	put(t, path, theirs)
	err := replace(path, []byte(mine), []byte("[[agents]]\nname = \"a\"\nsuspended = true\n"))
	if !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), "try again") {
		t.Errorf("%v", err)
	}
	if got, _ := os.ReadFile(path); string(got) != theirs {
		t.Errorf("the other program's edit was lost: %q", got)
	}
}

// Replace waits for an edit that holds the lock, and does not overwrite it.
func TestReplaceWaitsForEdits(t *testing.T) {
	const opened, theirs = "[[agents]]\nname = \"a\"\n", "[[agents]]\nname = \"b\"\n"
	dir := folder(t, opened)
	path := filepath.Join(dir, config.FileName)
	synctest.Test(t, func(t *testing.T) {
		unlock, err := lockEdits(dir)
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- Replace(dir, path, []byte(opened), []byte("# mine\n"+opened)) }()
		synctest.Wait()
		put(t, path, theirs)
		unlock()
		if err := <-done; !errors.Is(err, ErrChanged) {
			t.Errorf("got %v, want ErrChanged", err)
		}
	})
	if got, _ := os.ReadFile(path); string(got) != theirs {
		t.Errorf("the other edit was lost: %q", got)
	}
	if err := Replace(dir, path, []byte(theirs), []byte(opened)); err != nil {
		t.Error(err)
	}
	if got, _ := os.ReadFile(path); string(got) != opened {
		t.Errorf("got %q, want the new content", got)
	}
}
