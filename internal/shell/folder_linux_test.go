package shell

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gcity/internal/eventually"
	"gcity/internal/hungfs"
	"gcity/internal/proc"
)

// A line has the same environment and working folder as if it had been started in that folder.
func TestCommandDoesNotSeeTheFolderWrapper(t *testing.T) {
	base := t.TempDir()
	odd := filepath.Join(base, "-a 'b'\n$(c) \"d\"")
	link := filepath.Join(base, "link")
	if err := errors.Join(os.Mkdir(odd, 0o755), os.Symlink(odd, link)); err != nil {
		t.Fatal(err)
	}
	const text = `env | sort; pwd; pwd -P; echo "$0|$#|$*"; (: >&3) 2>/dev/null && echo 3 is open; tr '\0' '|' </proc/$$/cmdline`
	for _, dir := range []string{"/", odd, link, link + "/..", "../shell"} {
		for _, env := range [][]string{
			{}, {"PWD=" + dir}, {"PWD=" + link, "OLDPWD=/usr"}, {"PWD=", "OLDPWD="}, {"PWD=/a", "A=1\n2 '3'", "PWD=/tmp"}, {"CDPATH=/usr:/", "IFS=/", "OLDPWD=x y"},
		} {
			env = append(env, "PATH=/usr/bin:/bin")
			plain := exec.Command("/bin/sh", "-c", text)
			plain.Dir, plain.Env = dir, env
			want, err := plain.Output()
			if err != nil {
				t.Fatal(err)
			}
			res, err := Run(t.Context(), Line{Text: text, Dir: dir, Env: env})
			if err != nil || string(res.Output) != string(want) {
				t.Errorf("in %q with %q: %v\n%s\nwant\n%s", dir, env, err, res.Output, want)
			}
		}
	}
}

// If a line cannot run in its folder, the error says why. If the line itself exits with 96, the code that enterScript
// uses, there is no error.
func TestUnusableFolders(t *testing.T) {
	base := t.TempDir()
	file, closed := filepath.Join(base, "file"), filepath.Join(base, "closed")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Mkdir(closed, 0o600)); err != nil {
		t.Fatal(err)
	}
	for dir, why := range map[string]string{
		filepath.Join(base, "none"): "the folder does not exist, or a folder above it is not accessible", file: "the path is not a folder", closed: "you do not have permission to enter the folder",
		"-": "the folder does not exist, or a folder above it is not accessible",
	} {
		if dir == closed && os.Getuid() == 0 {
			continue // root can enter any folder
		}
		res, err := Run(t.Context(), Line{Text: "echo here", Dir: dir})
		if want := `cannot run "echo here": cannot work in ` + dir + ": " + why; err == nil || err.Error() != want || res.Code != -1 || len(res.Output) > 0 {
			t.Errorf("got %+v, %v; want %s", res, err, want)
		}
	}
	if res, err := Run(t.Context(), Line{Text: "echo gone; exit 96", Dir: base}); err != nil || res.Code != 96 || string(res.Output) != "gone\n" {
		t.Errorf("%+v, %v", res, err)
	}
}

// A hung folder blocks only the line. The caller continues after its deadline.
func TestHungFolder(t *testing.T) {
	t.Parallel()
	if !hungfs.InNamespace(t) {
		return
	}
	for _, deaf := range []bool{false, true} {
		dir, asked, free := hungfs.Mount(t, deaf)
		ctx, cancel := context.WithTimeout(t.Context(), eventually.Timeout)
		defer cancel()
		ended := make(chan error, 1)
		go func() {
			_, err := Run(ctx, Line{Text: "echo never", Dir: filepath.Join(dir, "below"), Env: marked(t, "1")})
			ended <- err
		}()
		if deaf {
			select {
			case <-asked:
			case err := <-ended:
				t.Fatalf("the command exited: %v", err)
			}
		}
		eventually.True(t, "there is a line", func() bool { return len(proc.Descendants(os.Getpid())) > 0 })
		cancel()
		err := <-ended
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "does not respond") || strings.Contains(err.Error(), "has not exited") != deaf {
			t.Errorf("deaf %v: %v", deaf, err)
		}
		if left := proc.Descendants(os.Getpid()); (len(left) > 0) != deaf {
			t.Errorf("deaf %v: remaining processes: got %v", deaf, left)
		}
		free()
		eventually.True(t, "nothing is left", func() bool { return len(proc.Descendants(os.Getpid())) == 0 })
	}
}

// The content of a pipe is read even after the deadline.
func TestDrain(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close() // keep the write end open
	if _, err := w.WriteString(strings.Repeat("x", 50_000) + "end"); err != nil {
		t.Fatal(err)
	}
	if err := r.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	drain(&got, r)
	if got.Len() != 50_003 || !strings.HasSuffix(got.String(), "end") {
		t.Errorf("%d bytes", got.Len())
	}
}
