package api_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gcity/api"
	"gcity/city"
	"gcity/city/citytest"
	"gcity/internal/eventually"
)

type listenerProbe struct {
	t     *testing.T
	wants chan api.TCP
	told  chan city.Listener
}

func keep(t *testing.T) *listenerProbe {
	return kept(t, func(ctx context.Context, d *listenerProbe) {
		api.KeepListening(ctx, d.wants, func(now city.Listener) { d.told <- now }, town(), api.Options{})
	})
}

func kept(t *testing.T, keep func(context.Context, *listenerProbe)) *listenerProbe {
	d := &listenerProbe{t, make(chan api.TCP), make(chan city.Listener, 100)}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		keep(ctx, d)
	}()
	t.Cleanup(func() {
		cancel()
		select {
		case <-ended:
		case <-time.After(patience):
			t.Error("KeepListening did not return")
		}
	})
	return d
}

func (d *listenerProbe) until(address, problem string) {
	d.t.Helper()
	late := time.After(patience)
	for {
		select {
		case now := <-d.told:
			if now.Address == address && (problem == "") == (now.Problem == "") && strings.Contains(now.Problem, problem) {
				return
			}
			d.t.Logf("reported %+v", now)
		case <-late:
			d.t.Fatalf("got no report with %q, %q", address, problem)
		}
	}
}

var hosts atomic.Int32

// Each address has its own host. A parallel test could get the port of a closed listener.
func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", fmt.Sprintf("127.83.21.%d:0", 1+hosts.Add(1)%250))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// A process that another test is starting can briefly hold a copy of the listener.
func closed(address string) func() bool {
	return func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
		}
		return err != nil
	}
}

// The listener starts, moves and stops as requested.
func TestKeep(t *testing.T) {
	t.Parallel()
	d := keep(t)
	one, two := freeAddr(t), freeAddr(t)
	d.wants <- api.TCP{}
	d.wants <- api.TCP{Addr: one}
	d.until(one, "")
	if code, _, body := call(t, "GET", "http://"+one+"/v0/agents", ""); code != 200 {
		t.Errorf("%d %s", code, body)
	}
	conn, err := net.Dial("tcp", one)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()

	other, err := net.Listen("tcp", two)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	d.wants <- api.TCP{Addr: two}
	d.until("", "another program is listening on that address")
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil || strings.Contains(err.Error(), "timeout") {
		t.Errorf("a connection to the old address is still open: %v", err)
	}
	eventually.True(t, "the old address to be closed", closed(one))
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	d.until(two, "")
	if code, _, body := call(t, "GET", "http://"+two+"/v0/agents", ""); code != 200 {
		t.Errorf("%d %s", code, body)
	}

	if code, _, _ := call(t, "GET", "http://"+two+"/v0/agents", "", "Host: city.example.org"); code != 403 {
		t.Errorf("request with an unknown host name: got status %d", code)
	}
	d.wants <- api.TCP{Addr: two, Hosts: []string{"city.example.org"}} // not reported, because the address is the same
	d.wants <- api.TCP{Addr: two, Hosts: []string{"city.example.org"}}
	// the listener restarts, so the first requests can fail
	eventually.True(t, "a host name to become known", func() bool {
		q, err := http.NewRequest("GET", "http://"+two+"/v0/agents", nil)
		if err != nil {
			t.Fatal(err)
		}
		q.Host = "city.example.org"
		a, err := http.DefaultClient.Do(q)
		if err != nil {
			return false
		}
		a.Body.Close()
		return a.StatusCode == 200
	})
	d.wants <- api.TCP{}
	d.until("", "")
	eventually.True(t, "the address to be closed", closed(two))
}

func TestKeepBadAddress(t *testing.T) {
	d := keep(t)
	d.wants <- api.TCP{Addr: "192.0.2.1:8080"}
	d.until("", "does not have that address")
}

// The port stays closed while the token cannot be used. A changed token takes effect immediately.
func TestKeepToken(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	t.Parallel()
	d := keep(t)
	addr, file := freeAddr(t), filepath.Join(t.TempDir(), "token")
	write := func(text string) {
		if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	with := func(token string) int {
		code, _, _ := call(t, "GET", "http://"+addr+"/v0/agents", "", "Authorization: Bearer "+token)
		return code
	}
	d.wants <- api.TCP{Addr: addr, TokenFile: file}
	d.until("", "no such file")
	write("too short")
	d.until("", "does not contain a valid token")
	write(token)
	d.until(addr, "")
	if code := with(token); code != 200 {
		t.Errorf("status with the token: got %d", code)
	}
	if code := with("x" + token[1:]); code != 401 {
		t.Errorf("status with another token: got %d", code)
	}
	other := "another-" + token
	write(other)
	waitUntil(t, func() bool {
		r, err := http.NewRequest("GET", "http://"+addr+"/v0/agents", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+other)
		r.Close = true
		resp, err := http.DefaultClient.Do(r)
		if err != nil { // the listener is being replaced
			return false
		}
		resp.Body.Close()
		return resp.StatusCode == 200
	})
	if code := with(token); code != 401 {
		t.Errorf("status with the old token: got %d", code)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	d.until("", "chmod 600")
	if c, err := net.Dial("tcp", addr); err == nil {
		c.Close()
		t.Error("the API accepts connections although other users can read the token")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(file, 0o600); err != nil { // no process writes to the pipe
		t.Fatal(err)
	}
	d.until("", "is not a regular file, so it cannot be a token file")
}

func waitUntil(t *testing.T, done func() bool) {
	t.Helper()
	eventually.True(t, "KeepListening to return", done)
}

// If a tenant's token cannot be read, only this tenant has no access.
func TestKeepTenants(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for seconds")
	}
	t.Parallel()
	m := citytest.NewDirectory(named("prod"), named("other"))
	d := kept(t, func(ctx context.Context, d *listenerProbe) {
		api.KeepFleetListening(ctx, d.wants, func(now city.Listener) { d.told <- now }, m, api.Options{})
	})
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path+".new", []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	addr := freeAddr(t)
	want := api.TCP{Addr: addr, TokenFile: file("all", token), Tenants: map[string]api.Tenant{
		"acme": {Cities: []string{"prod"}, TokenFile: filepath.Join(dir, "acme")}, "bigcorp": {Cities: []string{"other"}, TokenFile: file("bigcorp", bigToken)},
		"thief": {Cities: []string{"other"}, TokenFile: file("thief", token)},
	}}
	ask := func(tenant, token string) int {
		code, _, _ := call(t, "GET", "http://"+addr+"/v0/tenant/"+tenant+"/cities", "", "Authorization: Bearer "+token)
		return code
	}
	d.wants <- want
	d.until(addr, "tenant acme has no access: cannot read the token")
	if a, b := ask("bigcorp", bigToken), ask("acme", acmeToken); a != 200 || b != 401 {
		t.Errorf("%d, %d", a, b)
	}
	if code, _, body := call(t, "GET", "http://"+addr+"/v0/cities", "", "Authorization: Bearer "+token); code != 200 {
		t.Errorf("%d %s", code, body)
	}
	file("acme", acmeToken)
	d.until(addr, "tenant thief has no access: the file contains the same token as the supervisor's token file")
	if code := ask("acme", acmeToken); code != 200 {
		t.Errorf("status with the tenant's token: got %d", code)
	}
	file("thief", "a-token-of-its-own-012345")
	d.until(addr, "")
	if code := ask("thief", token); code != 200 { // the supervisor's token permits everything
		t.Error(code)
	}
}

// An IPv4 address that means all interfaces does not open the port for IPv6.
func TestKeepIPv4Only(t *testing.T) {
	t.Parallel()
	d := keep(t)
	_, port, err := net.SplitHostPort(freeAddr(t))
	if err != nil {
		t.Fatal(err)
	}
	all := net.JoinHostPort("0.0.0.0", port)
	d.wants <- api.TCP{Addr: all}
	d.until(all, "")
	if c, err := net.Dial("tcp6", net.JoinHostPort("::1", port)); err == nil {
		c.Close()
		t.Error("the port accepts connections over IPv6")
	}
	if code, _, body := call(t, "GET", "http://127.0.0.1:"+port+"/v0/agents", ""); code != 200 {
		t.Errorf("%d %s", code, body)
	}
}
