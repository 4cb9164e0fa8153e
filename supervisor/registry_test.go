package supervisor

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gcity/city"
	"gcity/internal/disk"
	"gcity/internal/toml"
)

func newHome(t testing.TB) Home {
	t.Helper()
	dir := t.TempDir()
	return Home{Dir: filepath.Join(dir, "home"), Run: filepath.Join(dir, "run")}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFindHome(t *testing.T) {
	own := t.TempDir()
	foreign := "/"
	if os.Getuid() == 0 {
		foreign = t.TempDir()
		if err := os.Chown(foreign, 65534, -1); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ env, dir, run, wrong string }{
		{"HOME=/home/x", "/home/x/.gc", "/home/x/.gc", ""},
		{"HOME=/home/x XDG_RUNTIME_DIR=" + own, "/home/x/.gc", own + "/gc", ""},
		{"HOME=/home/x XDG_RUNTIME_DIR=" + foreign, "/home/x/.gc", "/home/x/.gc", ""},
		{"HOME=/home/x XDG_RUNTIME_DIR=" + own + "/missing", "/home/x/.gc", "/home/x/.gc", ""},
		{"HOME=/home/x GC_HOME=/srv/gc/", "/srv/gc", "/srv/gc", ""},
		{"GC_HOME=/srv/gc XDG_RUNTIME_DIR=" + own, "/srv/gc", own + "/gc", ""},
		{"HOME=/home/x XDG_RUNTIME_DIR=run", "/home/x/.gc", "/home/x/.gc", ""},
		{"GC_HOME=srv HOME=/home/x", "", "", "must be the absolute path"},
		{"", "", "", "set GC_HOME or HOME"},
	} {
		env := map[string]string{}
		for pair := range strings.FieldsSeq(c.env) {
			k, v, _ := strings.Cut(pair, "=")
			env[k] = v
		}
		h, err := FindHome(func(k string) string { return env[k] })
		if c.wrong != "" {
			if err == nil || !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%s: %v", c.env, err)
			}
			continue
		}
		if err != nil || h.Dir != c.dir || h.Run != c.run {
			t.Errorf("%s: %+v, %v", c.env, h, err)
		}
	}
}

// The folders are accessible only to this user, even if they existed before.
func TestHomeIsPrivate(t *testing.T) {
	h := newHome(t)
	if err := os.Mkdir(h.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := h.Make(); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{h.Dir, h.Run} {
		if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", dir, info, err)
		}
	}
	file := Home{Dir: filepath.Join(h.Dir, "file"), Run: h.Run}
	write(t, file.Dir, "")
	if err := file.Make(); err == nil {
		t.Error("a file was accepted as a folder")
	}
}

// Entries can be added, renamed and removed. The path is the key, and names are unique. Other text in the file stays.
func TestRegistry(t *testing.T) {
	h, ctx := newHome(t), t.Context()
	if all, err := Read(h); err != nil || len(all) != 0 {
		t.Fatalf("%v, %v", all, err)
	}
	write(t, h.Registry(), "# my cities\n\n# the first\n[[cities]]\npath = \"/a\" # here\n\n# the second\n[[cities]]\npath = \"/b/\"\nname = \"b\"\n# the end\n")
	for _, e := range []Entry{{"/c \"x\"", "c"}, {"/c \"x\"", "c"}, {"/d", "d"}, {"/d", "dd"}} {
		if err := Add(ctx, h, e); err != nil {
			t.Fatal(err)
		}
	}
	err := Add(ctx, h, Entry{"/e", "b"})
	if p, ok := errors.AsType[*city.Error](err); !ok || p.Code != city.Conflict || !strings.Contains(p.Message, `"b" is taken by /b`) {
		t.Errorf("taken name: got %v", err)
	}
	if err == nil || !strings.Contains(err.Error(), "which no longer exists: if the city has moved to /e, run `gcity unregister /b` to free the name") {
		t.Errorf("name of a moved city: got %v", err)
	}
	there := t.TempDir()
	if err := NameConflict([]Entry{{there, "b"}}, Entry{"/e", "b"}); err == nil || !strings.Contains(err.Error(), "set a different [workspace] name") || strings.Contains(err.Error(), "gone") {
		t.Errorf("name of an existing city: got %v", err)
	}
	if err := Add(ctx, h, Entry{"/e", ".."}); err == nil {
		t.Error("an invalid name was accepted")
	}
	if was, err := Remove(ctx, h, "/b"); err != nil || !was {
		t.Errorf("%v, %v", was, err)
	}
	if was, err := Remove(ctx, h, "/b"); err != nil || was {
		t.Errorf("again: %v, %v", was, err)
	}
	data, err := os.ReadFile(h.Registry())
	want := "# my cities\n\n# the first\n[[cities]]\npath = \"/a\" # here\n\n# the second\n# the end\n\n[[cities]]\npath = \"/c \\\"x\\\"\"\nname = \"c\"\n\n[[cities]]\npath = \"/d\"\nname = \"dd\"\n"
	if err != nil || string(data) != want {
		t.Errorf("%v\n%s", err, data)
	}
	all, err := Read(h)
	if want := []Entry{{"/a", ""}, {"/c \"x\"", "c"}, {"/d", "dd"}}; err != nil || !slices.Equal(all, want) {
		t.Errorf("%v, %v", all, err)
	}
	if info, err := os.Stat(h.Registry()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// Removing the last entry keeps the comments below it.
func TestRegistryKeepsCommentsAtTheEnd(t *testing.T) {
	h := newHome(t)
	write(t, h.Registry(), "[[cities]]\npath = \"/a\"\n\n[[cities]]\npath = \"/b\" # here\n\n# [[cities]]\n# path = \"/later\"\n")
	for _, path := range []string{"/b", "/a"} {
		if was, err := Remove(t.Context(), h, path); err != nil || !was {
			t.Fatal(was, err)
		}
		if data, err := os.ReadFile(h.Registry()); err != nil || !strings.HasSuffix(string(data), "\n# [[cities]]\n# path = \"/later\"\n") {
			t.Errorf("without %s: %v\n%s", path, err, data)
		}
	}
}

// A registry is not written if another program has changed it since it was read.
func TestRegistryChangedByHand(t *testing.T) {
	h := newHome(t)
	const byHand = "# by hand\n"
	err := edit(t.Context(), h, func(data []byte, all []Entry) ([]byte, error) {
		write(t, h.Registry(), byHand)
		return addition(Entry{"/a", "a"})(data, all)
	})
	if p, ok := errors.AsType[*city.Error](err); !ok || p.Code != city.Conflict {
		t.Errorf("got %v, want a conflict", err)
	}
	if data, err := os.ReadFile(h.Registry()); err != nil || string(data) != byHand {
		t.Errorf("%v\n%s", err, data)
	}
}

// A file that uses inline tables is rewritten as a whole, unless it has comments.
func TestInlineRegistry(t *testing.T) {
	h := newHome(t)
	write(t, h.Registry(), "cities = [{path = \"/a\"}, {path = \"/b\", name = \"b\"}]\n")
	if was, err := Remove(t.Context(), h, "/a"); err != nil || !was {
		t.Fatal(was, err)
	}
	if all, err := Read(h); err != nil || !slices.Equal(all, []Entry{{"/b", "b"}}) {
		t.Errorf("%v, %v", all, err)
	}
	const commented = "cities = [\n  {path = \"/a\"}, # first\n]\n"
	write(t, h.Registry(), commented)
	if err := Add(t.Context(), h, Entry{"/b", "b"}); err == nil || !strings.Contains(err.Error(), "without removing its comments") {
		t.Errorf("adding: got %v", err)
	}
	if _, err := Remove(t.Context(), h, "/a"); err == nil || !strings.Contains(err.Error(), "without removing its comments") {
		t.Errorf("removing: got %v", err)
	}
	if data, err := os.ReadFile(h.Registry()); err != nil || string(data) != commented {
		t.Errorf("%v\n%s", err, data)
	}
}

func TestBrokenRegistry(t *testing.T) {
	h := newHome(t)
	for text, want := range map[string]string{
		"[[cities]]\npath = \"rel\"\n":                                                       `:2:8: cities.path: is "rel"; it must be absolute`,
		"[[cities]]\nname = \"x\"\n":                                                         ":1:1: cities: path is missing",
		"[[cities]]\npath = \"/a\"\nnmae = \"x\"\n":                                          `:3:1: cities.nmae: unknown key; did you mean "name"?`,
		"[[city]]\npath = \"/a\"\n":                                                          ":1:1: city: unknown key",
		"[[cities]]\npath = \"/a\"\nname = \"-x\"\n":                                         ":3:8: cities.name: ",
		"[[cities]]\npath = \"/a\"\n[[cities]]\npath = \"/a/\"\n":                            ":4:8: cities.path: /a is registered twice",
		"[[cities]]\npath = \"/a\"\nname = \"x\"\n[[cities]]\npath = \"/b\"\nname = \"x\"\n": `:6:8: cities.name: "x" is already the name of /a`,
		"[[cities]]\npath = /a\n":                                                            ":2:8: ",
	} {
		write(t, h.Registry(), text)
		_, err := Read(h)
		if err == nil || !strings.HasPrefix(err.Error(), h.Registry()+want) {
			t.Errorf("%q: %v", text, err)
		}
		if err := Add(t.Context(), h, Entry{"/z", "z"}); err == nil {
			t.Errorf("%q was edited", text)
		}
		if data, err := os.ReadFile(h.Registry()); err != nil || string(data) != text {
			t.Errorf("%q became %q", text, data)
		}
	}
}

// Concurrent changes lose no entries.
func TestRegistryIsLocked(t *testing.T) {
	h := newHome(t)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if err := Add(t.Context(), h, Entry{fmt.Sprintf("/c%d", i), fmt.Sprintf("c%d", i)}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if all, err := Read(h); err != nil || len(all) != 20 {
		t.Errorf("%d, %v", len(all), err)
	}
}

func TestNamed(t *testing.T) {
	got := Named([]Entry{{"/x/a", ""}, {"/y/a", ""}, {"/z", "b"}, {"/w/b", ""}, {"/q/\x01", ""}}, func(path string) string {
		return map[string]string{"/x/a": "a", "/w/b": "b"}[path]
	})
	want := []Entry{{"/x/a", "a"}, {"/y/a", "a-2"}, {"/z", "b"}, {"/w/b", "b-2"}, {"/q/\x01", "city-2"}}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestSettings(t *testing.T) {
	h := newHome(t)
	if s, err := ReadSettings(h); err != nil || !s.equal(Settings{Port: 8080, AnyPort: true, Bind: "127.0.0.1", Patrol: 10 * time.Second, TokenFile: filepath.Join(h.Dir, "api.token"), MakeToken: true}) {
		t.Errorf("%+v, %v", s, err)
	}
	write(t, h.Settings(), `[supervisor]
port = 0
bind = "0.0.0.0"
patrol_interval = "1m"
token_file = "token"
read_token_file = "read"
hosts = ["city.example.org"]
[tenants.b]
cities = ["x"]
token_file = "/t/b"
[tenants.acme]
cities = ["one", "two"]
token_file = "acme"
max_agents = 50
max_cities = 5
`)
	s, err := ReadSettings(h)
	want := Settings{Bind: "0.0.0.0", Patrol: time.Minute, TokenFile: filepath.Join(h.Dir, "token"), ReadFile: filepath.Join(h.Dir, "read"), Hosts: []string{"city.example.org"},
		Tenants: []Tenant{{Name: "acme", Cities: []string{"one", "two"}, TokenFile: filepath.Join(h.Dir, "acme"), Socket: h.tenantSocket("acme"), MaxAgents: 50, MaxCities: 5},
			{Name: "b", Cities: []string{"x"}, TokenFile: "/t/b", Socket: h.tenantSocket("b")}}}
	if err != nil || !s.equal(want) {
		t.Errorf("%+v, %v", s, err)
	}
	for text, want := range map[string]string{
		"[supervisor]\nprot = 1\n":                          `:2:1: supervisor.prot: unknown key; did you mean "port"?`,
		"[supervisor]\nport = 70000\n":                      ":2:8: supervisor.port: is 70000",
		"[supervisor]\nbind = \"here\"\n":                   `:2:8: supervisor.bind: "here" is not an IP address`,
		"[supervisor]\nbind = \"0.0.0.0\"\ntoken = false\n": `:2:8: supervisor.bind: is "0.0.0.0", which other machines can reach`,
		"[supervisor]\ntoken = false\ntoken_file = \"t\"\n": ":2:9: supervisor.token: is false, but a token file is set",
		"[supervisor]\npatrol_interval = \"10\"\n":          ":2:19: supervisor.patrol_interval: ",
		"[supervisor]\npatrol_interval = \"10ms\"\n":        ":2:19: supervisor.patrol_interval: is 10ms; it must be at least 1s",
		"[tenants.a]\ncities = [\"x\"]\n":                   ":1:1: tenants.a: token_file and token are both missing",
		"[tenants.\"a b\"]\ntoken_file = \"t\"\n":           `:1:1: tenants.a b: invalid tenant name "a b"`,
		"[tenants.a]\ntoken_file = \"t\"\nagents = 1\n":     ":3:1: tenants.a.agents: unknown key",
		"[tenants.a]\ntoken_file = \"t\"\ncities = [\"x\"]\n[tenants.b]\ntoken_file = \"u\"\ncities = [\"x\"]\n": `:6:11: tenants.b.cities: the city "x" already belongs to a`,
	} {
		write(t, h.Settings(), text)
		if _, err := ReadSettings(h); err == nil || !strings.HasPrefix(err.Error(), h.Settings()+want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// A second supervisor for the same home or socket gets an error that names the first supervisor.
func TestHold(t *testing.T) {
	t.Parallel()
	h := newHome(t)
	if _, runs, err := Find(h); runs || err != nil {
		t.Fatal(runs, err)
	}
	first, err := Acquire(h, "v1")
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := Home{Dir: h.Dir, Run: h.Dir}
	if r, runs, err := Find(elsewhere); !runs || err != nil || r.PID != os.Getpid() || r.Socket != h.Socket() || r.Version != "v1" {
		t.Errorf("%+v, %v, %v", r, runs, err)
	}
	for _, other := range []Home{h, elsewhere, {Dir: h.Dir + "2", Run: h.Run}} {
		_, err := Acquire(other, "v2")
		if r, ok := errors.AsType[*RunningError](err); !ok || r.PID != os.Getpid() || r.Home != h.Dir {
			t.Errorf("%+v: %v", other, err)
		}
	}
	first.Release()
	if _, runs, err := Find(h); runs || err != nil {
		t.Error(runs, err)
	}
	second, err := Acquire(h, "v2")
	if err != nil {
		t.Fatal(err)
	}
	second.Release()
}

// No content of the file causes a panic. All problems have a position. A registry that was read can be written and read
// again.
func FuzzRegistry(f *testing.F) {
	f.Add([]byte("[[cities]]\npath = \"/a\"\nname = \"a\"\n# x\n[[cities]]\npath = '/b'\n"), "/a")
	f.Add([]byte("cities = [{path = \"/a\"}]"), "/a")
	f.Add([]byte("[[cities]]\npath = \"/\\u0001\"\n[cities.name]\n"), "/\x01")
	f.Fuzz(func(t *testing.T, data []byte, path string) {
		all, err := parseRegistry("f", data)
		if p, ok := errors.AsType[toml.Problems](err); err != nil && (!ok || len(p) == 0) {
			t.Fatalf("%v", err)
		}
		if err != nil {
			return
		}
		rest := slices.DeleteFunc(slices.Clone(all), func(e Entry) bool { return e.Path == path })
		unchanged := func(err error) bool { return err != nil && slices.Contains(data, '#') }
		if out, err := removeEntry(data, all, path); !unchanged(err) {
			if now, wrong := parseRegistry("f", out); err != nil || wrong != nil || !slices.Equal(now, rest) {
				t.Fatalf("without %q: got %q, %v, %v", path, now, err, wrong)
			}
		}
		e := Entry{filepath.Clean("/new/" + path), "new"}
		if strings.ContainsRune(path, 0) || slices.ContainsFunc(all, func(o Entry) bool { return o.Path == e.Path || o.Name == e.Name }) {
			return
		}
		if strings.ToValidUTF8(path, "") != path {
			return
		}
		if out, err := addEntry(data, all, e); !unchanged(err) {
			if now, wrong := parseRegistry("f", out); err != nil || wrong != nil || !slices.Contains(now, e) {
				t.Fatalf("with %q: got %q, %v, %v\n%s", e, now, err, wrong, out)
			}
		}
	})
}

// The record of a killed supervisor is ignored, even if another process now has the same pid. A stop must not signal
// that process.
func TestOtherProcessIsNotSupervisor(t *testing.T) {
	h := newHome(t)
	hold, err := Acquire(h, "v1")
	if err != nil {
		t.Fatal(err)
	}
	r, err := readRecord(h.record())
	if err != nil {
		t.Fatal(err)
	}
	hold.Release()
	r.PID, r.Start = os.Getppid(), 1 // the parent might have started in the same tick as this process
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	write(t, h.record(), string(data))
	look, err := disk.TryLock(filepath.Join(h.Dir, "supervisor.lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer look.Release()
	if r, runs, err := Find(h); runs || err != nil {
		t.Errorf("supervisor of %+v counts as running, %v", r, err)
	}
}

// After a power failure, the record can be empty. It matters only while a supervisor holds the lock.
func TestDamagedRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHome(t)
		write(t, h.record(), "")
		if r, runs, err := Find(h); runs || err != nil {
			t.Errorf("got %+v, %v, %v; want no supervisor", r, runs, err)
		}
		lock, err := disk.TryLock(filepath.Join(h.Dir, "supervisor.lock"))
		if err != nil {
			t.Fatal(err)
		}
		if _, runs, err := Find(h); runs || err == nil || !strings.Contains(err.Error(), "is damaged") {
			t.Errorf("while the lock is held: got %v, %v", runs, err)
		}
		time.AfterFunc(lockRetryLimit/2, func() { _ = lock.Release() })
		if r, runs, err := Find(h); runs || err != nil {
			t.Errorf("while another call holds the lock: got %+v, %v, %v; want no supervisor", r, runs, err)
		}
	})
}
