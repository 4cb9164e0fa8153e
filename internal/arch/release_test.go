package arch

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

var made = map[string]string{"build/man": "man", "build/completions": "packaging"}

// All files of a release exist or are generated before the release. goreleaser publishes nothing.
func TestRelease(t *testing.T) {
	text, err := os.ReadFile("../../.goreleaser.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var r struct {
		Version int
		Before  struct{ Hooks []string }
		Builds  []struct {
			Main, Binary        string
			Env, Flags, Ldflags []string
			Goos, Goarch        []string
			Stamp               string `yaml:"mod_timestamp"`
		}
		Archives []struct {
			Formats, Files []string
			Name           string `yaml:"name_template"`
			Wrap           bool   `yaml:"wrap_in_directory"`
		}
		NFPMs []struct {
			Formats                                           []string
			Maintainer, Description, License, Section, Bindir string
			Suggests                                          []string
			Contents                                          []struct{ Src, Dst, Packager string }
			File                                              string `yaml:"file_name_template"`
		} `yaml:"nfpms"`
		Release struct{ Disable bool }
		Project string            `yaml:"project_name"`
		Sums    map[string]string `yaml:"checksum"`
		Next    map[string]string `yaml:"snapshot"`
	}
	d := yaml.NewDecoder(strings.NewReader(string(text)))
	d.KnownFields(true)
	if err := d.Decode(&r); err != nil {
		t.Fatal(err)
	}
	if r.Version != 2 || !r.Release.Disable || len(r.Builds) != 1 || len(r.Archives) != 1 || len(r.NFPMs) != 1 {
		t.Fatalf("%+v", r)
	}
	b := r.Builds[0]
	if b.Main != "." || !slices.Contains(b.Flags, "-trimpath") || !slices.Contains(b.Flags, "-tags=holder") || !strings.Contains(strings.Join(b.Ldflags, " "), "-X main.version=") || !slices.Contains(b.Env, "CGO_ENABLED=0") {
		t.Errorf("the build differs from the one in the Makefile: %+v", b)
	}
	if !slices.Equal(r.Archives[0].Formats, []string{"tar.gz"}) || !slices.Equal(r.NFPMs[0].Formats, []string{"deb", "rpm"}) {
		t.Errorf("%v, %v", r.Archives[0].Formats, r.NFPMs[0].Formats)
	}
	files := slices.Clone(r.Archives[0].Files)
	for _, c := range r.NFPMs[0].Contents {
		files = append(files, c.Src)
		if !path.IsAbs(c.Dst) {
			t.Errorf("%s: got the destination %q", c.Src, c.Dst)
		}
	}
	for _, f := range files {
		if made[path.Dir(f)] != "" {
			continue
		}
		if found, err := filepath.Glob(filepath.Join("../..", f)); err != nil || len(found) == 0 {
			t.Errorf("%s is missing: %v", f, err)
		}
	}
	for _, want := range []string{"/usr/share/man/man1/", "/usr/share/bash-completion/completions/gcity", "/usr/lib/systemd/user/gcity@.service"} {
		if !strings.Contains(string(text), "dst: "+want+"\n") {
			t.Errorf("%s is not installed", want)
		}
	}
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for dir, target := range made {
		if !strings.Contains(string(makefile), "\n"+target+":") || !strings.Contains(string(makefile), dir) {
			t.Errorf("no target %s creates %s", target, dir)
		}
	}
	for _, hook := range r.Before.Hooks {
		if target, ok := strings.CutPrefix(hook, "make "); !ok || !strings.Contains(string(makefile), "\n"+target+":") {
			t.Errorf("hook %q is not a target of the Makefile", hook)
		}
	}
}

func TestPackagedUnits(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	units, err := filepath.Glob("../../packaging/*.service")
	if err != nil || len(units) != 2 {
		t.Fatalf("%q, %v", units, err)
	}
	for _, unit := range units {
		text, err := os.ReadFile(unit)
		if err != nil {
			t.Fatal(err)
		}
		// The unit names an installed program, which may not exist on this machine.
		here := filepath.Join(t.TempDir(), filepath.Base(unit))
		if err := os.WriteFile(here, []byte(strings.ReplaceAll(string(text), "/usr/bin/gcity", "/bin/sh")), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(analyze, "--user", "--man=no", "verify", strings.Replace(here, "@.", "@srv-town.", 1))
		cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+t.TempDir(), "LC_ALL=C")
		if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "gcity") {
			t.Errorf("%s: %v\n%s", unit, err, out)
		}
	}
}
