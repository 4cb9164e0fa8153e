package cli

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gcity/api"
	"gcity/city"
	"gcity/city/citytest"
	"gcity/events"
	"gcity/internal/eventually"
)

// Every command in docs/api.md works as written, with the city's token and with a user's token.
func TestCurlLines(t *testing.T) {
	if testing.Short() {
		t.Skip("starts curl dozens of times")
	}
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	lines := curlLines(t, false)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", loopback+":0")
	if err != nil {
		t.Fatal(err)
	}
	here := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	env := append(os.Environ(), "GORACE="+quickEnd, "XDG_RUNTIME_DIR="+dir)
	sh := func(line string) (string, error) {
		ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, "sh", "-c", line)
		cmd.Dir, cmd.Env = dir, env
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	write := func(more string) {
		text := fmt.Sprintf("[workspace]\nname = \"town\"\n[[agents]]\nname = \"worker\"\nstart_command = \"echo idle; exec cat\"\n[api]\nport = %s\nbind = %q\n%s",
			here[len(loopback)+1:], loopback, more)
		if err := os.WriteFile(filepath.Join(dir, "city.toml"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	until := func(want, line string) {
		t.Helper()
		var out string
		var err error
		eventually.True(t, fmt.Sprintf("%q by %s", want, line), func() bool {
			out, err = sh(line)
			return err == nil && strings.Contains(out, want)
		}, func() string { return fmt.Sprintf("%v\n%s", err, out) })
	}
	write("")
	city := exec.Command("gcity", "--headless")
	city.Dir, city.Env = dir, env
	if err := city.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		out, err := sh("gcity stop")
		if err := city.Wait(); err != nil {
			t.Error(err)
		}
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}()
	until("idle", "gcity agent peek worker")
	until("api http://"+here, "gcity status")
	ran, auth := 0, ""
	for _, line := range lines {
		if strings.HasPrefix(line, "auth=") {
			auth = line + "\n"
			continue
		}
		line = strings.ReplaceAll(line, "localhost:8080", here)
		line = strings.ReplaceAll(line, "curl ", "curl -sS --fail-with-body ")
		run := sh
		if strings.Contains(line, " -N ") {
			run = func(line string) (string, error) { return opened(sh, line) }
		}
		out, err := run(auth + line)
		makes := strings.HasPrefix(line, "(umask")
		if err != nil || out == "" && !makes {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
		status := "curl -s -o /dev/null -w '%%{http_code}' -H \"Authorization: Bearer $(cat " + "%s)\" http://" + here + "/health"
		switch {
		case strings.HasSuffix(line, "> token)"):
			write("token_file = \"token\"\n")
			until("200", fmt.Sprintf(status, "token"))
		case strings.HasSuffix(line, "> reader)"):
			write("token_file = \"token\"\nread_token_file = \"reader\"\n")
			until("200", fmt.Sprintf(status, "reader"))
		case strings.Contains(line, "cat reader"):
			write("")
			until("200", fmt.Sprintf(status, ".gc/api.token"))
		}
		ran++
	}
	if ran < 10 {
		t.Errorf("only %d commands were tested", ran)
	}
}

// opened retries with longer time limits, because the machine may be busy.
func opened(sh func(line string) (string, error), line string) (out string, err error) {
	for _, limit := range []string{"1", "5", "60"} {
		if out, err = sh(strings.ReplaceAll(line, "curl ", "curl -N --max-time "+limit+" ")); strings.Contains(out, ": open") {
			return out, nil
		}
	}
	return out, err
}

func curlLines(t *testing.T, many bool) (lines []string) {
	t.Helper()
	page, err := os.ReadFile("../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	one, several, found := strings.Cut(string(page), "\n## Many cities\n")
	if !found {
		t.Fatal("docs/api.md has no section about many cities")
	}
	if many {
		one = several
	}
	for line := range strings.Lines(one) {
		if line, indented := strings.CutPrefix(strings.TrimRight(line, "\n"), "    "); indented {
			lines = append(lines, line)
		}
	}
	return lines
}

// The commands for many cities and for tenants in docs/api.md work as written, except for the address.
func TestFleetCurlLines(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip("curl is not installed")
	}
	worker := func(name string) *citytest.Fake {
		f := citytest.NewFake(name, city.Agent{Name: "worker", Running: true})
		f.Record(events.Event{Type: "agent.started", Actor: "controller", Subject: "worker"})
		return f
	}
	dir, key, own := t.TempDir(), "0123456789-of-acme", "0123456789-of-all"
	if err := os.Mkdir(filepath.Join(dir, ".gc"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, token := range map[string]string{"acme": key, ".gc/api.token": own} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(token), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dark := worker("dark-alleys")
	m := citytest.NewDirectory(worker("bright-lights"), dark)
	m.Folder("/home/user/dark-alleys", dark)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	listen := func(g api.Guard) string {
		l, err := net.Listen("tcp", loopback+":0")
		if err != nil {
			t.Fatal(err)
		}
		g.Fleet = true
		wg.Go(func() {
			if err := api.ServeFleet(ctx, l, m, api.Options{Guard: &g}); err != nil {
				t.Error(err)
			}
		})
		return l.Addr().String()
	}
	all, tenants := listen(api.Guard{Token: own}), listen(api.Guard{Tenants: map[string]api.Tenant{"acme": {Cities: []string{"bright-lights", "dark-alleys"}, Token: key}}})
	ran, auth := 0, ""
	for _, line := range curlLines(t, true) {
		if strings.HasPrefix(line, "auth=") {
			auth = line + "\n"
			continue
		}
		here := all
		if strings.Contains(line, "/v0/tenant/") {
			here = tenants
		}
		streams := strings.Contains(line, "/stream")
		line = strings.ReplaceAll(line, "localhost:8080", here)
		line = strings.ReplaceAll(line, "curl ", "curl -sS --fail-with-body ")
		run := func(line string) (string, error) {
			patient, end := context.WithTimeout(t.Context(), 2*patience)
			defer end()
			cmd := exec.CommandContext(patient, "sh", "-c", line)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir)
			out, err := cmd.CombinedOutput()
			return string(out), err
		}
		sh := run
		if streams {
			sh = func(line string) (string, error) { return opened(run, line) }
		}
		out, err := sh(auth + line)
		if err != nil || out == "" || strings.Contains(out, "unreachable") {
			t.Errorf("%s: %v\n%s", line, err, out)
		}
		ran++
	}
	if ran < 15 {
		t.Errorf("only %d commands were tested", ran)
	}
}
