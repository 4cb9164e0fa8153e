package e2e

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The documented curl commands work with a real supervisor of two cities.
func TestCurl(t *testing.T) {
	t.Parallel()
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed")
	}
	l := newFleetTest(t, 2)
	names := []string{"bright-lights", "dark-alleys"}
	for i, c := range l.towns {
		c.config(strings.Replace(strings.Replace(l.city(c, i), fmt.Sprintf("town%d", i), names[i], 1), `name = "one"`, `name = "worker"`, 1))
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	free.Close()
	l.put("supervisor.toml", fmt.Sprintf("[supervisor]\nport = %d\n", port))
	l.begin()
	l.towns[0].until("both cities run", func() bool { return l.is(l.towns[0]).Running && l.is(l.towns[1]).Running })
	token := filepath.Join(l.home, "api.token") // created by the supervisor
	ask := func(line string) string {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		line = strings.ReplaceAll(line, "localhost:8080", fmt.Sprintf("localhost:%d", port))
		out, err := exec.CommandContext(ctx, "sh", "-c", strings.Replace(line, "curl ", curl+" -sS -H \"Authorization: Bearer $(cat "+token+")\" ", 1)).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v: %s", line, err, out)
		}
		return string(out)
	}
	l.towns[0].until("the port answers", func() bool {
		conn, err := net.DialTimeout("tcp", fmt.Sprintf("127.0.0.1:%d", port), time.Second)
		if err != nil {
			return false
		}
		conn.Close()
		return true
	})
	l.towns[0].until("the worker runs", func() bool {
		return strings.Contains(ask("curl http://localhost:8080/v0/city/bright-lights/agent/worker"), `"state":"running"`)
	})
	for line, want := range map[string][]string{
		"curl http://localhost:8080/v0/cities":                                 {`"name":"bright-lights"`, `"name":"dark-alleys"`, `"running":2`},
		"curl http://localhost:8080/v0/city/bright-lights/agents":              {`"name":"worker"`},
		"curl http://localhost:8080/v0/city/bright-lights/agent/worker/output": {`"agent":"worker"`, `"turns"`},
		"curl http://localhost:8080/v0/city/dark-alleys/beads?status=open":     {`"items":[]`},
		"curl http://localhost:8080/v0/agents":                                 {`"city":"bright-lights"`, `"city":"dark-alleys"`},
		"curl http://localhost:8080/v0/status":                                 {"city_required", "bright-lights, dark-alleys"},
		"curl -X POST http://localhost:8080/v0/city/dark-alleys/suspend":       {"forbidden", "X-GC-Request"},
		"curl -H 'Host: evil.example' http://localhost:8080/v0/cities":         {"forbidden"},
	} {
		got := ask(line)
		for _, text := range want {
			if !strings.Contains(got, text) {
				t.Errorf("output of %s: want %s in\n%.600s", line, text, got)
			}
		}
	}
	ctx, hangUp := context.WithTimeout(t.Context(), patience)
	defer hangUp()
	stream := exec.CommandContext(ctx, "sh", "-c", curl+` -sSN -H "Authorization: Bearer $(cat "$0")" "$1"`, token, fmt.Sprintf("http://localhost:%d/v0/events/stream?after=0", port))
	out, err := stream.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Start(); err != nil {
		t.Fatal(err)
	}
	started := map[string]bool{}
	for lines := bufio.NewScanner(out); len(started) < 2 && lines.Scan(); {
		for _, name := range names {
			if line := lines.Text(); strings.Contains(line, `"city":"`+name+`"`) && strings.Contains(line, `"agent.started"`) {
				started[name] = true
			}
		}
	}
	hangUp()
	_ = stream.Wait() // returns an error, because the process was killed
	if len(started) < 2 {
		t.Errorf("agents in the stream: got only %v", started)
	}
	if got := ask("curl -X POST -H 'X-GC-Request: 1' http://localhost:8080/v0/city/dark-alleys/unregister"); !strings.Contains(got, `"message"`) || strings.Contains(got, `"code"`) {
		t.Error(got)
	}
	if got := ask("curl http://localhost:8080/v0/agents"); !strings.Contains(got, `"worker"`) || strings.Contains(got, "dark-alleys") {
		t.Errorf("afterwards: %s", got)
	}
	if got := ask("curl http://localhost:8080/v0/status"); !strings.Contains(got, `"name":"bright-lights"`) {
		t.Error(got)
	}
	l.gcity(0, "supervisor", "stop")
	for _, c := range l.towns {
		c.nothingLeft()
	}
}
