package watch

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gcity/automation"
	"gcity/config"
	"gcity/formula"
)

type watchedFolders struct {
	t      *testing.T
	layers []formula.Layer
	pokes  <-chan struct{}
	others chan []string
}

func newWatchedFolders(t *testing.T, o Options, folders ...string) *watchedFolders {
	t.Helper()
	k := &watchedFolders{t: t, others: make(chan []string)}
	for i, f := range folders {
		k.layers = append(k.layers, formula.Layer{Dir: f, Title: f, Rig: []string{"", "demo"}[i]})
	}
	ctx, cancel := context.WithCancel(context.Background())
	pokes, err := Folders(ctx, folders, k.others, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		for range pokes { // closed after the watch has ended
		}
	})
	k.pokes = pokes
	return k
}

// The result looks like "sweep=true deploy.formula=1".
func (k *watchedFolders) has() string {
	k.t.Helper()
	var out []string
	found := new(automation.Scanner).Scan(k.layers, automation.Options{}, time.Now())
	for _, d := range found.Automations {
		out = append(out, d.Scoped()+"="+d.Exec)
	}
	for _, b := range found.Broken {
		out = append(out, b.Scoped()+" broken")
	}
	sources, err := formula.Resolve(k.layers)
	if err != nil {
		k.t.Fatal(err)
	}
	for _, s := range sources {
		data, err := os.ReadFile(s.Path)
		if err != nil {
			k.t.Fatal(err)
		}
		out = append(out, s.Name+".formula="+string(data))
	}
	return strings.Join(out, " ")
}

func (k *watchedFolders) await(want string) (count int) {
	k.t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case <-k.pokes:
			count++
			if k.has() == want {
				return count
			}
		case <-deadline:
			k.t.Fatalf("%q was not found after %d notifications; found %q", want, count, k.has())
		}
	}
}

func action(line string) string {
	return fmt.Sprintf("[automation]\ngate = \"manual\"\nexec = %q\n", line)
}

func plant(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, path, text)
	return path
}

func TestFoldersReportsEveryKindOfWrite(t *testing.T) {
	for _, polling := range []bool{false, true} {
		t.Run(fmt.Sprintf("polling=%t", polling), func(t *testing.T) {
			poll := time.Hour // inotify reports every change
			if polling {
				poll = 20 * time.Millisecond
			}
			dir := folder(t, "")
			city, rig := filepath.Join(dir, ".gc", "formulas"),
				filepath.Join(dir, "demo", "recipes")
			k := newWatchedFolders(t, Options{Quiet: 20 * time.Millisecond, Poll: poll, Polling: polling},
				city, rig)
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			file := func(name string) string {
				return filepath.Join(city, automation.Folder, name, automation.FileName)
			}

			plant(t, file("a"), action("one"))
			k.await("a=one")
			put(t, file("a"), action("two"))
			k.await("a=two")
			swap(t, file("a"), action("three"))
			k.await("a=three")
			plant(t, file("b"), action("x"))
			k.await("a=three b=x")
			put(t, file("b"), "[automation")
			k.await("a=three b broken")
			must(os.Remove(file("b")))
			k.await("a=three")
			must(os.Rename(filepath.Dir(file("a")), filepath.Dir(file("c"))))
			k.await("c=three")
			put(t, file("c"), action("four"))
			k.await("c=four")
			plant(t, filepath.Join(rig, "f"+formula.Suffix), "1")
			k.await("c=four f.formula=1")
			plant(t, filepath.Join(rig, automation.Folder, "c", automation.FileName), action("own"))
			k.await("c=four c:rig:demo=own f.formula=1")
			swap(t, filepath.Join(rig, "f"+formula.Suffix), "2")
			k.await("c=four c:rig:demo=own f.formula=2")
			must(os.Rename(filepath.Join(rig, automation.Folder), filepath.Join(rig, "put-away")))
			k.await("c=four f.formula=2")
			must(os.RemoveAll(filepath.Join(dir, "demo")))
			k.await("c=four")
			must(os.Rename(city, city+"-old"))
			k.await("")
			must(os.Rename(city+"-old", city))
			k.await("c=four")
			put(t, file("c"), action("five"))
			k.await("c=five")
		})
	}
}

// Folders and files may be symbolic links, even to places that do not exist yet.
func TestFoldersFollowsLinks(t *testing.T) {
	dir, shared := folder(t, ""), folder(t, "")
	link := func(to, at string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, at+"~"); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(at+"~", at); err != nil {
			t.Fatal(err)
		}
	}
	formulas := filepath.Join(dir, "formulas")
	one, two := plant(t, filepath.Join(shared, "one", "any.toml"), action("1")),
		plant(t, filepath.Join(shared, "two", automation.FileName), action("2"))
	link(filepath.Join(shared, "layer"), formulas) // the target does not exist yet
	k := newWatchedFolders(t, Options{Quiet: 20 * time.Millisecond, Poll: time.Hour}, formulas)

	link(one, filepath.Join(shared, "layer", automation.Folder, "a", automation.FileName))
	k.await("a=1")
	put(t, one, action("one"))
	k.await("a=one")
	link(filepath.Dir(two), filepath.Join(formulas, automation.Folder, "b"))
	k.await("a=one b=2")
	put(t, two, action("two"))
	k.await("a=one b=two")
	three := filepath.Join(shared, "three", automation.FileName)
	link(filepath.Dir(three), filepath.Join(formulas, automation.Folder, "b"))
	k.await("a=one")
	plant(t, three, action("3"))
	k.await("a=one b=3")
	plant(t, filepath.Join(dir, "other", "f"+formula.Suffix), "x")
	link("other", formulas)
	k.await("f.formula=x")
}

// A rewrite with the same size and modification time is noticed.
func TestFoldersReportsQuickRewrite(t *testing.T) {
	city := folder(t, "")
	path := plant(t, filepath.Join(city, automation.Folder, "a", automation.FileName),
		action("one"))
	at := time.Now()
	k := newWatchedFolders(t, Options{Quiet: 20 * time.Millisecond, Poll: time.Hour}, city)
	for _, word := range []string{"two", "six", "ten"} {
		put(t, path, action(word))
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		k.await("a=" + word)
	}
}

// When the configuration changes, the watch switches to the new folders.
func TestFoldersReplacesList(t *testing.T) {
	for name, o := range map[string]Options{
		"told":    {Quiet: 20 * time.Millisecond, Poll: time.Hour},
		"polling": {Quiet: 20 * time.Millisecond, Poll: 20 * time.Millisecond, Polling: true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, "")
			old, fresh, later := filepath.Join(dir, "old"), filepath.Join(dir, "fresh"),
				filepath.Join(dir, "later")
			plant(t, filepath.Join(old, automation.Folder, "a", automation.FileName), action("old"))
			plant(t, filepath.Join(fresh, automation.Folder, "a", automation.FileName),
				action("fresh"))
			k := newWatchedFolders(t, o, old)
			k.layers = []formula.Layer{{Dir: fresh}, {Dir: later, Rig: "demo"}}
			k.others <- []string{fresh, later}
			k.await("a=fresh")
			put(t, filepath.Join(fresh, automation.Folder, "a", automation.FileName), action("two"))
			k.await("a=two")
			plant(t, filepath.Join(later, automation.Folder, "b", automation.FileName),
				action("late"))
			k.await("a=two b:rig:demo=late")
		})
	}
}

// The watch does not report other files in the folders.
func TestFoldersIgnoresOtherFiles(t *testing.T) {
	dir := folder(t, agents(1))
	city := filepath.Join(dir, ".gc", "formulas")
	file := plant(t, filepath.Join(city, automation.Folder, "a", automation.FileName),
		action("one"))
	// longer than a busy machine delays a program between two writes
	o := Options{Quiet: 300 * time.Millisecond, Poll: time.Hour}
	k, conf := newWatchedFolders(t, o, city, filepath.Join(dir, "none", "recipes")), watching(t, dir, o)
	for i := range 100 {
		text := strings.Repeat("x", i)
		for _, path := range []string{filepath.Join(city, automation.Folder, "a", "run.log"),
			filepath.Join(city, automation.Folder, "README"),
			filepath.Join(city, automation.Folder, "empty", "notes"), filepath.Join(city, "notes"),
			filepath.Join(dir, ".gc", "events.jsonl"),
			filepath.Join(dir, "notes")} {
			plant(t, path, text)
		}
	}
	swap(t, file, action("two"))
	if n := k.await("a=two"); n != 1 {
		t.Errorf("%d pokes", n)
	}
	swap(t, filepath.Join(dir, config.FileName), agents(2))
	if n := await(t, conf, dir, 2); n != 1 {
		t.Errorf("one change of the configuration: got %d notifications, want 1", n)
	}
	select {
	case <-k.pokes:
		t.Error("a changed formula triggered the configuration's watch")
	default:
	}
}
