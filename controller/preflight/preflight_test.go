package preflight_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gcity/agent"
	"gcity/controller/preflight"
	"gcity/session"
)

// host is a provider that runs sessions on this machine or elsewhere.
type host struct {
	session.Provider
	local bool
}

func (h host) IsLocal(string) bool { return h.local }

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	good := agent.Want{Name: "a", Spec: session.Spec{Dir: dir, Command: "true",
		Env: []string{"PATH=/usr/bin:/bin"}}}
	for _, c := range []struct {
		what   string
		change func(*agent.Want)
		here   string // error if the provider runs sessions on this machine
		away   string // error if the provider runs sessions elsewhere
		kind   error
	}{
		{"good", func(*agent.Want) {}, "", "", nil},
		{"problem", func(w *agent.Want) { w.Problem = "no command" }, "no command", "no command", nil},
		{"folder", func(w *agent.Want) { w.Spec.Dir = dir + "/gone" }, "gone does not exist", "",
			session.ErrCommand},
		{"made", func(w *agent.Want) { w.Spec.Dir, w.MakeDir = dir+"/a/b", true }, "", "", nil},
		{"not made", func(w *agent.Want) { w.Spec.Dir, w.MakeDir = file+"/b", true },
			"file is not a folder", "file is not a folder", session.ErrCommand},
		{"file", func(w *agent.Want) { w.Spec.Dir = file }, "is not a folder", "", session.ErrCommand},
		{"program", func(w *agent.Want) { w.Spec.Command = "no-such-program" },
			`"no-such-program" is not on the agent's PATH`, "", session.ErrMissing},
		{"pre_start", func(w *agent.Want) {
			w.Spec.Command, w.Spec.PreStart = "./made", []string{"true", "./made --now"}
		}, "", "", nil},
		{"pre_start without its program", func(w *agent.Want) {
			w.Spec.PreStart = []string{"./nopre --now", "true"}
		}, "program ./nopre not found; install it, or correct the pre_start", "", session.ErrMissing},
		{"pre_start not on PATH", func(w *agent.Want) { w.Spec.PreStart = []string{"nopre"} },
			`the pre_start program "nopre" is not on the agent's PATH`, "", session.ErrMissing},
		{"pre_start that continues", func(w *agent.Want) {
			w.Spec.PreStart = []string{"./nopre || true"}
		}, "", "", nil},
		{"overlay", func(w *agent.Want) { w.Spec.Command, w.Overlay = "./made", dir }, "", "", nil},
		{"variable", func(w *agent.Want) {
			w.Spec.Env = append(w.Spec.Env, "BIG="+strings.Repeat("x", 200<<10))
		}, "the environment variable BIG is too long", "", session.ErrCommand},
		{"command", func(w *agent.Want) { w.Spec.Command = "true " + strings.Repeat("x", 200<<10) },
			"the agent's command line is too long", "", session.ErrCommand},
	} {
		w := good
		w.Spec.Env = append([]string(nil), good.Spec.Env...)
		c.change(&w)
		for local, want := range map[bool]string{true: c.here, false: c.away} {
			err := preflight.New(host{local: local}).Check(t.Context(), &w)
			switch {
			case want == "" && err != nil, want != "" && (err == nil ||
				!strings.Contains(err.Error(), want)):
				t.Errorf("%s, local %v: got %v, want %q", c.what, local, err, want)
			case err != nil && c.kind != nil && !errors.Is(err, c.kind):
				t.Errorf("%s: %v is not %v", c.what, err, c.kind)
			}
		}
	}
	if _, err := os.Stat(dir + "/a"); err == nil {
		t.Error("the check has created a folder")
	}
}
