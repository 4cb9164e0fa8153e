package api_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gcity/api"
	apitoken "gcity/api/token"
	"gcity/city"
)

// Without a token, KeepListening creates a private token file.
func TestKeepMakesToken(t *testing.T) {
	d := keep(t)
	addr, file := freeAddr(t), filepath.Join(t.TempDir(), "api.token")
	d.wants <- api.TCP{Addr: addr, TokenFile: file, MakeToken: true}
	now := d.next(addr)
	if now.TokenFile != file {
		t.Errorf("reported token file: got %q", now.TokenFile)
	}
	info, err := os.Lstat(file)
	if err != nil || info.Mode().Perm() != 0o600 || !info.Mode().IsRegular() {
		t.Fatalf("%v %v", info, err)
	}
	made, err := apitoken.Read(file)
	if err != nil || len(made) < 40 {
		t.Fatalf("%q %v", made, err)
	}
	if code, _, body := call(t, "GET", "http://"+addr+"/v0/agents", ""); code != 401 || !strings.Contains(body, "gcity status") {
		t.Errorf("request without the token: got %d %s", code, body)
	}
	if code, _, body := call(t, "GET", "http://"+addr+"/v0/agents", "", "Authorization: Bearer "+made); code != 200 {
		t.Errorf("request with the token: got %d %s", code, body)
	}
	d.wants <- api.TCP{}
	d.until("", "")
	d.wants <- api.TCP{Addr: addr, TokenFile: file, MakeToken: true}
	d.until(addr, "")
	if again, err := apitoken.Read(file); err != nil || again != made {
		t.Errorf("the existing token was replaced: %v", err)
	}
}

// KeepListening never replaces a file in the place of the token file.
func TestKeepDoesNotReplaceFiles(t *testing.T) {
	dir := t.TempDir()
	d := keep(t)
	addr, file, victim := freeAddr(t), filepath.Join(dir, "api.token"), filepath.Join(dir, "victim")
	if err := os.Symlink(victim, file); err != nil {
		t.Fatal(err)
	}
	d.wants <- api.TCP{Addr: addr, TokenFile: file, MakeToken: true}
	d.until("", "no such file")
	if _, err := os.Lstat(victim); !os.IsNotExist(err) {
		t.Errorf("the listener followed the link: %v", err)
	}
}

// A read-only token permits only GET requests and streams.
func TestReadOnlyToken(t *testing.T) {
	t.Parallel()
	d := keep(t)
	dir, addr := t.TempDir(), freeAddr(t)
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const reader = "a-token-that-only-reads"
	want := api.TCP{Addr: addr, TokenFile: write("all", token), ReadFile: write("read", reader)}
	d.wants <- want
	d.until(addr, "")
	as := func(method, path, token string) (int, string) {
		code, _, body := call(t, method, "http://"+addr+path, "", "Authorization: Bearer "+token, "X-GC-Request: 1")
		return code, body
	}
	for _, c := range []struct {
		method, path, token string
		code                int
	}{
		{"GET", "/v0/agents", reader, 200}, {"GET", "/v0/agents", token, 200}, {"GET", "/v0/agents", "x" + reader, 401},
		{"POST", "/v0/suspend", reader, 403}, {"PATCH", "/v0/bead/x-1", reader, 403}, {"DELETE", "/v0/agent/worker", reader, 403}, {"POST", "/v0/agent/worker/attach", reader, 403},
		{"POST", "/v0/suspend", token, 200},
	} {
		code, body := as(c.method, c.path, c.token)
		if code != c.code || code == 403 && !strings.Contains(body, "this token permits only reading") {
			t.Errorf("%s %s with %s: got %d %s", c.method, c.path, c.token, code, body)
		}
	}
	write("read", token) // the token in token_file
	d.until(addr, "cannot use read_token_file, so its token is rejected: the file contains the same token as token_file")
	if code, body := as("POST", "/v0/resume", token); code != 200 {
		t.Errorf("request with the other token: got %d %s", code, body)
	}
	if code, _ := as("GET", "/v0/agents", reader); code != 401 {
		t.Errorf("request with the old read-only token: got status %d", code)
	}
}

// A token file of another user is rejected.
func TestTokenOfAnotherUser(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can change a file's owner")
	}
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := apitoken.Read(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(file, 65534, 65534); err != nil {
		t.Fatal(err)
	}
	if _, err := apitoken.Read(file); err == nil || !strings.Contains(err.Error(), "another user") {
		t.Errorf("%v", err)
	}
}

func (d *listenerProbe) next(address string) city.Listener {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.t.Context(), patience)
	defer cancel()
	for {
		select {
		case now := <-d.told:
			if now.Address == address && now.Problem == "" {
				return now
			}
		case <-ctx.Done():
			d.t.Fatalf("got no report with %q", address)
		}
	}
}
