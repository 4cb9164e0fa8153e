package topology

import (
	"net"
	"net/http"
	"path/filepath"
	"testing"
)

// What names a helper program of git's is told from an address with colons, and whatever is not surely one is refused.
func TestHelped(t *testing.T) {
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
		if got := Helped(source); got != want {
			t.Errorf("%s: %t", source, got)
		}
	}
}

// A repository is fetched from a host that is an address of six.
func TestFetchFromAddress(t *testing.T) {
	repo, commit := repository(t)
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Skip("there is no IPv6 here: ", err)
	}
	do(t, repo, "update-server-info")
	server := &http.Server{Handler: http.FileServer(http.Dir(filepath.Join(repo, ".git")))}
	done := make(chan error, 1)
	go func() { done <- server.Serve(l) }()
	defer func() {
		_ = server.Close()
		<-done
	}()
	from := "http://" + l.Addr().String() + "/"
	got, err := Fetch(limited(t), t.TempDir(), Want{Name: "x", Source: from, From: from}, false, environ(t))
	if err != nil || got.Commit != commit {
		t.Errorf("%+v, %v", got, err)
	}
}
