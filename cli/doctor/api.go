package doctor

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"gcity/cli/folder"
	"gcity/cli/host"
	"gcity/cli/output"
	"gcity/config"
	"gcity/describe"
	"gcity/events/mirror"
)

func checkAPI(_ context.Context, p *Patient) finding {
	if p.config == nil {
		return note("", "not looked at: the configuration is refused")
	}
	return judgeAPI(p.dir, p.config.API)
}

// judgeAPI says who can reach a city over TCP.
func judgeAPI(dir string, c config.API) finding {
	at := host.TCPAddr(c)
	if at == "" {
		return ok("on the city's socket alone")
	}
	local := config.Local(c.Bind)
	token, own := host.TokenOf(dir, c)
	for _, file := range []string{token, c.ReadFile} {
		if file == "" {
			continue
		}
		err := host.CheckToken(file)
		if own && file == token && errors.Is(err, fs.ErrNotExist) {
			continue // the controller creates it
		}
		if err != nil {
			return bad("until then nobody can use it on "+at, "%v", err)
		}
	}
	switch {
	case token == "" && !local:
		return bad("take `token = false` out of [api], or take bind out",
			"everybody who reaches this machine may do everything on %s", at)
	case token == "":
		return note("take `token = false` out of [api] if you are not alone here",
			"every user of this machine may do everything on %s", at)
	case !local:
		return note("put a proxy with TLS before it where the network is not yours alone",
			"other machines can reach it on %s, with the token, and what is said there can be "+
				"read on the way", at)
	}
	return ok("with a token, on %s", at)
}

// checkMirror asks the script that is told of events, and says how far it has come.
func checkMirror(ctx context.Context, p *Patient) finding {
	if p.config == nil {
		return ok("not looked at: the configuration is refused")
	}
	switch p.config.Events.Provider {
	case "fake", "fail":
		return note("take it out of [events] when the drill is over",
			"[events] provider is %q: no event outlives the controller", p.config.Events.Provider)
	}
	o, there := host.MirrorOf(p.config, p.grant)
	if _, scripted := folder.CutExec(p.config.Events.Provider); scripted && !there {
		return untried()
	}
	if !there {
		return ok("nobody but the log is told")
	}
	at, err := mirror.Load(o.State)
	if err != nil {
		return bad("remove .gc/events-mirror.json: the script is then told of everything again",
			"%v", err)
	}
	if _, err := mirror.Newest(ctx, o); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return bad("do what it says; the log has the events until then, and the newest of them "+
			"are told later", "%v", err)
	}
	switch {
	case at.Why != "":
		return note("it is tried again at least once a minute",
			"the script has failed since %s: %s", at.Since.Local().Format(time.DateTime),
			output.SafeLine(at.Why))
	case at.Missed > 0:
		return note("what it missed is in the log: gcity events",
			"the script has come to event %d, and was not told of %s", at.Seq,
			describe.Count(int(at.Missed), "event"))
	}
	return ok("the script answers, and has come to event %d", at.Seq)
}
