package watch

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"gcity/config"
	"gcity/internal/eventually"
	"gcity/topology"
)

func watching(t *testing.T, dir string, o Options) <-chan struct{} {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	pokes, err := City(ctx, config.Source{Dir: dir}, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		for range pokes { // closed after the watch has ended
		}
	})
	return pokes
}

const patience = eventually.Timeout

// await waits until the configuration in dir has the given number of agents, and returns the number of notifications
// until then.
func await(t *testing.T, pokes <-chan struct{}, dir string, agents int) (count int) {
	t.Helper()
	deadline := time.After(patience)
	for {
		select {
		case <-pokes:
			count++
			if c, err := config.Load(dir); err == nil && len(c.Agents) == agents {
				return count
			}
		case <-deadline:
			t.Fatalf("the change was not found after %d notifications", count)
		}
	}
}

func poked(t *testing.T, pokes <-chan struct{}) {
	t.Helper()
	select {
	case <-pokes:
	case <-time.After(patience):
		t.Fatal("no poke")
	}
}

func agents(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "[[agents]]\nname = \"a%d\"\nstart_command = \"sh\"\n", i)
	}
	return b.String()
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func swap(t *testing.T, path, text string) {
	t.Helper()
	put(t, path+"~", text)
	if err := os.Rename(path+"~", path); err != nil {
		t.Fatal(err)
	}
}

func folder(t *testing.T, text string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, config.FileName), text)
	return dir
}

func TestCityReportsEveryKindOfWrite(t *testing.T) {
	for _, polling := range []bool{false, true} {
		t.Run(fmt.Sprintf("polling=%t", polling), func(t *testing.T) {
			dir := folder(t, agents(1))
			path := filepath.Join(dir, config.FileName)
			pokes := watching(t, dir, Options{Quiet: 20 * time.Millisecond,
				Poll: 20 * time.Millisecond, Polling: polling})
			put(t, path, agents(2))
			await(t, pokes, dir, 2)
			swap(t, path, agents(3))
			await(t, pokes, dir, 3)
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			poked(t, pokes)
			put(t, path, agents(4))
			await(t, pokes, dir, 4)
			put(t, path, "[workspace")
			poked(t, pokes) // an invalid file is a change, too
			put(t, path, agents(5))
			await(t, pokes, dir, 5)
		})
	}
}

// A file that is written byte by byte causes only a few notifications.
func TestCityMergesChanges(t *testing.T) {
	t.Run("byte by byte", func(t *testing.T) {
		dir := folder(t, agents(1))
		pokes := watching(t, dir, Options{})
		f, err := os.Create(filepath.Join(dir, config.FileName))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		pace := time.NewTicker(2 * time.Millisecond)
		defer pace.Stop()
		text := agents(7)
		for i := range len(text) {
			if _, err := f.WriteString(text[i : i+1]); err != nil {
				t.Fatal(err)
			}
			<-pace.C
		}
		if n := await(t, pokes, dir, 7); n > len(text)/20 {
			t.Errorf("got %d notifications for %d bytes", n, len(text))
		}
	})
	t.Run("1000 rewrites", func(t *testing.T) {
		dir := folder(t, agents(1))
		pokes := watching(t, dir, Options{})
		for i := range 1000 {
			swap(t, filepath.Join(dir, config.FileName), agents(2+i%5))
		}
		swap(t, filepath.Join(dir, config.FileName), agents(9))
		if n := await(t, pokes, dir, 9); n > 50 {
			t.Errorf("got %d notifications for 1000 rewrites", n)
		}
	})
}

// The watch notices changes to a linked city.toml and to its target.
func TestCityFollowsLinks(t *testing.T) {
	dir, elsewhere := folder(t, ""), folder(t, "")
	for i, v := range []string{"v1", "v2"} {
		if err := os.Mkdir(filepath.Join(elsewhere, v), 0o755); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(elsewhere, v, config.FileName), agents(1+i))
	}
	link := func(to, at string) {
		t.Helper()
		if err := os.Symlink(to, at+"~"); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(at+"~", at); err != nil {
			t.Fatal(err)
		}
	}
	current := filepath.Join(elsewhere, "current")
	link("v1", current)
	link(filepath.Join(current, config.FileName), filepath.Join(dir, config.FileName))

	pokes := watching(t, dir, Options{Quiet: 20 * time.Millisecond})
	link("v2", current)
	await(t, pokes, dir, 2)
	put(t, filepath.Join(elsewhere, "v2", config.FileName), agents(5))
	await(t, pokes, dir, 5)
	link(filepath.Join(elsewhere, "v1", config.FileName), filepath.Join(dir, config.FileName))
	await(t, pokes, dir, 1)
	swap(t, filepath.Join(elsewhere, "v1", config.FileName), agents(6))
	await(t, pokes, dir, 6)
}

// A watch continues after its folder is removed and created again, as in a clean checkout.
func TestCitySurvivesFolderRemoval(t *testing.T) {
	dir := filepath.Join(folder(t, ""), "city")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, config.FileName), agents(1))
	pokes := watching(t, dir, Options{Quiet: 20 * time.Millisecond, Poll: 20 * time.Millisecond})
	for n := 2; n < 5; n++ {
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, config.FileName), agents(n))
		await(t, pokes, dir, n)
	}
	put(t, filepath.Join(dir, config.FileName), agents(8))
	await(t, pokes, dir, 8)
}

// A change to a script that an agent uses is noticed immediately.
func TestCityReportsScripts(t *testing.T) {
	dir := folder(t, "")
	if err := os.Mkdir(filepath.Join(dir, "scripts"), 0o755); err != nil {
		t.Fatal(err)
	}
	script := filepath.Join(dir, "scripts", "a.sh")
	put(t, script, "true\n")
	put(t, filepath.Join(dir, config.FileName), agents(1))
	pokes := watching(t, dir, Options{Quiet: 20 * time.Millisecond})
	put(t, filepath.Join(dir, config.FileName), agents(1)+"[[agents]]\nname = \"s\"\n"+
		"session_setup_script = \"scripts/{{.Agent}}.sh\"\n")
	await(t, pokes, dir, 2)
	put(t, filepath.Join(dir, "scripts", "s.sh"), "echo one\n")
	poked(t, pokes)
	before, err := config.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	swap(t, filepath.Join(dir, "scripts", "s.sh"), "echo two\n")
	poked(t, pokes)
	after, err := config.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := before.Agents[1].ScriptHash, after.Agents[1].ScriptHash; a == b || a == "" {
		t.Errorf("got hashes %q and %q", a, b)
	}
}

// The watch does not report other files that are written in the city.
func TestCityIgnoresOtherFiles(t *testing.T) {
	dir := folder(t, agents(1))
	pokes := watching(t, dir, Options{Quiet: 20 * time.Millisecond})
	if err := os.Mkdir(filepath.Join(dir, ".gc"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 200 {
		put(t, filepath.Join(dir, ".gc", "events.jsonl"), strings.Repeat("x", i))
		put(t, filepath.Join(dir, "notes.md"), strings.Repeat("x", i))
	}
	put(t, filepath.Join(dir, config.FileName), agents(2))
	if n := await(t, pokes, dir, 2); n != 1 {
		t.Errorf("%d pokes", n)
	}
}

// A file that is changed and changed back is reported, because the receiver might have read it in between.
func TestCityReportsAnUndoneChange(t *testing.T) {
	for _, polling := range []bool{false, true} {
		t.Run(fmt.Sprintf("polling=%t", polling), func(t *testing.T) {
			dir := folder(t, agents(1))
			path := filepath.Join(dir, config.FileName)
			o := Options{Quiet: 300 * time.Millisecond, Poll: 300 * time.Millisecond,
				Polling: polling}
			pokes := watching(t, dir, o)
			for n := range 2 {
				put(t, path, agents(2+n))
				put(t, path, agents(1))
				poked(t, pokes)
			}
			put(t, path, agents(2))
			await(t, pokes, dir, 2)
		})
	}
}

// Without inotify, the watch polls and logs one warning.
func TestWatchWithoutInotify(t *testing.T) {
	if os.Getenv("CONFIG_TEST_NO_INOTIFY") == "" {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestWatchWithoutInotify$", "-test.v")
		cmd.Env = append(os.Environ(), "CONFIG_TEST_NO_INOTIFY=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}}
		out, err := cmd.CombinedOutput()
		if bytes.Contains(out, []byte("--- SKIP")) || (err != nil && len(out) == 0) {
			t.Skipf("user namespaces with their own limits are not available: %v %s", err,
				out)
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	if err := os.WriteFile("/proc/sys/user/max_inotify_instances", []byte("0"), 0); err != nil {
		t.Skip(err)
	}
	var log bytes.Buffer
	dir := folder(t, agents(1))
	ctx, cancel := context.WithCancel(context.Background())
	pokes, err := City(ctx, config.Source{Dir: dir},
		Options{Quiet: 20 * time.Millisecond, Poll: 20 * time.Millisecond,
			Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, config.FileName), agents(2))
	await(t, pokes, dir, 2)
	swap(t, filepath.Join(dir, config.FileName), agents(3))
	await(t, pokes, dir, 3)
	cancel()
	for range pokes {
	}
	if n := strings.Count(log.String(), "level=WARN"); n != 1 ||
		!strings.Contains(log.String(), "max_user_instances") {
		t.Errorf("%d warnings:\n%s", n, log.String())
	}
}

// An included file is watched even before it exists.
func TestCityReportsIncludedFiles(t *testing.T) {
	dir := folder(t, agents(1))
	pokes := watching(t, dir, Options{Quiet: 20 * time.Millisecond})
	put(t, filepath.Join(dir, config.FileName), "include = [\"team.toml\"]\n"+agents(1))
	poked(t, pokes)
	said := func() string {
		_, err := config.Load(dir)
		return fmt.Sprint(err)
	}
	if !strings.Contains(said(), "was not found") {
		t.Error(said())
	}
	team := filepath.Join(dir, "team.toml")
	put(t, team, "[[agents]]\nnam = \"b\"\n")
	poked(t, pokes)
	if !strings.HasPrefix(said(), "team.toml:1:1: agents.name: is missing") {
		t.Error(said())
	}
	first, err := config.Source{Dir: dir}.Revision()
	if err != nil {
		t.Fatal(err)
	}
	put(t, team, "[[agents]]\nnama = \"b\"\n")
	poked(t, pokes)
	if second, err := (config.Source{Dir: dir}).Revision(); err != nil || second == first {
		t.Errorf("the revision did not change: %v", err)
	}
	put(t, team, "[[agents]]\nname = \"b\"\n")
	await(t, pokes, dir, 2)
	swap(t, team, "[[agents]]\nname = \"b\"\n[[agents]]\nname = \"c\"\n")
	await(t, pokes, dir, 3)
	if err := os.Remove(team); err != nil {
		t.Fatal(err)
	}
	poked(t, pokes)
	if !strings.Contains(said(), "was not found") {
		t.Error(said())
	}
}

// A topology is watched as a whole.
func TestCityReportsTopologies(t *testing.T) {
	dir := folder(t, "include = [\"more.toml\"]\n[workspace]\ntopology = \"p\"\n"+
		"[topologies.far]\nsource = \"/none\"\n")
	put(t, filepath.Join(dir, "more.toml"), "[daemon]\n")
	if err := os.MkdirAll(filepath.Join(dir, "p/scripts"), 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "p", config.TopologyFile), "[topology]\nname = \"p\"\nschema = 1\n")
	pokes := watching(t, dir, Options{Quiet: 20 * time.Millisecond})
	for _, file := range []string{
		"p/scripts/deep/x.sh", "p/prompts/new.md", "p/prompts/other.md", "p/topology.toml",
		"more.toml", topology.LockFile,
	} {
		path := filepath.Join(dir, file)
		text, _ := os.ReadFile(path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		put(t, path, string(text)+"# more\n")
		poked(t, pokes)
	}
}

// After a topology's folder is renamed and copied back, its subfolders are watched again.
func TestCityReportsCopiedTopologies(t *testing.T) {
	const city = "[workspace]\ntopology = \"p\"\n"
	dir := folder(t, city)
	p := filepath.Join(dir, "p")
	fill := func() {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(p, "scripts"), 0o755); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(p, config.TopologyFile), "[topology]\nname = \"p\"\nschema = 1\n")
	}
	fill()
	pokes := watching(t, dir, Options{Quiet: 20 * time.Millisecond})
	if err := os.Rename(p, filepath.Join(dir, "old")); err != nil {
		t.Fatal(err)
	}
	fill()
	poked(t, pokes)
	swap(t, filepath.Join(dir, config.FileName), city+agents(1)) // a later change than the copy
	await(t, pokes, dir, 1)
	put(t, filepath.Join(p, "scripts", "x.sh"), "true\n")
	poked(t, pokes)
}

// After two folders are exchanged, their subfolders are watched at the new paths.
func TestCityReportsExchangedFolders(t *testing.T) {
	const city = "[workspace]\ntopology = \"p\"\n"
	dir := folder(t, city)
	p := filepath.Join(dir, "p")
	for _, name := range []string{"a", "b"} {
		if err := os.MkdirAll(filepath.Join(p, name, "x"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(p, config.TopologyFile), "[topology]\nname = \"p\"\nschema = 1\n")
	pokes := watching(t, dir, Options{Quiet: 20 * time.Millisecond})
	for _, move := range [][2]string{{"a", "c"}, {"b", "a"}, {"c", "b"}} {
		if err := os.Rename(filepath.Join(p, move[0]), filepath.Join(p, move[1])); err != nil {
			t.Fatal(err)
		}
	}
	poked(t, pokes)
	swap(t, filepath.Join(dir, config.FileName), city+agents(1)) // a later change than the moves
	await(t, pokes, dir, 1)
	for _, name := range []string{"a", "b"} {
		put(t, filepath.Join(p, name, "x", "f"), name)
		poked(t, pokes)
	}
}

// An urgent change waits for at most ten quiet times. Other changes wait until the files are quiet.
func TestDelay(t *testing.T) {
	for _, urgent := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := &watcher{o: Options{Quiet: time.Second}, quiet: time.NewTimer(time.Hour)}
			began, waited := time.Now(), time.Duration(0)
			w.delay(urgent)
			for range 100 {
				select {
				case <-w.quiet.C:
					waited = time.Since(began)
				case <-time.After(time.Second / 2):
					w.delay(false)
					continue
				}
				break
			}
			if want := 10 * time.Second; urgent && waited != want || !urgent && waited != 0 {
				t.Errorf("urgent=%t: checked after %s", urgent, waited)
			}
		})
	}
}

// A changed file is reported even if a topology's folder changes all the time.
func TestCityReportsFilesDespiteABusyTopology(t *testing.T) {
	t.Parallel()
	const city = "[workspace]\ntopology = \"p\"\n"
	dir := folder(t, city)
	if err := os.Mkdir(filepath.Join(dir, "p"), 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "p", config.TopologyFile), "[topology]\nname = \"p\"\nschema = 1\n")
	pokes := watching(t, dir, Options{Quiet: 300 * time.Millisecond})
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		pace := time.NewTicker(5 * time.Millisecond) // much shorter than Quiet
		defer pace.Stop()
		for n := 0; ; n++ {
			if err := os.WriteFile(filepath.Join(dir, "p", "log"), []byte(fmt.Sprint(n)), 0o644); err != nil {
				t.Error(err)
				return
			}
			select {
			case <-stop:
				return
			case <-pace.C:
			}
		}
	})
	defer func() {
		close(stop)
		writer.Wait()
	}()
	swap(t, filepath.Join(dir, config.FileName), city+agents(2))
	await(t, pokes, dir, 2)
}

// Prompts, fragments and overlays are part of the configuration, so every change in them is noticed.
func TestCityReportsPromptsAndOverlays(t *testing.T) {
	dir := folder(t, "[[agents]]\nname = \"a\"\nprompt_template = \"in/p.md.tmpl\"\noverlay_dir "+
		"= \"over\"\n")
	for name, text := range map[string]string{
		"in/p.md.tmpl":       "one",
		"over/deep/settings": "one",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(dir, name), text)
	}
	pokes := watching(t, dir, Options{Quiet: time.Millisecond})
	revision, err := config.Source{Dir: dir}.Revision()
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []struct{ what, file, text string }{
		{"the template", "in/p.md.tmpl", "two"},
		{"a fragment in a new folder", "in/shared/new.md.tmpl", "one"},
		{"a second fragment in it", "in/shared/more.md.tmpl", "one"},
		{"a change of the fragment", "in/shared/more.md.tmpl", "two"},
		{"a fragment of the city", "prompts/shared/new.md.tmpl", "one"},
		{"a file of the overlay", "over/deep/settings", "two"},
		{"a new one", "over/fresh", "one"},
		{"a new file in a new folder", "over/more/fresh", "one"},
	} {
		file := filepath.Join(dir, change.file)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(change.text), 0o644); err != nil {
			t.Fatal(err)
		}
		seen := time.NewTimer(patience)
		for {
			select {
			case <-pokes:
			case <-seen.C:
				t.Fatalf("%s was not reported", change.what)
			}
			c, err := config.Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			on, err := config.Source{Dir: dir}.Revision()
			if err != nil || on != c.Revision {
				t.Fatalf("%s: got revision %s; the loaded configuration has %s, %v", change.what,
					on, c.Revision, err)
			}
			if c.Revision != revision {
				revision = c.Revision
				break
			}
		}
		seen.Stop()
	}
}
