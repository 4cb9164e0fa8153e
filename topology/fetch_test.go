package topology

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// environ returns an environment in which the user's git settings have no effect.
func environ(t testing.TB) []string {
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_DIR=/nowhere"}
}

func do(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func repository(t testing.TB) (dir, commit string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir = filepath.Join(t.TempDir(), "repo")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	do(t, dir, "init", "--quiet")
	return dir, change(t, dir, "one")
}

func change(t testing.TB, dir, text string) string {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "topology.toml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	do(t, dir, "add", ".")
	do(t, dir, "commit", "--quiet", "-m", text)
	return do(t, dir, "rev-parse", "HEAD")
}

func limited(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func content(t testing.TB, city string, w Remote) string {
	t.Helper()
	dir, err := Fetched(city, w)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "topology.toml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A copy stays at the locked commit until an update is requested. A city with the lock file but without a copy gets the
// same commit.
func TestFetch(t *testing.T) {
	repo, first := repository(t)
	city, env := t.TempDir(), environ(t)
	w := Remote{Name: "base", Source: "file://" + repo, From: "file://" + repo, Ref: "main"}
	if _, err := Fetched(city, w); err == nil || err.Error() != "topology \"base\" is not fetched; run `gcity topology fetch base`" {
		t.Errorf("%v", err)
	}
	// this folder simulates the remains of a killed fetch
	if err := os.MkdirAll(filepath.Join(city, ".gc", "topologies", ".new-1.old", "x"), 0o700); err != nil {
		t.Fatal(err)
	}
	got, err := Fetch(limited(t), city, w, false, env)
	if err != nil || shown(got) != (Result{Name: "base", Commit: first}) || content(t, city, w) != "one" {
		t.Fatalf("%+v, %v", got, err)
	}
	want := "# The commits of this city's topologies. `gcity topology fetch` writes this file; commit it together with city.toml.\n\n" +
		"[topologies.\"base\"]\nsource = \"file://" + repo + "\"\nref = \"main\"\ncommit = \"" + first + "\"\n"
	if lock, err := os.ReadFile(filepath.Join(city, LockFile)); err != nil || string(lock) != want {
		t.Errorf("%s, %v", lock, err)
	}
	second := change(t, repo, "two")
	if err := os.RemoveAll(Folder(city, "base")); err != nil {
		t.Fatal(err)
	}
	if got, err = Fetch(limited(t), city, w, false, env); err != nil || got.Commit != first || content(t, city, w) != "one" {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = Fetch(limited(t), city, w, true, env); err != nil || shown(got) != (Result{Name: "base", Commit: second, Was: first}) || content(t, city, w) != "two" {
		t.Errorf("%+v, %v", got, err)
	}
	for what, harm := range map[string]func(path string) error{
		"changed by hand": func(path string) error { return os.WriteFile(path, []byte("three"), 0o644) },
		"taken away":      os.Remove,
	} {
		if err := harm(filepath.Join(Folder(city, "base"), "topology.toml")); err != nil {
			t.Fatal(err)
		}
		if got, err = Fetch(limited(t), city, w, false, env); err != nil || shown(got) != (Result{Name: "base", Commit: second, Was: second, Repaired: true}) || content(t, city, w) != "two" {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
		if got, err = Fetch(limited(t), city, w, false, env); err != nil || got.Repaired {
			t.Errorf("%s: Fetch after the repair: got %+v, %v", what, got, err)
		}
	}
	do(t, repo, "reset", "--quiet", "--hard", first) // no branch contains the pinned commit
	if err := os.RemoveAll(Folder(city, "base")); err != nil {
		t.Fatal(err)
	}
	if got, err = Fetch(limited(t), city, w, false, env); err != nil || got.Commit != second || content(t, city, w) != "two" {
		t.Errorf("%+v, %v", got, err)
	}
	entries, err := os.ReadDir(filepath.Join(city, ".gc", "topologies"))
	if err != nil || len(entries) != 2 { // a lock file and the copy
		t.Errorf("%v, %v", entries, err)
	}
	if err := os.RemoveAll(repo); err != nil {
		t.Fatal(err)
	}
	// The repository no longer exists. It is not needed, because the copy is up to date.
	if got, err = Fetch(limited(t), city, w, false, env); err != nil || got.Commit != second {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err = Fetch(limited(t), city, w, true, env); err == nil || content(t, city, w) != "two" {
		t.Errorf("%v", err)
	}
}

// If the lock file cannot be written, the copy stays at the locked commit.
func TestLockCannotBeWritten(t *testing.T) {
	repo, first := repository(t)
	city, env := t.TempDir(), environ(t)
	w := Remote{Name: "base", Source: "file://" + repo, From: "file://" + repo, Ref: "main"}
	if _, err := Fetch(limited(t), city, w, false, env); err != nil {
		t.Fatal(err)
	}
	// the name is so long that no temporary file can be created next to the file, even by root
	path := filepath.Join(city, LockFile)
	long := filepath.Join(city, strings.Repeat("x", 250))
	if err := os.Rename(path, long); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(long, path); err != nil {
		t.Fatal(err)
	}
	change(t, repo, "two")
	if _, err := Fetch(limited(t), city, w, true, env); err == nil ||
		!strings.Contains(err.Error(), "cannot write "+LockFile) {
		t.Errorf("Fetch without a writable lock file: %v", err)
	}
	if got := content(t, city, w); got != "one" {
		t.Errorf("the copy contains %q", got)
	}
	entries, err := os.ReadDir(filepath.Join(city, ".gc", "topologies"))
	if err != nil || len(entries) != 2 { // a lock file and the copy
		t.Errorf("%v, %v", entries, err)
	}
	if err := errors.Join(os.Remove(path), os.Rename(long, path)); err != nil {
		t.Fatal(err)
	}
	if got, err := Fetch(limited(t), city, w, false, env); err != nil || got.Commit != first {
		t.Errorf("%+v, %v", got, err)
	}
	second := do(t, repo, "rev-parse", "HEAD")
	if got, err := Fetch(limited(t), city, w, true, env); err != nil || got.Commit != second {
		t.Errorf("%+v, %v", got, err)
	}
}

// A ref may be a branch, a tag, a full or abbreviated commit, or empty. Each selects the right commit.
func TestRefs(t *testing.T) {
	if testing.Short() {
		t.Skip("runs git dozens of times")
	}
	repo, first := repository(t)
	do(t, repo, "tag", "-a", "-m", "x", "v1")
	second := change(t, repo, "two")
	do(t, repo, "branch", "side/line")
	third := change(t, repo, "three")
	for ref, want := range map[string]string{"": third, "main": third, "v1": first, "side/line": second, first: first, second[:10]: second} {
		w := Remote{Name: "x", Source: repo, From: repo, Ref: ref}
		if got, err := Fetch(limited(t), t.TempDir(), w, false, environ(t)); err != nil || got.Commit != want {
			t.Errorf("%q: got %+v, %v, want %s", ref, got, err, want)
		}
	}
}

// shown returns the exported fields of a result.
func shown(r Result) Result {
	return Result{Name: r.Name, Commit: r.Commit, Was: r.Was, Repaired: r.Repaired}
}

// Undo restores the copy and the lock file, unless another fetch has changed them.
func TestUndo(t *testing.T) {
	repo, first := repository(t)
	city := t.TempDir()
	w := Remote{Name: "base", Source: repo, From: repo, Ref: "main"}
	fetch := func() Result {
		t.Helper()
		r, err := Fetch(limited(t), city, w, true, environ(t))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	folders := func() int {
		all, _ := filepath.Glob(filepath.Join(city, ".gc", "topologies", "*"))
		return len(all)
	}
	fetch()
	change(t, repo, "two")
	r := fetch()
	if err := r.Undo(limited(t)); err != nil || content(t, city, w) != "one" {
		t.Errorf("%v", err)
	}
	if commit, err := Fetched(city, w); err != nil || head(Folder(city, "base")) != first {
		t.Errorf("%s, %v", commit, err)
	}
	early := fetch()
	change(t, repo, "three")
	late := fetch()
	if err := early.Undo(limited(t)); err == nil || content(t, city, w) != "three" {
		t.Errorf("undo after another fetch: %v", err)
	}
	late.Keep()
	if n := folders(); n != 2 { // a lock file and the copy
		t.Errorf("%d files are left", n)
	}
}

// A fetch of another topology does not remove the previous copy.
func TestUndoAfterAnotherTopology(t *testing.T) {
	repo, first := repository(t)
	city := t.TempDir()
	var all []Result
	for _, next := range []string{"two", "three"} {
		all = nil
		for _, name := range []string{"base", "base2"} {
			w := Remote{Name: name, Source: repo, From: repo, Ref: "main"}
			r, err := Fetch(limited(t), city, w, true, environ(t))
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, r)
		}
		change(t, repo, next)
	}
	for _, r := range all {
		if err := r.Undo(limited(t)); err != nil || head(Folder(city, r.Name)) != first {
			t.Errorf("%s: %v", r.Name, err)
		}
	}
}

// A copy is used only if the configuration, the lock file and the copy agree. If they differ, the error names the
// command to run.
func TestStale(t *testing.T) {
	repo, first := repository(t)
	second := change(t, repo, "two")
	city := t.TempDir()
	w := Remote{Name: "base", Source: "../repo", From: repo, Ref: "main"}
	if _, err := Fetch(limited(t), city, w, false, environ(t)); err != nil {
		t.Fatal(err)
	}
	refused := func(w Remote, want string) {
		t.Helper()
		if _, err := Fetched(city, w); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	moved, other := w, w
	moved.Source, other.Ref = "../moved", "v2"
	refused(moved, "topology \"base\" was fetched from \"../repo\", but its source is now \"../moved\"; run `gcity topology fetch base`")
	refused(other, "topology \"base\" was fetched at ref \"main\", but its ref is now \"v2\"; run `gcity topology fetch base`")
	do(t, Folder(city, "base"), "checkout", "--quiet", "--detach", first)
	refused(w, fmt.Sprintf("topology \"base\" is at commit %.12s, but topologies.lock pins %.12s; run `gcity topology fetch base`", first, second))
	states, err := States(city, []Remote{w, {Name: "never"}})
	if err != nil || states[0].Stale == "" || states[0].Commit != second || states[1].Stale != "is not fetched" {
		t.Errorf("%+v, %v", states, err)
	}
	if got, err := Fetch(limited(t), city, w, false, environ(t)); err != nil || shown(got) != (Result{Name: "base", Commit: second, Was: first}) {
		t.Errorf("%+v, %v", got, err)
	}
}

// A failed fetch reports the reason and changes nothing.
func TestFetchFails(t *testing.T) {
	repo, _ := repository(t)
	at := func(from, ref string) Remote { return Remote{Name: "x", Source: from, From: from, Ref: ref} }
	gone := filepath.Join(t.TempDir(), "gone")
	for _, c := range []struct {
		want Remote
		lock string
		says string
	}{
		{at(gone, ""), "", "git cannot read " + gone + ": git fetch: '" + gone + "' does not appear to be a git repository"},
		{at(repo, "v9"), "", "" + repo + " has no branch, tag or commit \"v9\""},
		{at("--upload-pack=touch /tmp/x", ""), "", "neither may start with"},
		{at(repo, "--all"), "", "neither may start with"},
		{at("ext::sh -c true", ""), "", "names a git helper program"},
		{at(repo, ""), "[topologies.x]\nsource = \"" + repo + "\"\ncommit = \"" + strings.Repeat("a", 40) + "\"\n", "no longer has commit aaaaaaaaaaaa, which topologies.lock pins; `gcity topology fetch x --update` fetches the newest"},
		{at(repo, ""), "[topologies.x]\ncommit = \"main\"\n", "topologies.lock:2:10: topologies.x.commit: is not a commit; remove the table, and run `gcity topology fetch` to write it again"},
		{at(repo, ""), "[topologies.x]\ncomit = \"\"\n", "topologies.lock:2:1: topologies.x.comit: unknown key; did you mean \"commit\"?"},
	} {
		city := t.TempDir()
		lock := filepath.Join(city, LockFile)
		if c.lock != "" {
			if err := os.WriteFile(lock, []byte(c.lock), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Fetch(limited(t), city, c.want, false, environ(t)); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("got  %v\nwant %s", err, c.says)
		}
		entries, err := os.ReadDir(filepath.Join(city, ".gc", "topologies"))
		if err == nil && len(entries) > 1 || len(entries) == 1 && entries[0].Name() != ".lock" {
			t.Errorf("%s: left %v", c.says, entries)
		}
		if is, _ := os.ReadFile(lock); string(is) != c.lock {
			t.Errorf("lock file: got\n%s", is)
		}
	}
}

// A commit without a topology at the configured path is refused, and the old copy stays in use.
func TestFetchAcceptsOnlyTopologies(t *testing.T) {
	repo, first := repository(t)
	city, env := t.TempDir(), environ(t)
	w := Remote{Name: "base", Source: "file://" + repo, From: "file://" + repo, Ref: "main"}
	if _, err := Fetch(limited(t), city, w, false, env); err != nil {
		t.Fatal(err)
	}
	do(t, repo, "mv", "topology.toml", "other.toml")
	do(t, repo, "commit", "--quiet", "-m", "moved")
	_, err := Fetch(limited(t), city, w, true, env)
	if err == nil || !strings.Contains(err.Error(), "has no topology.toml; check the ref") ||
		!strings.HasSuffix(err.Error(), "; its copy is still at commit "+first[:12]) {
		t.Errorf("%v", err)
	}
	if lock, err := ReadLock(city); err != nil || lock["base"].Commit != first || content(t, city, w) != "one" {
		t.Errorf("%v, %v", lock, err)
	}
	w.Path = "deep"
	if _, err := Fetch(limited(t), city, w, false, env); err == nil || !strings.Contains(err.Error(), "commit "+first[:12]+" has no deep/topology.toml") ||
		!strings.Contains(err.Error(), "or run `gcity topology fetch base --update`") {
		t.Errorf("%v", err)
	}
	states, err := States(city, []Remote{w})
	if err != nil || !strings.HasPrefix(states[0].Stale, "has no deep/topology.toml at commit "+first[:12]) {
		t.Errorf("%+v, %v", states, err)
	}
}

// A shallow clone can be the source of a topology.
func TestFetchFromShallowClone(t *testing.T) {
	repo, _ := repository(t)
	newest := change(t, repo, "two")
	shallow := filepath.Join(t.TempDir(), "shallow")
	do(t, t.TempDir(), "clone", "--quiet", "--depth", "1", "file://"+repo, shallow)
	for _, ref := range []string{"", "main"} {
		city := t.TempDir()
		w := Remote{Name: "base", Source: shallow, From: shallow, Ref: ref}
		if got, err := Fetch(limited(t), city, w, false, environ(t)); err != nil || got.Commit != newest || content(t, city, w) != "two" {
			t.Errorf("ref %q: %+v, %v", ref, got, err)
		}
	}
}

// A server that asks for a login is reported as such.
func TestFetchAsksForALogin(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	defer server.Close()
	w := Remote{Name: "x", Source: server.URL + "/x.git", From: server.URL + "/x.git"}
	_, err := Fetch(limited(t), t.TempDir(), w, false, append(environ(t), "GIT_SSL_NO_VERIFY=true"))
	if err == nil || !strings.Contains(err.Error(), "the server asks for a login") {
		t.Errorf("%v", err)
	}
}

// git runs no hooks and does not prompt. A fetch from a server that does not respond ends at the caller's deadline.
func TestGitIsRestricted(t *testing.T) {
	repo, _ := repository(t)
	home := t.TempDir()
	mark := filepath.Join(home, "ran")
	hooks := filepath.Join(home, "hooks")
	if err := os.MkdirAll(hooks, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(hooks, "post-checkout"), []byte("#!/bin/sh\n: > "+mark+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[core]\nhooksPath = "+hooks+"\n[init]\ntemplateDir = "+home+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home}
	if _, err := Fetch(limited(t), t.TempDir(), Remote{Name: "x", Source: repo, From: repo}, false, env); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("git ran a hook")
	}
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
	defer cancel()
	url := "https://" + mute.Addr().String() + "/x"
	if _, err := Fetch(ctx, t.TempDir(), Remote{Name: "x", Source: url, From: url}, false, env); err == nil || !strings.Contains(err.Error(), "git did not finish") {
		t.Errorf("%v", err)
	}
}
