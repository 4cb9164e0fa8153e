package topology

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// StartsHelper distinguishes helper programs from IPv6 addresses. If in doubt, it returns true.
func TestStartsHelper(t *testing.T) {
	for source, want := range map[string]bool{
		"https://[::1]/x.git":                 false,
		"http://[2001:db8::7]:8080/a/x.git":   false,
		"https://me:word@[::1]/x.git":         false,
		"ssh://git@[::1]/x.git":               false,
		"ssh://git@[fe80::1%25eth0]:22/x.git": false,
		"git://[::1]":                         false,
		"git@[::1]:x.git":                     false,
		"[::1]:x.git":                         false,
		"git@example.org:x.git":               false,
		"/srv/x":                              false,
		"ext::sh -c x":                        true,
		"ext::[::1]/x":                        true,
		"ext::https://[::1]/x":                true,
		"https::https://[::1]/x":              true,
		"https://ext::x@[::1]/x":              true,
		"https://[::1]/ext::x":                true,
		"https://[::1]ext::x":                 true,
		"git@[::1]:ext::x":                    true,
		"https://[ext::sh]/x":                 true,
		"ext://[::1]/x":                       true,
		"file://[::1]/x":                      true,
		"[ext::sh -c x]:y":                    true,
		"::x":                                 true,
		"a::b":                                true,
		"/srv/a::b":                           true,
	} {
		if got := StartsHelper(source); got != want {
			t.Errorf("%s: %t", source, got)
		}
	}
}

// A source with a password, a helper program or an insecure protocol is rejected before git runs. The message does not
// contain the source.
func TestRejectReason(t *testing.T) {
	for source, want := range map[string]string{
		"https://example.org/x.git": "", "ssh://git@example.org:22/x.git": "", "git@example.org:o/x.git": "", "/srv/x": "", "file:///srv/x": "",
		"https://me@example.org/x.git": "", "https://example.org/a:b@c": "", "https://example.org:8443/a@b": "", "https://[::1]/x": "", "../packs": "",
		"ext::sh -c hunter2":                         "helper program",
		"fd::7":                                      "helper program",
		"http://example.org/hunter2":                 "uses http://",
		"git://example.org/hunter2":                  "uses git://",
		"ftp://example.org/hunter2":                  "uses ftp://",
		"HTTPS://example.org/hunter2":                "uses HTTPS://",
		"https://me:hunter2@example.org/x.git":       "credential helper",
		"https://:hunter2@example.org/x.git":         "credential helper",
		"https://me:hun/ter2@example.org/x.git":      "credential helper",
		"https://ghp_hunter2@example.org/x.git":      "credential helper",
		"https://x-token-auth:hunter2@[::1]:8/x":     "credential helper",
		"https://me:hunter2@[2001:db8::7]/x.git":     "credential helper",
		"ssh://me:hunter2@example.org/x.git":         "credential helper",
		"https://example.org/x?access_token=hunter2": "credential helper",
	} {
		got := RejectReason(source)
		if want == "" && got != "" || !strings.Contains(got, want) || strings.Contains(got, "hunter2") {
			t.Errorf("%s: %q", source, got)
		}
		if want == "" {
			continue
		}
		city := t.TempDir()
		if _, err := Fetch(limited(t), city, Remote{Name: "x", Source: source, From: source}, false, environ(t)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", source, err)
		}
		if left, err := os.ReadDir(city); err != nil || len(left) > 0 {
			t.Errorf("%s: remaining files: got %v, %v", source, left, err)
		}
	}
}

// A repository can be fetched over https from an IPv6 address. A redirect to another protocol is not followed.
func TestFetchFromAddress(t *testing.T) {
	repo, commit := repository(t)
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("IPv6 is not available: ", err)
	}
	do(t, repo, "update-server-info")
	plain := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(repo, ".git"))))
	defer plain.Close()
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir(filepath.Join(repo, ".git"))))
	mux.Handle("/away/", http.RedirectHandler(plain.URL+"/", http.StatusFound))
	server := httptest.NewUnstartedServer(mux)
	_ = server.Listener.Close()
	server.Listener = l
	server.StartTLS()
	defer server.Close()
	env := append(environ(t), "GIT_SSL_NO_VERIFY=1")
	from := "https://" + l.Addr().String() + "/"
	got, err := Fetch(limited(t), t.TempDir(), Remote{Name: "x", Source: from, From: from}, false, env)
	if err != nil || got.Commit != commit {
		t.Errorf("%+v, %v", got, err)
	}
	from += "away/"
	if got, err := Fetch(limited(t), t.TempDir(), Remote{Name: "x", Source: from, From: from}, false, env); err == nil {
		t.Errorf("%+v", got)
	}
}

// A symbolic link out of the repository is an error. Links within the repository are accepted.
func TestLinksStayInside(t *testing.T) {
	repo, first := repository(t)
	city, w := t.TempDir(), Remote{Name: "x", Source: repo, From: repo}
	link := func(to, name string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(repo, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(repo), "secret"), []byte("hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	link("topology.toml", "inside")
	link("not/there", "dangling")
	change(t, repo, "two")
	if got, err := Fetch(limited(t), city, w, true, environ(t)); err != nil || got.Commit == first {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, err := Fetched(city, w); err != nil {
		t.Errorf("a link within the repository: got %v", err)
	}
	for i, to := range []string{"/etc/passwd", "../../secret", "../prompts/../../secret", "/", "../.."} {
		name := filepath.Join("prompts", "x.md")
		if err := os.MkdirAll(filepath.Join(repo, "prompts"), 0o755); err != nil {
			t.Fatal(err)
		}
		link(to, name)
		change(t, repo, fmt.Sprint("three ", i))
		before, err := ReadLock(city)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := Fetch(limited(t), city, w, true, environ(t)); err == nil || !strings.Contains(err.Error(), "a link to a path outside the topology: "+name+" -> "+to) {
			t.Errorf("%+v, %v", got, err)
		}
		if after, err := ReadLock(city); err != nil || after["x"] != before["x"] {
			t.Errorf("lock file: got %v, %v", after, err)
		}
		if err := os.Remove(filepath.Join(repo, name)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(Folder(city, "x"), "late.md")); err != nil {
		t.Fatal(err)
	}
	if _, err := Fetched(city, w); err == nil || !strings.Contains(err.Error(), "late.md") {
		t.Errorf("a copy with a link out of it: got %v", err)
	}
}
