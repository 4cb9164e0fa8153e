package cli

import (
	"context"

	"gcity/config"
)

func checkAPI(_ context.Context, p *patient) finding {
	if p.config == nil {
		return note("", "not looked at: the configuration is refused")
	}
	return judgeAPI(p.config.API)
}

// judgeAPI says who can reach a city over TCP.
func judgeAPI(c config.API) finding {
	at := tcpAddr(c)
	if at == "" {
		return ok("on the city's socket alone")
	}
	local := config.Local(c.Bind)
	if c.TokenFile != "" {
		if err := checkToken(c.TokenFile); err != nil {
			return bad("until then nobody is answered on "+at, "%v", err)
		}
	}
	switch {
	case c.TokenFile == "" && !local:
		return bad("write a token_file into [api], or take bind out", "everybody who reaches this machine may do everything on %s", at)
	case c.TokenFile == "":
		return note("write a token_file into [api] if you are not alone here", "every user of this machine may do everything on %s", at)
	case !local:
		return note("put a proxy with TLS before it where the network is not yours alone", "other machines can reach it on %s, with the token, and what is said there can be read on the way", at)
	}
	return ok("with a token, on %s", at)
}
