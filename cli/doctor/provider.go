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
	"gcity/internal/span"
	"gcity/session"
)

type providerUse struct {
	name   string
	agents int
}

func (p *Subject) providersOf() []providerUse {
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
	slices.SortStableFunc(out[1:], func(a, b providerUse) int {
		return strings.Compare(a.name, b.name)
	})
	return slices.DeleteFunc(out, func(u providerUse) bool { return u.agents == 0 })
}

func checkProviders(ctx context.Context, p *Subject) []finding {
	if p.config == nil {
		return []finding{{Check: "providers", State: "note",
			Detail: "not checked: the configuration is invalid"}}
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

func (p *Subject) tried(ctx context.Context, name string) finding {
	f, known := p.trials[name]
	if !known {
		f = p.tryProvider(ctx, name)
		p.trials[name] = f
	}
	return f
}

func (p *Subject) tryProvider(ctx context.Context, name string) finding {
	switch name {
	case "fake":
		return note("after the test, use a different provider",
			"for testing only: agents are shown as running, but no program runs")
	case "fail":
		return note("after the test, use a different provider",
			"for testing only: every start fails")
	}
	if _, _, external := session.External(name); external && p.grant.Err() != nil {
		return notTested()
	}
	if p.provider == nil {
		return note("", "not tested: %v", p.unlisted)
	}
	began := time.Now()
	err := sessions.VetProvider(ctx, p.provider, name, p.slow)
	switch {
	case err != nil && ctx.Err() != nil:
		return note("", "not fully tested: %v", ctx.Err())
	case err != nil:
		return bad(providerFix(name, err), "%v", err)
	case strings.HasPrefix(name, "exec:"):
		return ok("the script exists, and responded within %s",
			span.Took(time.Since(began)))
	}
	limits := session.Limits{}
	if m, mixes := p.provider.(session.MultiProvider); mixes {
		limits = m.LimitsOf(name)
	}
	return ok("%s", cmp.Or(limits.String(), "supports everything"))
}

func providerFix(name string, err error) string {
	if remedy := sessions.TmuxRemedy(err); remedy != "" {
		return remedy
	}
	script, isScript := strings.CutPrefix(name, "exec:")
	if !isScript {
		return "fix the problem that the error describes, or use a different session provider"
	}
	return fmt.Sprintf("make `%s list-running x` exit with code 0 and print nothing; until "+
		"then this provider's agents wait, and agents of other providers are not moved to it",
		output.SafeLine(script))
}
