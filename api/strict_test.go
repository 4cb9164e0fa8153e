package api_test

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"gcity/api"
)

// A request with an ambiguous length is rejected, and its connection is closed.
func TestAmbiguousLength(t *testing.T) {
	f := town()
	addr := overTCP(t, f, api.Guard{}, api.Options{})
	for _, lines := range []string{"Content-Length: 6\r\nTransfer-Encoding: chunked\r\n", "Transfer-Encoding: chunked\r\n"} {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "POST /v0/suspend HTTP/1.1\r\nHost: localhost\r\nX-GC-Request: 1\r\nContent-Type: application/json\r\n%s\r\n0\r\n\r\nPOST /v0/stop HTTP/1.1\r\nHost: localhost\r\nX-GC-Request: 1\r\n\r\n", lines)
		r := bufio.NewReader(c)
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != 400 || !resp.Close {
			t.Errorf("%q: %d, close %v: %s", lines, resp.StatusCode, resp.Close, body)
		}
		if rest, err := io.ReadAll(r); err != nil || len(rest) > 0 {
			t.Errorf("%q: the connection is still open: %q %v", lines, rest, err)
		}
	}
	if done := f.Commands(); len(done) > 0 {
		t.Errorf("executed: %v", done)
	}
}

// JSON with a duplicate key is rejected.
func TestDuplicateKeys(t *testing.T) {
	f := town()
	addr := overTCP(t, f, api.Guard{}, api.Options{})
	for body, want := range map[string]int{
		`{"type":"a.b","type":"c.d"}`:                                      400,
		`{"type":"a.b","Type":"c.d"}`:                                      400,
		`{"type":"a.b","payload":{"x":1,"y":[{"z":1,"z":2}]}}`:             400,
		`{"type":"a.b","payload":{"x":1,"X":2,"y":[{"x":1},{"x":1},"x"]}}`: 200,
		`{"type":"a.b","message":"type","subject":"type"}`:                 200,
	} {
		code, _, answer := call(t, "POST", "http://"+addr+"/v0/events", body, inJSON, byProgram)
		if code != want {
			t.Errorf("%s: %d %s", body, code, answer)
		}
	}
}

// Rejected requests, and changes over TCP, are logged with their address. Reads are not.
func TestRejectionsAndChangesAreLogged(t *testing.T) {
	var out syncBuffer
	addr := overTCP(t, town(), api.Guard{Token: token}, api.Options{Log: slog.New(slog.NewTextHandler(&out, nil))})
	auth := "Authorization: Bearer " + token
	call(t, "GET", "http://"+addr+"/v0/agents", "", auth)
	if text := out.String(); strings.Contains(text, "over TCP") {
		t.Error(text)
	}
	for range 3 {
		call(t, "GET", "http://"+addr+"/v0/agents", "")
		call(t, "POST", "http://"+addr+"/v0/suspend", "", auth, byProgram)
	}
	text := out.String()
	if strings.Count(text, "over TCP: rejected") != 1 || strings.Count(text, "over TCP: changed") != 1 || !strings.Contains(text, "address=127.0.0.1 method=POST path=/v0/suspend") || strings.Contains(text, token) {
		t.Error(text)
	}
}

type syncBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
