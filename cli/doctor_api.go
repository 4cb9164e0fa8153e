package cli

import (
	"context"
	"errors"
	"io/fs"

	"gcity/config"
)

func checkAPI(_ context.Context, p *patient) finding {
	if p.config == nil {
		return note("", "not looked at: the configuration is refused")
	}
	return judgeAPI(p.dir, p.config.API)
}

// judgeAPI says who can reach a city over TCP.
func judgeAPI(dir string, c config.API) finding {
	at := tcpAddr(c)
	if at == "" {
		return ok("on the city's socket alone")
	}
	local := config.Local(c.Bind)
	token, own := tokenOf(dir, c)
	for _, file := range []string{token, c.ReadFile} {
		if file == "" {
			continue
		}
		err := checkToken(file)
		if own && file == token && errors.Is(err, fs.ErrNotExist) {
			continue // the controller creates it
		}
		if err != nil {
			return bad("until then nobody can use it on "+at, "%v", err)
		}
	}
	switch {
	case token == "" && !local:
		return bad("take `token = false` out of [api], or take bind out", "everybody who reaches this machine may do everything on %s", at)
	case token == "":
		return note("take `token = false` out of [api] if you are not alone here", "every user of this machine may do everything on %s", at)
	case !local:
		return note("put a proxy with TLS before it where the network is not yours alone", "other machines can reach it on %s, with the token, and what is said there can be read on the way", at)
	}
	return ok("with a token, on %s", at)
}
