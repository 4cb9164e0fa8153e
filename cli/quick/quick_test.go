package quick

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gcity/api/wire"
	"gcity/internal/screen"
)

func TestParse(t *testing.T) {
	for line, want := range map[string]peek{
		"agent peek a":                    {agent: "a", city: "."},
		"agent peek --city /c r/a-1":      {agent: "r/a-1", city: "/c"},
		"agent peek a -n 20 --city /c":    {agent: "a", city: "/c", lines: 20},
		"agent peek":                      {},
		"agent peek a b":                  {},
		"agent peek a --json":             {},
		"agent peek a --city":             {},
		"agent peek a --city=/c":          {},
		"agent peek -n 0 a":               {},
		"agent peek -n x a":               {},
		"agent peek a?lines=1":            {},
		"agent peek ../a":                 {},
		"agent logs a":                    {},
		"--city /c agent peek a":          {},
		"agent peek a -n 20 -- --city /c": {},
	} {
		got, ok := parse(strings.Fields(line), "")
		if ok != (want.agent != "") || ok && got != want {
			t.Errorf("%s: %+v, %v", line, got, ok)
		}
	}
	if p, ok := parse([]string{"agent", "peek", "a", "--city", ""}, "/c"); ok {
		t.Errorf("an empty folder: got %+v", p)
	}
	if p, _ := parse([]string{"agent", "peek", "a"}, "/c"); p.city != "/c" {
		t.Errorf("GC_CITY_PATH was ignored: %+v", p)
	}
}

// Package cli prints every safe text unchanged.
func TestSafeTextIsPlain(t *testing.T) {
	for r := rune(0); r <= 0x1ffff; r++ {
		text := "a" + string(r) + "b" + string(r) + string(r)
		if r != '\n' && isSafe(text) && screen.Plain(text) != text {
			t.Errorf("%q becomes %q", text, screen.Plain(text))
		}
	}
	long := strings.Repeat("界", 1024)
	if !isSafe(long+"\n"+long) || screen.Plain(long) != long {
		t.Error("a long line")
	}
	if isSafe(long + "a") {
		t.Error("isSafe accepted a line that package cli might shorten")
	}
	if maxLines != wire.MaxLines {
		t.Errorf("maxLines differs from the API's limit, %d", wire.MaxLines)
	}
}

// Package quick leaves invalid responses to package cli.
func TestOutput(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(dir+"/.gc", 0o700), os.WriteFile(dir+"/city.toml", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, ".gc", "controller.sock"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for response, want := range map[string]string{
		"HTTP/1.1 200 OK\r\n\r\n" + `{"turns":[{"text":"one\n"},{"text":"two\n\n"}]}`: "one\ntwo",
		"HTTP/1.1 200 OK\r\n\r\n" + `{"turns":[{"text":"\u001b[2J"}]}`:                "",
		"HTTP/1.1 200 OK\r\n\r\n" + `{"turns":[{"text":"one"}`:                        "",
		"HTTP/1.1 200 OK\r\n\r\n" + `{"turns":[]}`:                                    "",
		"HTTP/1.1 404 Not Found\r\n\r\n" + `{"turns":[{"text":"one"}]}`:               "",
		"HTTP/1.1 200 OK\r\n\r\n" + strings.Repeat(" ", maxResponse):                  "",
		"": "",
	} {
		request := make(chan string, 1)
		go func() {
			c, err := l.Accept()
			if err != nil {
				request <- err.Error()
				return
			}
			defer c.Close()
			buf := make([]byte, 1000)
			n, _ := c.Read(buf)
			_, _ = c.Write([]byte(response))
			request <- string(buf[:n])
		}()
		got, ok := peek{agent: "r/a", city: dir, lines: 5}.output()
		if got != want && ok || ok != (want != "") {
			t.Errorf("%.60q: %q, %v", response, got, ok)
		}
		if r := <-request; !strings.HasPrefix(r, "GET /v0/agent/r%2Fa/output?lines=5 HTTP/1.1\r\n") {
			t.Errorf("request: got %q", r)
		}
	}
}

// Package quick is useful only if no expensive initialization precedes it.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "gcity/cli/quick").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range strings.Fields(string(out)) {
		if strings.Contains(p, ".") || slices.Contains([]string{"net", "net/http", "regexp"}, p) {
			t.Errorf("quick depends on %s", p)
		}
	}
}
