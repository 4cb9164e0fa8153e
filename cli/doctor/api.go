package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"gcity/cli/env"
	"gcity/cli/host"
	"gcity/cli/output"
	"gcity/config"
	"gcity/config/keys"
	"gcity/controller"
	"gcity/describe"
	"gcity/events/mirror"
)

func checkAPI(_ context.Context, p *Subject) finding {
	f, at := judgeAPI(p.dir, p.config.API), host.TCPAddr(p.config.API)
	switch s := p.Running; {
	case at == "" || f.State == "bad" || s != nil && s.API != "":
		return f
	case s == nil && f.State == "ok":
		return ok("not listening on %s, because no controller responds; it requires a token", at)
	case s == nil:
		return f
	case s.Mode == controller.Supervised:
		return note("remove the port from [api], or stop the city and run `gcity daemon start`",
			"nothing listens on %s, because the supervisor runs this city%s", at,
			fleetAPI(p, s.Name))
	}
	return bad("`gcity status` shows the reason; the controller keeps trying",
		"the controller does not listen on %s", at)
}

func fleetAPI(p *Subject, name string) string {
	home, err := env.Home(p.env)
	if err != nil {
		return ""
	}
	at, _ := host.FleetAddr(home)
	if at == "" {
		return ""
	}
	return fmt.Sprintf("; the supervisor's API on %s has the city at /v0/city/%s", at, name)
}

func judgeAPI(dir string, c config.API) finding {
	at := host.TCPAddr(c)
	if at == "" {
		return ok("reachable only through the city's socket")
	}
	local := keys.IsLocal(c.Bind)
	token, own := host.TokenOf(dir, c)
	if token != "" {
		err := host.CheckToken(token)
		// the controller creates the city's own token file
		if err != nil && !(own && errors.Is(err, fs.ErrNotExist)) {
			return bad("fix the file; until then the API is unreachable on "+at, "%v", err)
		}
	}
	if c.ReadFile != "" {
		if err := host.CheckToken(c.ReadFile); err != nil {
			return bad("fix the file; until then the API rejects this token", "read_token_file: %v",
				err)
		}
	}
	switch {
	case token == "" && !local:
		return bad("remove `token = false` from [api], or remove bind",
			"every client that can reach this machine has full access through %s", at)
	case token == "":
		return note("remove `token = false` from [api] if this machine has other users",
			"every user of this machine has full access through %s", at)
	case !local:
		return note("put a TLS proxy in front of it unless the network is trusted",
			"other machines can reach it on %s with the token; the traffic is not encrypted", at)
	}
	return ok("reachable with a token on %s", at)
}

func checkMirror(ctx context.Context, p *Subject) finding {
	if p.config == nil {
		return ok("not checked: the configuration is invalid")
	}
	switch p.config.Events.Provider {
	case "fake", "fail":
		return note("after the test, remove the key `provider` from [events] in city.toml",
			"[events] provider is %q: events are lost when the controller exits",
			p.config.Events.Provider)
	}
	o, there := host.MirrorOf(p.config, p.grant)
	if _, scripted := strings.CutPrefix(p.config.Events.Provider, "exec:"); scripted && !there {
		return notTested()
	}
	if !there {
		return ok("events go only to the log")
	}
	at, err := mirror.Load(o.State)
	if err != nil {
		return bad("remove .gc/events-mirror.json; the script then receives all events again",
			"%v", err)
	}
	if _, err := mirror.Newest(ctx, o); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return bad("fix the script; until then the log stores the events, and gcity will send the "+
			"newest of them later", "%v", err)
	}
	switch {
	case at.Why != "":
		return note("no action needed: gcity retries at least once a minute",
			"the script has been failing since %s: %s", at.Since.Local().Format(time.DateTime),
			output.SafeLine(at.Why))
	case at.Missed > 0:
		return note("`gcity events` shows the missed events",
			"the script has received the events up to %d, but missed %s", at.Seq,
			describe.Count(int(at.Missed), "event"))
	}
	return ok("the script responds, and has received events up to %d", at.Seq)
}
