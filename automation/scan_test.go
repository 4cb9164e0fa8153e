package automation

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gcity/formula"
	"gcity/internal/toml"
)

type town struct {
	t      *testing.T
	dir    string
	layers []formula.Layer
	o      Options
	s      Scanner
	now    time.Time
}

func newTown(t *testing.T, layers ...string) *town {
	w := &town{t: t, dir: t.TempDir(), now: time.Now()}
	for _, name := range layers {
		rig, _, _ := strings.Cut(name, "/")
		if !strings.Contains(name, "/") {
			rig = ""
		}
		w.layers = append(w.layers, formula.Layer{Dir: filepath.Join(w.dir, name), Title: name,
			Rig: rig})
	}
	return w
}

// write advances the clock, so that each file has a different age.
func (w *town) write(layer, name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, layer, Folder, name, FileName)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("[automation]\n"+text+"\n"), 0o644); err != nil {
		w.t.Fatal(err)
	}
	w.now = w.now.Add(5 * time.Second)
	if err := os.Chtimes(path, w.now, w.now); err != nil {
		w.t.Fatal(err)
	}
	w.now = w.now.Add(5 * time.Second)
	return path
}

func (w *town) scan() Catalog { return w.s.Scan(w.layers, w.o, w.now) }

func (w *town) show(c Catalog) string {
	var b strings.Builder
	for _, d := range c.Automations {
		fmt.Fprintf(&b, "%s %s %q", d.Scoped(), d.Gate, d.Exec)
		if d.Off != "" {
			fmt.Fprintf(&b, " (%s)", d.Off)
		}
		if d.OnFailure != "" {
			fmt.Fprintf(&b, " then %s", d.OnFailure)
		}
		b.WriteByte('\n')
		for _, p := range d.Warnings {
			fmt.Fprintf(&b, "  warning: %s\n", p)
		}
	}
	for _, x := range c.Broken {
		fmt.Fprintf(&b, "%s broken\n  %s\n", x.Scoped(),
			strings.ReplaceAll(x.Problems.Error(), "\n", "\n  "))
	}
	for _, p := range c.Problems {
		fmt.Fprintf(&b, "problem: %s\n", p)
	}
	for _, p := range c.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", p)
	}
	return strings.ReplaceAll(b.String(), w.dir+"/", "")
}

func (w *town) want(c Catalog, want string) {
	w.t.Helper()
	if got := w.show(c); got != want {
		w.t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

const manual = "gate = 'manual'\nexec = '%s'\n%s"

func byHand(exec string, more ...string) string {
	return fmt.Sprintf(manual, exec, strings.Join(more, "\n"))
}

// The definition in the highest layer replaces all others completely. A bad file disables only its own automation.
// Disabled automations are listed. A rig's automations are separate.
func TestScan(t *testing.T) {
	w := newTown(t, "none", "topology", "city", "demo/low", "demo/high")
	w.write("topology", "a", byHand("low", "description = 'x'"))
	w.write("city", "a", byHand("high"))
	w.write("topology", "b", byHand("low"))
	w.write("city", "b", "gate = 'never'\nexec = 'high'")
	w.write("topology", "c", byHand("low"))
	w.write("city", "c", byHand("high", "enabled = false"))
	w.write("topology", "only", byHand("low", "interval = '5m'"))
	w.write("demo/low", "a", byHand("rig low"))
	w.write("demo/high", "a", byHand("rig high"))
	w.write("demo/low", "bad name", byHand("x"))
	if err := os.MkdirAll(filepath.Join(w.dir, "city", Folder, "scripts"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(w.dir, "city", Folder, "folder", FileName), 0o755); err !=
		nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "city", Folder, "README"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(w.dir, "topology", Folder, "only"),
		filepath.Join(w.dir, "city", Folder, "linked")); err != nil {
		t.Fatal(err)
	}
	w.want(w.scan(), `a manual "high"
a:rig:demo manual "rig high"
c manual "high" (disabled in its file (enabled = false))
linked manual "low"
  warning: city/automations/linked/automation.toml:4:12: automation.interval: is ignored: it applies to a cooldown gate, but this one is manual
only manual "low"
  warning: topology/automations/only/automation.toml:4:12: automation.interval: is ignored: it applies to a cooldown gate, but this one is manual
b broken
  city/automations/b/automation.toml:2:8: automation.gate: unknown gate "never"; the gates are cooldown, cron, condition, event and manual
bad name:rig:demo broken
  demo/low/automations/bad name/automation.toml: folder name: invalid name "bad name": use letters, digits, ".", "_" and "-", and begin with a letter or digit; rename the folder, because its name is the automation's name
folder broken
  city/automations/folder/automation.toml: it is not a regular file
`)
}

func ptr[T any](v T) *T { return &v }

func TestOverridesAndSkip(t *testing.T) {
	w := newTown(t, "city", "demo/low", "other/low")
	for _, name := range []string{"a", "b", "c", "d"} {
		w.write("city", name, byHand(name))
	}
	w.write("city", "e", "gate = 'cooldown'\ninterval = '5m'\nexec = 'e'\ntimeout = '10m'")
	w.write("demo/low", "a", byHand("demo"))
	w.write("demo/low", "mine", byHand("mine"))
	w.write("other/low", "a", byHand("other"))
	at := func(line int) toml.Place { return toml.Place{File: "city.toml", Line: line, Column: 1} }
	w.o = Options{
		Skip: []string{"b", "a:rig:other", "nothing"}, SkipAt: at(1), MaxTimeout: 2 * time.Minute,
		Overrides: []Override{
			{At: at(10), Name: "a", Rig: "demo", Gate: ptr("cooldown"), Interval: ptr(time.Hour)},
			{At: at(20), Name: "c", Enabled: ptr(false),
				Places: map[string]toml.Place{"enabled": at(22)}},
			{At: at(30), Name: "d", Gate: ptr("cron"), Schedule: ptr("0 0 31 2 *"),
				Places: map[string]toml.Place{"schedule": at(32)}},
			{At: at(40), Name: "mine"},
			{At: at(50), Name: "b", Rig: "demo"},
			{At: at(60), Name: "nonw"},
			{At: at(70), Name: "e", Enabled: ptr(false)},
			{At: at(80), Name: "e", Enabled: ptr(true), Timeout: ptr(90 * time.Second),
				Check: ptr("x")},
		},
	}
	c := w.scan()
	w.want(c, `a manual "a"
a:rig:demo cooldown "demo"
a:rig:other manual "other" (disabled in automations.skip)
b manual "b" (disabled in automations.skip)
c manual "c" (disabled in automations.overrides (city.toml:22:1))
e cooldown "e"
  warning: city.toml:80:1: automations.overrides.check: is ignored: it applies to a condition gate, but this one is cooldown
mine:rig:demo manual "mine"
d broken
  city.toml:32:1: automations.overrides.schedule: "0 0 31 2 *" never occurs: none of its months has that day
problem: city.toml:40:1: automations.overrides.name: the city has no automation "mine", but rig demo has one; add rig = "demo"
problem: city.toml:50:1: automations.overrides.name: rig demo has no automation "b", but the city has one; remove rig from this override
problem: city.toml:60:1: automations.overrides.name: automation "nonw" not found
warning: city.toml:1:1: automations.skip: automation "nothing" not found
`)
	timeout := func(name string) time.Duration {
		i := slices.IndexFunc(c.Automations, func(d Definition) bool { return d.Scoped() == name })
		return c.Automations[i].Timeout
	}
	if got := timeout("e"); got != 90*time.Second {
		t.Errorf("the timeout is %v, want 90s", got)
	}
	w.o.Overrides = nil
	c = w.scan()
	if got := timeout("e"); got != 2*time.Minute {
		t.Errorf("the capped timeout is %v, want 2m", got)
	}
}

// on_failure is looked up in the same rig first. An automation is broken if its on_failure is missing or leads back to
// the automation itself.
func TestOnFailure(t *testing.T) {
	w := newTown(t, "city", "demo/low")
	w.write("city", "alarm", byHand("alarm"))
	w.write("demo/low", "alarm", byHand("alarm"))
	w.write("city", "a", byHand("a", "on_failure = 'alarm'"))
	w.write("demo/low", "a", byHand("a", "on_failure = 'alarm'"))
	w.write("demo/low", "b", byHand("b", "on_failure = 'off'"))
	w.write("city", "off", byHand("off", "enabled = false"))
	w.write("city", "c", byHand("c", "on_failure = 'alram'"))
	w.write("city", "d", byHand("d", "on_failure = 'e'"))
	w.write("city", "e", byHand("e", "on_failure = 'f'"))
	w.write("city", "f", byHand("f", "on_failure = 'd'"))
	w.write("city", "g", byHand("g", "on_failure = 'd'"))
	w.write("city", "h", byHand("h", "on_failure = 'alarm:rig:demo'"))
	w.write("city", "i", byHand("i", "on_failure = 'b'"))
	w.write("city", "j", byHand("j", "on_failure = 'off:rig:demo'"))
	w.o.Skip = []string{"off:rig:demo"}
	w.want(w.scan(), `a manual "a" then alarm
a:rig:demo manual "a" then alarm:rig:demo
alarm manual "alarm"
alarm:rig:demo manual "alarm"
b:rig:demo manual "b" then off
  warning: demo/low/automations/b/automation.toml:4:14: automation.on_failure: off is disabled in its file (enabled = false), so it cannot run after a failure
g manual "g" then d
h manual "h" then alarm:rig:demo
off manual "off" (disabled in its file (enabled = false))
c broken
  city/automations/c/automation.toml:4:14: automation.on_failure: automation "alram" not found; did you mean "alarm"?
d broken
  city/automations/d/automation.toml:4:14: automation.on_failure: leads back to itself: d → e → f → d
e broken
  city/automations/e/automation.toml:4:14: automation.on_failure: leads back to itself: e → f → d → e
f broken
  city/automations/f/automation.toml:4:14: automation.on_failure: leads back to itself: f → d → e → f
i broken
  city/automations/i/automation.toml:4:14: automation.on_failure: the city has no automation "b", but rig demo has one; use "b:rig:demo"
j broken
  city/automations/j/automation.toml:4:14: automation.on_failure: rig demo has no automation "off", but the city has one; use "off"
warning: automations.skip: rig demo has no automation "off", but the city has one; use "off"
`)
}

// Automations may appear, change and disappear between two scans. Without a change, the revision is the same and no
// file is read again.
func TestRescan(t *testing.T) {
	w := newTown(t, "city")
	path := w.write("city", "a", byHand("one"))
	first := w.scan()
	file := func() *cachedFile { return w.s.layers[filepath.Join(w.dir, "city", Folder)].files["a"] }
	kept := file()
	if again := w.scan(); again.Revision != first.Revision || file() != kept || !kept.sure {
		t.Error("an unchanged file was read again, or the revision changed")
	}
	w.write("city", "a", byHand("two"))
	changed := w.scan()
	w.want(changed, "a manual \"two\"\n")
	w.write("city", "b", byHand("new"))
	w.want(w.scan(), "a manual \"two\"\nb manual \"new\"\n")
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	last := w.scan()
	w.want(last, "b manual \"new\"\n")
	if changed.Revision == first.Revision || last.Revision == changed.Revision {
		t.Error("the revision did not change with a file")
	}
	if changed.Automations[0].Hash == first.Automations[0].Hash {
		t.Error("the automation's hash did not change with its file")
	}
}

// A second edit is noticed even if the file times are the same and only the content differs.
func TestEditWithUnchangedFileTimes(t *testing.T) {
	w := newTown(t, "city")
	path := w.write("city", "a", byHand("one"))
	if err := os.Chtimes(path, w.now, w.now); err != nil {
		t.Fatal(err)
	}
	w.want(w.scan(), "a manual \"one\"\n")
	if err := os.WriteFile(path, []byte("[automation]\n"+byHand("two")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, w.now, w.now); err != nil {
		t.Fatal(err)
	}
	w.now = w.now.Add(time.Second)
	w.want(w.scan(), "a manual \"two\"\n")
}

// A layer that cannot be read is reported. The automations that were read before stay valid.
func TestUnreadableLayer(t *testing.T) {
	w := newTown(t, "city")
	w.write("city", "a", byHand("one"))
	w.scan()
	dir := filepath.Join(w.dir, "city", Folder)
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	// a link to itself cannot be read, but is not missing either
	if err := os.Symlink(dir, dir); err != nil {
		t.Fatal(err)
	}
	got := w.show(w.scan())
	if !strings.HasPrefix(got, "a manual \"one\"\nproblem: city/automations: cannot read "+
		"automations (city): ") {
		t.Errorf("got:\n%s", got)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	w.want(w.scan(), "") // a missing layer is not an error
}

func BenchmarkScanAgain(b *testing.B) {
	dir := b.TempDir()
	for i := range 100 {
		path := filepath.Join(dir, Folder, fmt.Sprintf("a%d", i), FileName)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("[automation]\ngate = 'cron'\nschedule = '0 3 * * "+
			"*'\nexec = 'x'\n"), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	var s Scanner
	layers := []formula.Layer{{Dir: dir}}
	now := time.Now().Add(time.Minute)
	b.ReportAllocs()
	for b.Loop() {
		if c := s.Scan(layers, Options{}, now); len(c.Automations) != 100 {
			b.Fatal(w(c))
		}
	}
}

func w(c Catalog) string { return fmt.Sprint(len(c.Automations), c.Broken, c.Problems) }
