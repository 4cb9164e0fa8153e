package doctor

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gcity/config"
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
