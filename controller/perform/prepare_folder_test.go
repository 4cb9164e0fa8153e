package perform

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"gcity/agent"
	"gcity/controller/effect"
	"gcity/formula"
	"gcity/prompt"
	"gcity/session"
)

func prompted(t *testing.T, text, mode, flag string) (*Runner, *agent.Want) {
	t.Helper()
	p, err := prompt.Parse(prompt.File{Name: "p.md.tmpl", Text: text}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	w := &agent.Want{Name: "demo/a", Spec: session.Spec{Dir: t.TempDir(), Env: os.Environ(),
		Nudge: "go"}}
	w.Spec.Command = `printf '<%s>'`
	w.Prompt = agent.Prompt{Mode: mode, Flag: flag,
		Draft: &prompt.Draft{Template: p, Values: prompt.Values{AgentName: w.Name,
			Env: map[string]string{"A_TOKEN": "hush", "URL": "http://me:hush@x/"}}}}
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".gc"), 0o700); err != nil {
		t.Fatal(err)
	}
	return New(World{Options: Options{Dir: dir, At: dir}}), w
}

// A real shell passes the prompt in a command line to the command as one argument.
func TestAPromptIsOneArgument(t *testing.T) {
	for text, want := range map[string]string{
		"it's $HOME `id` \"x\" \\ * ; # !\nnext\t{{.AgentName}}": "<it's $HOME `id` \"x\" \\ * ; " +
			"# !\nnext\tdemo/a>",
		"'":                       "<'>",
		"---\nhead: 1\n":          "<\n---\nhead: 1\n>",
		"a\r\nb":                  "<a\nb>",
		"":                        "<>",
		" \n":                     "<>",
		strings.Repeat("'", 5000): "<" + strings.Repeat("'", 5000) + ">",
	} {
		r, w := prompted(t, text, "arg", "")
		s := w.Spec
		if err := r.Sessions.addPrompt(t.Context(), w, &s); err != nil {
			t.Fatal(err)
		}
		out, err := exec.CommandContext(t.Context(), "sh", "-c", s.Command).Output()
		if err != nil || string(out) != want {
			t.Errorf("%.40q: %.60q, %v", text, out, err)
		}
	}
}

func TestNotificationTexts(t *testing.T) {
	long := strings.Repeat("long ", 900)
	for _, tt := range []struct{ mode, flag, text, command, nudge string }{
		{"flag", "--prompt", "- be", "printf '<%s>' --prompt '\n- be'", "go"},
		{"typed", "", "be\nkind\n", `printf '<%s>'`, "be\nkind\n\ngo"},
		{"none", "", "be", `printf '<%s>'`, "go"},
		{"", "", "be", `printf '<%s>'`, "go"},
		{"typed", "", long, `printf '<%s>'`, "Read the whole file FILE before you do " +
			"anything else. It describes your role and your task.\n\ngo"},
		{"arg", "", strings.Repeat("'", 30_000),
			`printf '<%s>' 'Read the whole file FILE before you do anything else. It describes your role and your task.'`, "go"},
	} {
		r, w := prompted(t, tt.text, tt.mode, tt.flag)
		s := w.Spec
		if err := r.Sessions.addPrompt(t.Context(), w, &s); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(r.w.Dir, ".gc", "prompts", session.Encode("demo/a")+".md")
		fill := func(s string) string { return strings.ReplaceAll(s, "FILE", file) }
		if s.Command != fill(tt.command) || s.Nudge != fill(tt.nudge) {
			t.Errorf("%s: %q, typed %q", tt.mode, s.Command, s.Nudge)
		}
		if given := s.Command != w.Spec.Command; given != (s.Ready.Echo != "") {
			t.Errorf("%s: waits for %q on the screen", tt.mode, s.Ready.Echo)
		}
		data, err := os.ReadFile(file)
		switch {
		case !strings.Contains(tt.command+tt.nudge, "FILE"):
			if !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s: got an unneeded file: %v", tt.mode, err)
			}
		case err != nil || string(data) != tt.text:
			t.Errorf("%s: %d bytes, %v", tt.mode, len(data), err)
		default:
			if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v, %v", info, err)
			}
		}
		if w.Spec.Command != `printf '<%s>'` || w.Spec.Nudge != "go" {
			t.Error("the shared want was changed")
		}
	}
}

func TestAPromptThatCannotBeFilledInKeepsTheAgentFromStarting(t *testing.T) {
	r, w := prompted(t, "a\n{{slice .AgentName 9 10}}", "arg", "")
	s := w.Spec
	err := r.Sessions.addPrompt(t.Context(), w, &s)
	if err == nil || !strings.HasPrefix(err.Error(), "its prompt p.md.tmpl:2: cannot be "+
		"rendered: ") {
		t.Error(err)
	}
}

func TestPromptHidesSecrets(t *testing.T) {
	_, w := prompted(t, "{{.A_TOKEN}} {{.URL}}", "arg", "")
	for discreet, want := range map[bool]string{true: "*** http://…@x/",
		false: "hush http://me:hush@x/"} {
		got, err := PromptOf(t.Context(), w, discreet)
		if err != nil || got != want {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	}
}

func TestBranches(t *testing.T) {
	_, w := prompted(t, "{{.Branch}}/{{.DefaultBranch}}", "arg", "")
	git := func(args ...string) {
		t.Helper()
		c := exec.CommandContext(t.Context(), "git",
			append([]string{"-C", w.Spec.Dir, "-c", "user.name=x", "-c", "user.email=x@x"},
				args...)...)
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("%q: %v: %s", args, err, out)
		}
	}
	look := func(want string) {
		t.Helper()
		if got, err := PromptOf(t.Context(), w, false); err != nil || got != want {
			t.Errorf("got %q, %v; want %q", got, err, want)
		}
	}
	look("/main") // not a repository
	git("init", "-q", "-b", "topic")
	look("topic/main")
	git("commit", "-q", "--allow-empty", "-m", "x")
	git("update-ref", "refs/remotes/origin/trunk", "HEAD")
	git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
	look("topic/trunk")
	git("checkout", "-q", "--detach")
	look("/trunk")
}

// Hooks that are merged into a file of the overlay do not count as a user's edit of that file.
func TestOverlayAndHooksShareAFile(t *testing.T) {
	r, w := prompted(t, "", "arg", "")
	w.Overlay, w.Hooks = t.TempDir(), []string{"claude"}
	settings := filepath.Join(w.Overlay, ".claude", "settings.json")
	put := func(file, text string) {
		t.Helper()
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755),
			os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	fill := func(want string) {
		t.Helper()
		said, troubles, err := r.Sessions.copyFiles(t.Context(), w)
		if err != nil || len(troubles) > 0 || said != want {
			t.Errorf("got %q, %q, %v; want %q", said, troubles, err, want)
		}
	}
	put(settings, `{"model": "one"}`)
	fill("copied: .claude/settings.json; hooks written: .claude/settings.json")
	fill("")
	put(settings, `{"model": "two"}`)
	fill("updated: .claude/settings.json; hooks written: .claude/settings.json")
	data, err := os.ReadFile(filepath.Join(w.Spec.Dir, ".claude", "settings.json"))
	if err != nil || !strings.Contains(string(data), `"model": "two"`) ||
		!strings.Contains(string(data), "gc prime --hook") {
		t.Errorf("%s, %v", data, err)
	}
	put(filepath.Join(w.Spec.Dir, ".claude", "settings.json"), `{"model": "mine"}`)
	put(settings, `{"model": "three"}`)
	fill("left as they are: .claude/settings.json; hooks written: .claude/settings.json")
	fill("left as they are: .claude/settings.json")
}

// interrupted is a context that ends when a file exists.
type interrupted struct {
	context.Context
	file string
}

func (c interrupted) Err() error {
	if _, err := os.Lstat(c.file); err == nil {
		return context.DeadlineExceeded
	}
	return nil
}

// The hooks in a copied file do not count as a user's edit of that file, even if a later file cannot be copied.
func TestAFailedOverlayAndHooksShareAFile(t *testing.T) {
	r, w := prompted(t, "", "arg", "")
	w.Overlay, w.Hooks = t.TempDir(), []string{"claude"}
	const settings = ".claude/settings.json"
	put := func(name, text string) {
		t.Helper()
		file := filepath.Join(w.Overlay, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755),
			os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	put(settings, `{"model": "one"}`)
	put("later", "")
	ctx := interrupted{context.Background(), filepath.Join(w.Spec.Dir, settings)}
	if _, _, err := r.Sessions.copyFiles(ctx, w); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("the later file: %v", err)
	}
	put(settings, `{"model": "two"}`)
	said, troubles, err := r.Sessions.copyFiles(t.Context(), w)
	want := "copied: later; updated: " + settings + "; hooks written: " + settings
	if err != nil || len(troubles) > 0 || said != want {
		t.Errorf("got %q, %q, %v; want %q", said, troubles, err, want)
	}
}

// Agents that start together wait for each other, in one folder as well as in many.
func TestManyFoldersArePreparedTogether(t *testing.T) {
	for _, shared := range []bool{true, false} {
		r, first := prompted(t, "", "arg", "")
		var all sync.WaitGroup
		for i := range 2 * maxHung {
			w := *first
			w.Name, w.Hooks = fmt.Sprintf("a-%d", i), []string{"claude"}
			if !shared {
				w.Spec.Dir = t.TempDir()
			}
			all.Go(func() {
				_, troubles, err := r.Sessions.prepareFolder(t.Context(), &w)
				if err != nil || len(troubles) > 0 {
					t.Errorf("%s: %q, %v", w.Name, troubles, err)
				}
			})
		}
		all.Wait()
	}
}

// An overlay that takes too long to copy is not reported as a folder that does not respond.
func TestASlowCopyIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // so equipLimit does not pass on a slow machine
		r, w := prompted(t, "", "arg", "")
		w.Overlay, r.Sessions.copyLimit = t.TempDir(), 0
		_, _, err := r.Sessions.prepareFolder(t.Context(), w)
		want := "cannot copy the agent's overlay: the overlay " + w.Overlay + " cannot be read: " + errSlowCopy.Error()
		if !errors.Is(err, errSlowCopy) || err.Error() != want {
			t.Errorf("got %v; want %s", err, want)
		}
	})
}

// A start that is canceled while another start uses the folder says so.
func TestAStartWaitsForItsFolder(t *testing.T) {
	r, w := prompted(t, "", "arg", "")
	w.Hooks = []string{"claude"}
	r.Sessions.folders.of(w.Spec.Dir) <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := r.Sessions.prepareFolder(ctx, w)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "other starts") {
		t.Error(err)
	}
}

// A rig's folder gets links to the formulas of the city and of the rig. The rig's own formulas take precedence. A
// failure for one rig does not affect other rigs.
func TestFormulasOfRigsAreLinked(t *testing.T) {
	w, _ := workBench(t)
	rig, bare, gone, blocked := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "gone"),
		t.TempDir()
	ours, theirs := filepath.Join(w.dir, "ours"), filepath.Join(rig, "theirs")
	for _, path := range []string{filepath.Join(ours, "a"), filepath.Join(ours, "b"),
		filepath.Join(theirs, "b"), filepath.Join(theirs, "c")} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755),
			os.WriteFile(path+formula.Suffix, nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(blocked, ".beads"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	f := effect.Scan{
		Layers: []formula.Layer{{Dir: ours, Title: "city"},
			{Dir: theirs, Title: "rig r", Rig: "r"}},
		Rigs: []agent.Rig{{Name: "x", Path: blocked}, {Name: "r", Path: rig},
			{Name: "bare", Path: bare}, {Name: "gone", Path: gone, Problem: "is not there"}},
	}
	for range 2 {
		in := w.r.automations.scan(t.Context(), f).(effect.Scanned)
		if !strings.HasPrefix(in.Trouble, "cannot link the formulas of rig x: ") ||
			strings.Count(in.Trouble, "cannot link") != 1 {
			t.Errorf("trouble: %q", in.Trouble)
		}
	}
	links := func(dir string) string {
		var out []string
		names, err := filepath.Glob(filepath.Join(dir, ".beads", "formulas", "?"+formula.Suffix))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			target, err := os.Readlink(name)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, strings.TrimSuffix(filepath.Base(name), formula.Suffix)+" "+
				filepath.Base(filepath.Dir(target)))
		}
		return strings.Join(out, ", ")
	}
	for dir, want := range map[string]string{w.dir: "a ours, b ours", bare: "a ours, b ours",
		rig: "a ours, b theirs, c theirs", gone: ""} {
		if got := links(dir); got != want {
			t.Errorf("%s: got %s, want %s", dir, got, want)
		}
	}
	if _, err := os.Stat(gone); err == nil {
		t.Error("the folder of a missing rig was created")
	}
}
