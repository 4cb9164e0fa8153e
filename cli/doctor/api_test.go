package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gcity/city"
	"gcity/cli/env"
	"gcity/config"
	"gcity/controller"
)

func TestJudgeAPI(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("0123456789abcdef\n"), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good := file("good", 0o600)
	for _, c := range []struct {
		api         config.API
		state, says string
	}{
		{config.API{Bind: "127.0.0.1", Token: true}, "ok", "reachable only through the city's socket"},
		{config.API{Port: 8080, Bind: "127.0.0.1"}, "note", "every user of this machine has " +
			"full access through 127.0.0.1:8080"},
		{config.API{Port: 8080, Bind: "localhost", TokenFile: good}, "ok",
			"reachable with a token on 127.0.0.1:8080"},
		{config.API{Port: 8080, Bind: "::1", TokenFile: good}, "ok", "reachable with a token on [::1]:8080"},
		{config.API{Port: 8080, Bind: "0.0.0.0", TokenFile: good}, "note",
			"other machines can reach it on 0.0.0.0:8080"},
		{config.API{Port: 8080, Bind: "0.0.0.0"}, "bad", "every client that can reach this machine"},
		{config.API{Port: 8080, Bind: "127.0.0.1", TokenFile: file("open", 0o644)}, "bad",
			"other users can read the token"},
		{config.API{Port: 8080, Bind: "127.0.0.1", Token: true}, "ok",
			"reachable with a token on 127.0.0.1:8080"},
		{config.API{Port: 8080, Bind: "127.0.0.1", TokenFile: good,
			ReadFile: file("openread", 0o644)}, "bad", "the API rejects this token"},
		{config.API{Port: 8080, Bind: "127.0.0.1", TokenFile: filepath.Join(dir, "none")}, "bad",
			"the API is unreachable"},
	} {
		f := judgeAPI(dir, c.api)
		if f.State != c.state || !strings.Contains(f.Detail+f.Fix, c.says) ||
			(c.state != "ok" && f.Fix == "") ||
			strings.Contains(f.Detail+f.Fix, "0123456789abcdef") {
			t.Errorf("%+v: got %+v, want %s: %s", c.api, f, c.state, c.says)
		}
	}
}

// The API is reported as reachable only if the controller listens.
func TestCheckAPIOfRunningCity(t *testing.T) {
	home := t.TempDir()
	port := config.API{Port: 8080, Bind: "127.0.0.1", Token: true}
	for _, c := range []struct {
		name        string
		api         config.API
		running     *city.Snapshot
		state, says string
	}{
		{"no controller", port, nil, "ok", "not listening on 127.0.0.1:8080, because no " +
			"controller responds"},
		{"listening", port, &city.Snapshot{API: "127.0.0.1:8080"}, "ok",
			"reachable with a token on 127.0.0.1:8080"},
		{"not listening", port, &city.Snapshot{Mode: "headless"}, "bad",
			"the controller does not listen on 127.0.0.1:8080"},
		{"supervised", port, &city.Snapshot{Mode: controller.Supervised, Name: "town"}, "note",
			"nothing listens on 127.0.0.1:8080, because the supervisor runs this city; " +
				"the supervisor's API on 127.0.0.1:9090 has the city at /v0/city/town"},
		{"no port", config.API{}, &city.Snapshot{Mode: "headless"}, "ok",
			"reachable only through the city's socket"},
	} {
		if err := os.WriteFile(filepath.Join(home, "supervisor.toml"),
			[]byte("[supervisor]\nport = 9090\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		e := &env.Env{}
		e.Getenv = func(name string) string { return map[string]string{"GC_HOME": home}[name] }
		f := checkAPI(t.Context(), &Subject{dir: t.TempDir(), env: e,
			config: &config.City{API: c.api}, Running: c.running})
		if f.State != c.state || !strings.Contains(f.Detail, c.says) ||
			(c.state != "ok" && f.Fix == "") {
			t.Errorf("%s: got %+v, want %s: %s", c.name, f, c.state, c.says)
		}
	}
}
