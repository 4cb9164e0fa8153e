package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"gcity/api"
	"gcity/city"
	"gcity/config"
	"gcity/internal/beside"
)

// As in wire.go: how a city comes to answer over TCP.

// street is between the controller, which says where the city is to answer over TCP, and what listens there.
type street struct {
	dir   string // the city's
	wants chan api.TCP
	doors chan city.Door
}

func newStreet(dir string) street {
	return street{dir, make(chan api.TCP, 1), make(chan city.Door, 1)}
}

// want is told by the loop.
func (s street) want(c config.API) {
	token, own := tokenOf(s.dir, c)
	latest(s.wants, api.TCP{Addr: tcpAddr(c), Hosts: c.Hosts, TokenFile: token, MakeToken: own, ReadFile: c.ReadFile})
}

// tokenOf returns the file with the token for [api], "" if there is none. own: the city makes the file.
func tokenOf(dir string, c config.API) (path string, own bool) {
	if c.TokenFile != "" || !c.Token {
		return c.TokenFile, false
	}
	return filepath.Join(gcDir(dir), "api.token"), true
}

// keep answers as is wanted until ctx ends.
func (s street) keep(ctx context.Context, c city.Control, o api.Options) {
	api.Keep(ctx, s.wants, func(d city.Door) { latest(s.doors, d) }, c, o)
}

// tcpAddr is where a city is to answer over TCP, "" = nowhere.
func tcpAddr(c config.API) string { return api.TCPAddr(c.Bind, c.Port) }

// checkToken says why a token cannot be used.
func checkToken(path string) error {
	err, answered := beside.New[error](1).At(context.Background(), path, time.Now(), folderAnswers, func() error {
		_, err := api.ReadToken(path)
		return err
	})
	if !answered {
		return fmt.Errorf("the file of its token, %s, does not answer", path)
	}
	return err
}

// latest puts a value into a channel that has room for one, in place of one that nobody has taken. It has one caller.
func latest[T any](c chan T, v T) {
	select {
	case <-c:
	default:
	}
	c <- v
}
