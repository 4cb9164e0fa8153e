package host

import (
	"context"
	"fmt"
	"path/filepath"

	"gcity/api"
	"gcity/api/token"
	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/folder"
	"gcity/config"
	"gcity/internal/deadline"
)

type tcpListener struct {
	dir       string
	wants     chan api.TCP
	listeners chan city.Listener
}

// want must not block, because the loop calls it.
func (s tcpListener) want(c config.API) {
	token, own := TokenOf(s.dir, c)
	folder.SendLatest(s.wants, api.TCP{Addr: TCPAddr(c), Hosts: c.Hosts, TokenFile: token,
		MakeToken: own, ReadFile: c.ReadFile})
}

// TokenOf returns the path of the file with the token for [api], or "". It also reports whether the city creates that
// file.
func TokenOf(dir string, c config.API) (path string, own bool) {
	if c.TokenFile != "" || !c.Token {
		return c.TokenFile, false
	}
	return filepath.Join(folder.StateDir(dir), "api.token"), true
}

func (s tcpListener) keep(ctx context.Context, c city.Control, o api.Options) {
	report := func(d city.Listener) { folder.SendLatest(s.listeners, d) }
	api.KeepListening(ctx, s.wants, report, c, o)
}

// TCPAddr returns the TCP address of a city's API, or "" if it has none.
func TCPAddr(c config.API) string { return api.TCPAddr(c.Bind, c.Port) }

// CheckToken returns an error if a token file cannot be used.
func CheckToken(path string) error {
	err, returned := deadline.Within(context.Background(), env.FolderTimeout, func() error {
		_, err := token.Read(path)
		return err
	})
	if !returned {
		return fmt.Errorf("cannot read the token file %s in time: the file system does not respond",
			path)
	}
	return err
}
