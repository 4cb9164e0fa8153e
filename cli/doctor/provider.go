package doctor

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/cli/output"
	"gcity/cli/sessions"
	"gcity/describe"
	"gcity/session"
)

// providerUse is a session provider and how many of the city's agents name it.
type providerUse struct {
	name   string
	agents int
}

// providersOf lists the session providers that a city names, the one of [session] first.
func (p *Patient) providersOf() []providerUse {
	out := []providerUse{{name: p.config.Session.Provider}}
	for i := range p.config.Agents {
		name := p.config.ProviderOf(&p.config.Agents[i])
		at := slices.IndexFunc(out, func(u providerUse) bool { return u.name == name })
		if at < 0 {
			at = len(out)
			out = append(out, providerUse{name: name})
		}
		out[at].agents++
	}
	slices.SortStableFunc(out[1:], func(a,
		b providerUse) int {
		return strings.Compare(a.name, b.name)
	})
	return slices.DeleteFunc(out, func(u providerUse) bool { return u.agents == 0 })
}

// checkProviders tries each session provider that the city names: a line each.
func checkProviders(ctx context.Context, p *Patient) []finding {
	if p.config == nil {
		return []finding{{Check: "providers", State: "note",
			Detail: "not looked at: the configuration is refused"}}
	}
	var found []finding
	for _, u := range p.providersOf() {
		f := p.tried(ctx, u.name)
		f.Check = "provider " + output.SafeLine(u.name)
		if f.State != "ok" {
			f.Detail = describe.Count(u.agents, "agent") + ": " + f.Detail
		}
		found = append(found, f)
	}
	return found
}

// tried is what came of trying a session provider, once.
func (p *Patient) tried(ctx context.Context, name string) finding {
	f, known := p.trials[name]
	if !known {
		f = p.tryProvider(ctx, name)
		p.trials[name] = f
	}
	return f
}

func (p *Patient) tryProvider(ctx context.Context, name string) finding {
	switch name {
	case "k8s":
		return bad("write \"plugin:gcity-session-k8s\", see docs/kubernetes.md",
			"it is not built yet: no agent is started by it")
	case "fake":
		return note("name another one when the drill is over",
			"a drill: agents are said to run, and do not")
	case "fail":
		return note("name another one when the drill is over", "a drill: it refuses every start")
	}
	if _, _, external := session.External(name); external && p.grant.Err() != nil {
		return untried()
	}
	if p.provider == nil {
		return note("", "not tried: %v", p.unlisted)
	}
	began := time.Now()
	err := sessions.VetProvider(ctx, p.provider, name, p.slow)
	switch {
	case err != nil && ctx.Err() != nil:
		return note("", "not tried to the end: %v", ctx.Err())
	case err != nil:
		return bad(providerFix(name, err), "%v", err)
	case strings.HasPrefix(name, "exec:"):
		return ok("it is there, and answered within %s", time.Since(began).Round(time.Millisecond))
	}
	limits := session.Limits{}
	if m, mixes := p.provider.(session.Mixer); mixes {
		limits = m.LimitsOf(name)
	}
	return ok("%s", cmp.Or(limits.String(), "can do all there is"))
}

// providerFix is what to do about a session provider that could run nothing.
func providerFix(name string, err error) string {
	if remedy := sessions.TmuxRemedy(err); remedy != "" {
		return remedy
	}
	script, isScript := strings.CutPrefix(name, "exec:")
	if !isScript {
		return "do what it says, or name another session provider"
	}
	return fmt.Sprintf("see that `%s list-running x` ends with 0 and prints nothing; until then "+
		"its agents wait, and who runs elsewhere is not moved", output.SafeLine(script))
}
