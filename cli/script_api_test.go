package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

// loopback is an address on which only scripts are expected to listen.
const loopback = "127.83.22.9"

func tcpCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"freeport": freePort, "listen": listen, "unlisten": unlisten, "edit": editFile, "fetch": fetch,
	}
}

// freeport VAR stores the number of a free port on loopback in VAR.
func freePort(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: freeport VAR")
	}
	l, err := net.Listen("tcp", loopback+":0")
	ts.Check(err)
	defer l.Close()
	ts.Setenv(args[0], strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
}

// listen PORT listens on a port; unlisten closes the last listener.
func listen(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: listen PORT")
	}
	l, err := net.Listen("tcp", net.JoinHostPort(loopback, args[0]))
	ts.Check(err)
	*ts.Value(listenerKey{}).(*net.Listener) = l
	ts.Defer(func() { l.Close() })
}

func unlisten(ts *testscript.TestScript, _ bool, _ []string) {
	ts.Check((*ts.Value(listenerKey{}).(*net.Listener)).Close())
}

type listenerKey struct{}

// edit KEY VALUE replaces city.toml, as an editor does.
func editFile(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: edit KEY VALUE")
	}
	value := args[1]
	_, notNumber := strconv.Atoi(value)
	if _, notBool := strconv.ParseBool(value); notNumber != nil && notBool != nil {
		value = strconv.Quote(value)
	}
	lines, found := strings.Split(ts.ReadFile("city.toml"), "\n"), false
	for i, line := range lines {
		if strings.HasPrefix(line, args[0]+" = ") {
			lines[i], found = args[0]+" = "+value, true
		}
	}
	if !found {
		ts.Fatalf("city.toml has no %s", args[0])
	}
	path := ts.MkAbs("city.toml")
	ts.Check(os.WriteFile(path+".new", []byte(strings.Join(lines, "\n")), 0o644))
	ts.Check(os.Rename(path+".new", path))
}

// fetch STATUS URL [METHOD] [NAME:VALUE]… sends an HTTP request and prints the response.
// STATUS "-" means that the connection must be refused.
func fetch(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: fetch STATUS URL [METHOD] [NAME:VALUE]…")
	}
	r, err := http.NewRequest(http.MethodGet, args[1], nil)
	ts.Check(err)
	for _, arg := range args[2:] {
		name, value, header := strings.Cut(arg, ":")
		switch {
		case !header:
			r.Method = arg
		case name == "Host":
			r.Host = value
		case strings.HasPrefix(value, "@"):
			r.Header.Set(name, "Bearer "+strings.TrimSpace(ts.ReadFile(value[1:])))
		default:
			r.Header.Set(name, value)
		}
	}
	r.Close = true
	resp, err := (&http.Client{Timeout: patience}).Do(r)
	if args[0] == "-" {
		if !errors.Is(err, syscall.ECONNREFUSED) {
			ts.Fatalf("%s: %v", args[1], err)
		}
		return
	}
	ts.Check(err)
	defer resp.Body.Close()
	var body bytes.Buffer
	_, err = io.Copy(&body, resp.Body)
	ts.Check(err)
	fmt.Fprint(ts.Stdout(), body.String())
	if strconv.Itoa(resp.StatusCode) != args[0] {
		ts.Fatalf("%s: got %d, want %s: %s", args[1], resp.StatusCode, args[0], body.String())
	}
}
