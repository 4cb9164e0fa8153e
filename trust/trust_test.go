package trust

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func program(line, file string) Program {
	return Program{What: "agent a", Line: line, At: "city.toml:1:1", From: []string{file}}
}

func TestJudge(t *testing.T) {
	const city, file = "/src/c", "/src/c/city.toml"
	old, fresh := program("old", file), program("new", file)
	script := program("old", file)
	script.Files, script.Sums = []string{"/rig/x.sh"}, []string{"2"}
	renamed := old
	renamed.What, renamed.Same = "agent b", []string{"agent x", old.What}
	folder := script
	folder.Files = []string{"/rig"}
	local := func(string) bool { return true }
	withRig := NewRecord(city, []Program{old}, map[string]Head{city: {Commit: "1"}, "/rig": {Commit: "7"}}, time.Now())
	trustedAt := func(commit string) *Record {
		heads := map[string]Head{}
		if commit != "-" {
			heads[city] = Head{Commit: commit}
		}
		r := NewRecord(city, []Program{old}, heads, time.Now())
		return &r
	}
	for name, c := range map[string]struct {
		rec   *Record
		now   []Program
		heads map[string]Head
		ok    bool
	}{
		"never trusted":                           {nil, []Program{old}, nil, false},
		"the same":                                {trustedAt("1"), []Program{old}, map[string]Head{city: {Commit: "1"}}, true},
		"edited here":                             {trustedAt("1"), []Program{old, fresh}, map[string]Head{city: {Commit: "1"}}, true},
		"edited outside git":                      {trustedAt("-"), []Program{fresh}, nil, true},
		"pulled":                                  {trustedAt("1"), []Program{old, fresh}, map[string]Head{city: {Commit: "2"}}, false},
		"pulled, nothing new":                     {trustedAt("1"), []Program{old}, map[string]Head{city: {Commit: "2"}}, true},
		"pulled, with a second name":              {trustedAt("1"), []Program{renamed}, map[string]Head{city: {Commit: "2"}}, true},
		"pulled, one removed":                     {trustedAt("1"), nil, map[string]Head{city: {Commit: "2"}}, true},
		"edited and committed":                    {trustedAt("1"), []Program{fresh}, map[string]Head{city: {Commit: "2", Since: local}}, true},
		"git is running":                          {trustedAt("1"), []Program{fresh}, map[string]Head{city: {Commit: "1", Busy: true}}, false},
		"became a checkout with foreign commits":  {trustedAt("-"), []Program{fresh}, map[string]Head{city: {Commit: "2"}}, false},
		"became a checkout without a commit":      {trustedAt("-"), []Program{fresh}, map[string]Head{city: {}}, true},
		"from another checkout, never seen":       {trustedAt("1"), []Program{program("x", "/rig/a.toml")}, map[string]Head{city: {Commit: "1"}, "/rig": {Commit: "7"}}, false},
		"the city's moved, the file is elsewhere": {trustedAt("1"), []Program{program("x", "/etc/x.toml")}, map[string]Head{city: {Commit: "2"}}, true},
		"a script's checkout was pulled":          {&withRig, []Program{script}, map[string]Head{city: {Commit: "1"}, "/rig": {Commit: "8"}}, false},
		"a folder's checkout was pulled":          {&withRig, []Program{folder}, map[string]Head{city: {Commit: "1"}, "/rig": {Commit: "8"}}, false},
		"a script was edited":                     {&withRig, []Program{script}, map[string]Head{city: {Commit: "1"}, "/rig": {Commit: "7"}}, true},
	} {
		refused := Judge(city, c.rec, c.now, c.heads)
		if (refused == nil) != c.ok {
			t.Errorf("%s: got refused = %v", name, refused)
		}
	}
}

// A program that was accepted once stays accepted, even after a later pull.
func TestJudgeRestarts(t *testing.T) {
	const city, file = "/src/c", "/src/c/city.toml"
	first := NewRecord(city, []Program{program("old", file)}, map[string]Head{city: {Commit: "1"}}, time.Now())
	added, heads := []Program{program("new", file)}, map[string]Head{city: {Commit: "1"}}
	if refused := Judge(city, &first, added, heads); refused != nil {
		t.Fatal(refused)
	}
	edited := first.with(added, heads)
	for _, line := range []string{"old", "new"} {
		if refused := Judge(city, &edited, []Program{program(line, file)}, map[string]Head{city: {Commit: "2"}}); refused != nil {
			t.Errorf("%s: %v", line, refused)
		}
	}
}

// A refusal says which programs are new. Records of earlier versions do not contain the programs' names.
func TestJudgeSaysWhatIsNew(t *testing.T) {
	const city, file = "/src/c", "/src/c/city.toml"
	first := NewRecord(city, []Program{program("old", file)}, map[string]Head{city: {Commit: "1"}}, time.Now())
	earlier := first
	earlier.Names = nil
	other := program("old", file)
	other.What = "agent b"
	for _, c := range []struct {
		rec  Record
		now  Program
		want string
	}{
		{first, program("new", file), "changed"}, {first, other, "new"}, {earlier, other, "new or changed"},
		{Record{Path: city, Heads: first.Heads}, other, "new"},
	} {
		refused := Judge(city, &c.rec, []Program{c.now}, map[string]Head{city: {Commit: "2"}})
		if refused == nil || refused.New[0].Change != c.want {
			t.Errorf("got %+v, want %q", refused, c.want)
		}
	}
}

// A record covers files from -f until a pull that happens without them. It always covers fetched copies.
func TestJudgeFilesFromF(t *testing.T) {
	const city, copied = "/src/c", "/src/c/.gc/topologies/x"
	at := func(commit string) map[string]Head {
		return map[string]Head{city: {Commit: commit}, copied: {Commit: "7"}}
	}
	own, night := program("own", city+"/city.toml"), program("night", city+"/night.toml")
	night.With = []string{city + "/night.toml"}
	edited := night
	edited.Line = "edited"
	fetched := Program{What: "folder", From: []string{copied}, Content: func() string {
		t.Error("the folder of an unchanged commit was read")
		return ""
	}}
	first := NewRecord(city, []Program{own, night}, at("1"), time.Now())
	started := first.extended([]Program{own}, at("1"))
	pulled := first.extended([]Program{own}, at("2"))
	earlier := first
	earlier.Files, earlier.Folders = nil, false // as in the records of earlier versions
	formulas := earlier
	formulas.Heads = map[string]string{city: "1"}
	for name, c := range map[string]struct {
		rec  Record
		now  Program
		head string
		ok   bool
	}{
		"edited after a start without the file": {started, edited, "1", true},
		"changed in a pull without the file":    {pulled, edited, "2", false},
		"unchanged in a pull without the file":  {pulled, night, "2", true},
		"the record of an earlier version":      {earlier, night, "1", true},
		"a topology without programs, earlier":  {formulas, night, "1", true},
	} {
		if refused := Judge(city, &c.rec, []Program{own, c.now, fetched}, at(c.head)); (refused == nil) != c.ok {
			t.Errorf("%s: got refused = %v", name, refused)
		}
	}
}

func TestWithLine(t *testing.T) {
	files := func(what, line string, paths ...string) Program { return Program{What: what, Line: line, Files: paths} }
	agent := files("agent", "./agent.sh", "/c/a/agent.sh")
	agent.User = "agent x"
	store, folder := files("store", "a/keep.sh", "/c/a/keep.sh"), files("folder a", "a", "/c/a")
	all := []Program{agent, store, folder, files("folder b", "b", "/c/b")}
	var got []string
	for _, p := range WithLine(all, store.Line) {
		got = append(got, p.What)
	}
	if want := []string{"store", "folder a"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The path of a file from -f can contain a symbolic link.
func TestFileFromFByTwoPaths(t *testing.T) {
	dir := t.TempDir()
	city, link := filepath.Join(dir, "c"), filepath.Join(dir, "link")
	if err := os.Mkdir(city, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(city, link); err != nil {
		t.Fatal(err)
	}
	night := program("night", filepath.Join(city, "night.toml"))
	night.With = []string{filepath.Join(link, "night.toml")}
	if err := os.WriteFile(night.With[0], nil, 0o600); err != nil {
		t.Fatal(err)
	}
	heads := map[string]Head{city: {Commit: "1"}}
	rec := NewRecord(city, []Program{night}, heads, time.Now())
	night.Line, night.With = "edited", night.From
	if refused := Judge(city, &rec, []Program{night}, heads); refused != nil {
		t.Error(refused)
	}
}

func TestZeroGrantRefuses(t *testing.T) {
	if (Grant{}).Err() == nil {
		t.Error("the zero Grant allows programs")
	}
}

func TestSum(t *testing.T) {
	p := program("x", "/a")
	same, other, script := p, p, p
	same.At, same.From = "city.toml:9:1", []string{"/b"}
	other.Line = "y"
	script.Sums = []string{"1"}
	if p.Sum() != same.Sum() || p.Sum() == other.Sum() || p.Sum() == script.Sum() {
		t.Error("Sum does not depend on the program")
	}
}

func env(pairs ...string) func(string) string {
	return func(name string) string {
		for _, kv := range pairs {
			if value, ok := strings.CutPrefix(kv, name+"="); ok {
				return value
			}
		}
		return ""
	}
}

func unchanged(all []Program) func() ([]Program, bool) {
	return func() ([]Program, bool) { return all, true }
}

func TestLedger(t *testing.T) {
	state, city := t.TempDir(), t.TempDir()
	programs := func() ([]Program, error) {
		return []Program{program("x", filepath.Join(city, "city.toml"))}, nil
	}
	l := Open(env("XDG_STATE_HOME="+state), nil)
	if l.Check(city, programs).Err() == nil {
		t.Fatal("a city without a record is trusted")
	}
	all, _ := programs()
	if err := l.Trust(city, all, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := l.Check(city, programs).Err(); err != nil {
		t.Error(err)
	}
	if err := Open(env("HOME="+state), nil).Check(city, programs).Err(); err == nil {
		t.Error("another user's record was used")
	}
	fresh := append(all, program("y", filepath.Join(city, "city.toml")))
	if err := l.Extend(city, fresh, unchanged(fresh)); err != nil {
		t.Error(err)
	}
	if rec, err := l.Load(city); err != nil || len(rec.Programs) != 2 {
		t.Error(rec, err)
	}
	if list, err := l.List(); err != nil || len(list) != 1 || list[0].Path != city {
		t.Error(list, err)
	}
	if was, err := l.Revoke(city); !was || err != nil {
		t.Error(was, err)
	}
	if l.Check(city, programs).Err() == nil {
		t.Error("a city is trusted after its trust was revoked")
	}
	for name, l := range map[string]*Ledger{
		"all":    Open(env("GCITY_TRUST=all"), nil),
		"folder": Open(env(), func() []string { return []string{filepath.Dir(city)} }),
		"itself": Open(env(), func() []string { return []string{city} }),
	} {
		if err := l.Check(city, programs).Err(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if Open(env("GCITY_TRUST=1"), func() []string { return []string{city[:len(city)-1]} }).Check(city, programs).Err() == nil {
		t.Error("a city is trusted because of a part of a folder's name, or an invalid GCITY_TRUST")
	}
}

// A record that another user can write is not used.
func TestLedgerRefusesForeignRecords(t *testing.T) {
	l, city := Open(env("XDG_STATE_HOME="+t.TempDir()), nil), t.TempDir()
	if err := l.Trust(city, nil, time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(l.file(city), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Load(city); err == nil || !strings.Contains(err.Error(), "chmod go-w") {
		t.Errorf("a record with mode 0666 was used: %v", err)
	}
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	c := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
	c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

func TestCheckouts(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	origin, dir := t.TempDir(), filepath.Join(t.TempDir(), "clone")
	git(t, origin, "init", "-q", "-b", "main")
	commit := func(at, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(at, "city.toml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		git(t, at, "add", ".")
		git(t, at, "commit", "-qm", text)
	}
	head := func() Head {
		t.Helper()
		h, is := Heads(filepath.Join(dir, "sub"), nil)[dir]
		if !is || h.Commit == "" {
			t.Fatalf("%s is not a checkout", dir)
		}
		return h
	}
	commit(origin, "1")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Join(origin, "city.toml"), link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{origin, filepath.Join(origin, "city.toml"), link} {
		if _, is := Heads(t.TempDir(), []Program{{Files: []string{path}}})[origin]; !is {
			t.Errorf("the checkout of %s was not found", path)
		}
	}
	git(t, t.TempDir(), "clone", "-q", origin, dir)
	cloned := head().Commit
	if got := Origin(dir); got != origin {
		t.Errorf("origin: got %q", got)
	}
	commit(dir, "mine")
	mine := head()
	if mine.Commit == cloned || !mine.Since(cloned) {
		t.Error("a local commit counts as a foreign commit")
	}
	git(t, dir, "reset", "-q", "--hard", cloned)
	commit(origin, "2")
	git(t, dir, "pull", "-q", "--ff-only")
	pulled := head()
	if pulled.Commit == cloned || pulled.Since(cloned) {
		t.Error("a pull counts as a local commit")
	}
	commit(dir, "mine again")
	if head().Since(cloned) {
		t.Error("a commit after a pull hides the pull")
	}
	git(t, dir, "pack-refs", "--all")
	if head().Commit == "" {
		t.Error("packed refs were not read")
	}
	tree := filepath.Join(t.TempDir(), "tree")
	git(t, dir, "worktree", "add", "-q", tree, "-b", "other")
	if Heads(tree, nil)[tree].Commit != head().Commit {
		t.Error("the commit of a worktree was not read")
	}
	for _, name := range append(interrupted(), "index.lock", "HEAD.lock") {
		file := filepath.Join(dir, ".git", name)
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if !head().Busy {
			t.Errorf("a checkout with %s does not count as busy", name)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
	}
	if head().Busy {
		t.Error("a checkout that git does not write to counts as busy")
	}
}

// A pull writes the files and the index before it moves HEAD. In between, the files look like edits by the user.
func TestPullIsNotAnEdit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	file, index := filepath.Join(dir, "city.toml"), filepath.Join(dir, ".git", "index")
	git(t, dir, "init", "-q", "-b", "main")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "add", ".")
	git(t, dir, "commit", "-qm", "1")
	replaced := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC) // the time at which a synctest bubble begins
	for name, c := range map[string]struct {
		indexed time.Time
		pulled  bool // HEAD moves while gcity waits
		busy    bool // git replaces the index again and again
		allowed bool
	}{
		"edit":             {replaced.Add(-time.Minute), false, false, true},
		"edit after add":   {replaced, false, false, true},
		"pull":             {replaced, true, false, false},
		"index stays new":  {replaced, false, true, false},
		"clock set back":   {replaced.Add(time.Hour), false, false, true},
		"pull after that":  {replaced.Add(time.Hour), true, false, false},
		"future stays new": {replaced.Add(time.Hour), false, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := Open(env("XDG_STATE_HOME="+t.TempDir()), nil)
				if err := l.Trust(dir, nil, time.Now()); err != nil {
					t.Fatal(err)
				}
				if err := os.Chtimes(index, c.indexed, c.indexed); err != nil {
					t.Fatal(err)
				}
				if c.busy {
					done := make(chan struct{})
					defer close(done)
					go keepReplacing(t, index, c.indexed, done)
				}
				if c.pulled {
					pulled := commitTree(t, dir)
					defer time.AfterFunc(settleTime/2, func() {
						ref := filepath.Join(dir, ".git", "refs", "heads", "main")
						if err := os.WriteFile(ref, []byte(pulled), 0o600); err != nil {
							t.Error(err)
						}
					}).Stop()
				}
				fresh := []Program{program("x", file)}
				err := l.Check(dir, func() ([]Program, error) { return fresh, nil }).Err()
				if (err == nil) != c.allowed {
					t.Errorf("check: %v", err)
				}
				if err := l.Extend(dir, fresh, unchanged(fresh)); err != nil {
					t.Error(err)
				}
				if rec, err := l.Load(dir); err != nil || (len(rec.Programs) == 1) != c.allowed {
					t.Error(rec, err)
				}
			})
		})
	}
}

// During a rebase, and with a lock file that a killed git command has left, an edit is rejected without a wait.
func TestNoWaitForUnfinishedGit(t *testing.T) {
	dir := t.TempDir()
	gitDir := filepath.Join(dir, ".git")
	file := filepath.Join(dir, "city.toml")
	if err := os.Mkdir(gitDir, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"rebase-merge", "index.lock"} {
		synctest.Test(t, func(t *testing.T) {
			began := time.Now()
			for made, age := range map[string]time.Duration{"index": 0, name: settleLimit} {
				path := filepath.Join(gitDir, made)
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
				if age == 0 && name == "index.lock" {
					age = settleTime // a new index is a reason to wait
				}
				at := began.Add(-age)
				if err := os.Chtimes(path, at, at); err != nil {
					t.Fatal(err)
				}
				defer os.Remove(path)
			}
			l := Open(env("XDG_STATE_HOME="+t.TempDir()), nil)
			if err := l.Trust(dir, nil, began); err != nil {
				t.Fatal(err)
			}
			fresh := func() ([]Program, error) { return []Program{program("x", file)}, nil }
			if err := l.Check(dir, fresh).Err(); err == nil || time.Now() != began {
				t.Errorf("%s: %v after %s", name, err, time.Since(began))
			}
		})
	}
}

// A checkout can contain files of another commit although HEAD has not moved.
func TestMoved(t *testing.T) {
	dir := t.TempDir()
	gitDir := filepath.Join(dir, ".git")
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(gitDir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(gitDir, 0o700); err != nil {
		t.Fatal(err)
	}
	write("HEAD", "1")
	l := Open(env("XDG_STATE_HOME="+t.TempDir()), nil)
	if err := l.Trust(dir, nil, time.Now()); err != nil {
		t.Fatal(err)
	}
	if l.Moved(dir) {
		t.Error("a checkout at the recorded commit counts as moved")
	}
	for _, name := range []string{"index.lock", "MERGE_HEAD", "index"} {
		write(name, "")
		if !l.Moved(dir) {
			t.Errorf("a checkout with a new %s does not count as moved", name)
		}
		if err := os.Remove(filepath.Join(gitDir, name)); err != nil {
			t.Fatal(err)
		}
	}
	write("HEAD", "2")
	if !l.Moved(dir) {
		t.Error("a checkout at another commit does not count as moved")
	}
}

// keepReplacing changes the time of a git index at short intervals, as if git replaced it, until done is closed.
func keepReplacing(t *testing.T, index string, at time.Time, done <-chan struct{}) {
	tick := time.NewTicker(settleTime / 4)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		at = at.Add(settleTime / 4)
		if err := os.Chtimes(index, at, at); err != nil {
			t.Error(err)
		}
	}
}

// A program that a pull adds after the configuration was read is not trusted, whenever the pull moves HEAD.
func TestPullAfterReading(t *testing.T) {
	for name, early := range map[string]bool{"before the heads are read": true, "with the programs": false} {
		t.Run(name, func(t *testing.T) {
			l, dir := Open(env("XDG_STATE_HOME="+t.TempDir()), nil), t.TempDir()
			file, head := filepath.Join(dir, "city.toml"), filepath.Join(dir, ".git", "HEAD")
			move := func(commit string) {
				if err := os.WriteFile(head, []byte(commit), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Mkdir(filepath.Dir(head), 0o700); err != nil {
				t.Fatal(err)
			}
			move("1")
			old, pulled := program("old", file), program("pulled", file)
			known := []Program{old}
			if err := l.Trust(dir, known, time.Now()); err != nil {
				t.Fatal(err)
			}
			if early {
				move("2")
			} else {
				known = append(known, program("edited", file))
			}
			err := l.Extend(dir, known, func() ([]Program, bool) {
				if early {
					return append(known, pulled), true
				}
				defer move("2")
				return []Program{old}, true
			})
			if err != nil {
				t.Error(err)
			}
			if l.Check(dir, func() ([]Program, error) { return []Program{old, pulled}, nil }).Err() == nil {
				t.Error("the pulled program is trusted")
			}
		})
	}
}

// If the user revokes the trust while Extend waits for git, the city stays untrusted.
func TestRevokeDuringExtend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, dir := Open(env("XDG_STATE_HOME="+t.TempDir()), nil), t.TempDir()
		index := filepath.Join(dir, ".git", "index")
		if err := os.Mkdir(filepath.Dir(index), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(index, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(index, time.Now(), time.Now()); err != nil {
			t.Fatal(err)
		}
		if err := l.Trust(dir, nil, time.Now()); err != nil {
			t.Fatal(err)
		}
		edited := []Program{program("edited", filepath.Join(dir, "city.toml"))}
		extended := make(chan error)
		go func() { extended <- l.Extend(dir, edited, unchanged(edited)) }()
		synctest.Wait() // until Extend waits for git
		select {
		case err := <-extended:
			t.Fatalf("Extend did not wait: %v", err)
		default:
		}
		if was, err := l.Revoke(dir); !was || err != nil {
			t.Error(was, err)
		}
		if err := <-extended; err != nil {
			t.Error(err)
		}
		if rec, err := l.Load(dir); rec != nil || err != nil {
			t.Errorf("got %+v, %v; want no record", rec, err)
		}
	})
}

// If there is no place for the record, the errors name the variables that select one.
func TestLedgerWithoutFolder(t *testing.T) {
	env := func(vars map[string]string) func(string) string {
		return func(name string) string { return vars[name] }
	}
	city := t.TempDir()
	programs := func() ([]Program, error) { return nil, nil }
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	nowhere := Open(env(nil), nil)
	for what, err := range map[string]error{
		"check without HOME": nowhere.Check(city, programs).Err(),
		"trust without HOME": nowhere.Trust(city, nil, time.Now()),
		"HOME not a folder":  Open(env(map[string]string{"HOME": file}), nil).Trust(city, nil, time.Now()),
	} {
		if err == nil || !strings.Contains(err.Error(), "XDG_STATE_HOME") ||
			!strings.Contains(err.Error(), "GCITY_TRUST=all") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// Revoking the trust in a city without a record does not create a file.
func TestRevokeWithoutRecord(t *testing.T) {
	l := Open(env("XDG_STATE_HOME="+t.TempDir()), nil)
	if err := l.Trust("/c/a", nil, time.Now()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadDir(l.dir)
	if err != nil {
		t.Fatal(err)
	}
	if was, err := l.Revoke("/c/b"); was || err != nil {
		t.Errorf("got %v, %v", was, err)
	}
	if after, err := os.ReadDir(l.dir); err != nil || len(after) != len(before) {
		t.Errorf("got files %v, %v; want %v", after, err, before)
	}
}

// A revocation waits while another process changes the record.
func TestRevokeWaitsForTheLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, dir := Open(env("XDG_STATE_HOME="+t.TempDir()), nil), t.TempDir()
		if err := l.Trust(dir, nil, time.Now()); err != nil {
			t.Fatal(err)
		}
		revoked := make(chan error)
		if err := l.locked(dir, func() error {
			go func() { _, err := l.Revoke(dir); revoked <- err }()
			synctest.Wait()
			rec, err := l.Load(dir)
			if rec == nil {
				t.Error("the record was removed while it was locked")
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if err := <-revoked; err != nil {
			t.Error(err)
		}
		if rec, err := l.Load(dir); rec != nil || err != nil {
			t.Errorf("got %+v, %v; want no record", rec, err)
		}
	})
}

func commitTree(t *testing.T, dir string) string {
	t.Helper()
	c := exec.Command("git", "-C", dir, "-c", "user.name=a", "-c", "user.email=a@b", "commit-tree", "-p", "HEAD",
		"-m", "2", "HEAD^{tree}")
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func TestScripts(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, "run.sh"), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range []string{"./run.sh", "sh run.sh x", "bash -c 'exec ./run.sh'", "A=1;run.sh|cat", filepath.Join(dir, "run.sh")} {
		p := Program{Line: line}
		write("1")
		before := p.WithScripts("", dir)
		write("2")
		after := p.WithScripts("", dir)
		if len(before.Files) != 1 || before.Files[0] != filepath.Join(dir, "run.sh") || before.Sum() == after.Sum() {
			t.Errorf("%s: got %v, then %v", line, before, after)
		}
	}
	for name, lines := range map[string][]string{
		"sub/run.sh": {"$AUTOMATION_DIR/run.sh", "${AUTOMATION_DIR}/run.sh x", `"$AUTOMATION_DIR"/run.sh`,
			`sh -c "exec $AUTOMATION_DIR/run.sh"`, "$GC_CITY_PATH/sub/run.sh", `"$(sh $A/run.sh)"`},
		"my dir/s.sh": {`"my dir/s.sh"`, `my\ dir/s.sh`, `sh -c 'exec "my dir/s.sh"'`, `'` + dir + `/my dir/s.sh' x`},
		"up.sh":       {"$AUTOMATION_DIR/../up.sh", "$AUTOMATION_DIR/..//up.sh"},
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o700); err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			p := Program{Line: line}.WithScripts(dir, filepath.Join(dir, "sub"))
			if !slices.Contains(p.Files, path) {
				t.Errorf("%s: got the files %v, want %s", line, p.Files, path)
			}
		}
	}
	p := Program{Line: "cat /etc/hostname ../x"}
	if p = p.WithScripts(dir); len(p.Files) != 0 {
		t.Errorf("files outside the folders: got %v, want none", p.Files)
	}
}
