package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gcity/agent"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/config"
	"gcity/config/edit"
	"gcity/describe"
)

func checkCity(_ context.Context, p *Patient) finding {
	var e *config.Error
	switch {
	case errors.As(p.refused, &e):
		return bad("edit the file that each line names; a controller that runs keeps the "+
			"last good one", "%s%s:\n%s",
			describe.Count(len(e.Problems), "mistake"), p.inForce(), e.Error())
	case p.refused != nil:
		return bad("make it readable", "%v%s", p.refused, p.inForce())
	}
	if f, differs := p.notInForce(); differs {
		return f
	}
	if len(p.config.Warnings) > 0 {
		return note("edit the file that each line names", "%s",
			strings.Join(folder.ProblemLines(p.config.Warnings), "\n"))
	}
	return ok("%s, revision %s", describe.Count(len(p.config.Agents), "agent"),
		folder.Short(p.config.Revision))
}

// inForce says which configuration a running controller goes by, "" if none runs.
func (p *Patient) inForce() string {
	if p.Running == nil {
		return ""
	}
	return fmt.Sprintf("; revision %s is in force", p.Running.Config.Revision)
}

// notInForce says that the file is well-formed, and not what the controller that runs goes by.
func (p *Patient) notInForce() (f finding, differs bool) {
	if p.Running == nil {
		return finding{}, false
	}
	revision := folder.Short(p.config.Revision)
	switch c := &p.Running.Config; {
	case c.Held != nil:
		return note("`gcity plan` shows what it changes, `gcity reload --confirm` lets it in, "+
			"changing the file back drops it",
			"revision %s is held, %s%s", c.Held.Revision,
			output.Loss(c.Held.Removes, c.Held.Running), p.inForce()), true
	case c.Rejected != "":
		return bad("edit "+config.FileName, "revision %s is refused%s:\n%s", revision, p.inForce(),
			c.Rejected), true
	case c.Revision != revision:
		return note("`gcity reload` reads it at once", "revision %s is not read yet%s", revision,
			p.inForce()), true
	}
	return finding{}, false
}

func checkAgents(ctx context.Context, p *Patient) finding {
	if p.config == nil {
		return note("", "not looked at: the configuration is refused")
	}
	return judgeAgents(folder.Plan(p.config, p.dir),
		func(provider string) finding { return p.tried(ctx, provider) })
}

// judgeAgents says who cannot be started, by what the configuration says of the agent, or since the session provider
// that is to do it could run nothing. For an agent by a provider of which that is not known nobody vouches.
func judgeAgents(wants []agent.Want, tried func(provider string) finding) finding {
	var lines, unknown []string
	by := map[string][]string{}
	for _, w := range wants {
		if w.Problem != "" {
			lines = append(lines, w.Name+": "+w.Problem)
		} else if !slices.Contains(by[w.Provider], w.Declared) {
			by[w.Provider] = append(by[w.Provider], w.Declared)
		}
	}
	for _, provider := range slices.Sorted(maps.Keys(by)) {
		names := output.SafeLine(provider) + ": " + strings.Join(by[provider], ", ")
		switch tried(provider).State {
		case "bad":
			lines = append(lines, "nobody is started by the session provider "+names)
		case "note":
			unknown = append(unknown, "look at the line of the session provider "+names)
		}
	}
	switch all := strings.Join(append(lines, unknown...), "\n"); {
	case len(lines) > 0:
		return bad("the other agents run; `gcity why AGENT` tells more, and of a session "+
			"provider its line below", "%s", all)
	case len(unknown) > 0:
		return note("", "%s", all)
	}
	return ok("all can be started as far as the configuration tells")
}

func checkRigs(_ context.Context, p *Patient) finding {
	if p.config == nil {
		return note("", "not looked at: the configuration is refused")
	}
	return judgeRigs(folder.RigPlan(p.config))
}

func checkAutomations(_ context.Context, p *Patient) finding {
	if p.config == nil {
		return note("", "not looked at: the configuration is refused")
	}
	if troubles := folder.AutomationTroubles(p.config, time.Now()); len(troubles) > 0 {
		return note("edit the file that each line names; the other automations go on", "%s",
			strings.Join(troubles, "\n"))
	}
	return ok("their files are in order")
}

func judgeRigs(rigs []agent.Rig) finding {
	var problems []string
	for _, r := range rigs {
		if r.Problem != "" {
			problems = append(problems, fmt.Sprintf("%s (%s): %s", r.Name, r.Source, r.Problem))
		}
	}
	if len(problems) > 0 {
		return bad("make the folder, or correct its path in "+config.FileName+
			"; agents outside of it run", "%s", strings.Join(problems, " | "))
	}
	return ok("%s", describe.Count(len(rigs), "rig"))
}

func checkOverrides(_ context.Context, p *Patient) finding {
	set, err := edit.Overrides(p.dir)
	switch {
	case err != nil:
		return bad("mend or remove .gc/"+edit.OverridesFile+
			"; without it pools follow their checks", "%v", err)
	case p.config == nil:
		return note("", "not compared: the configuration is refused")
	}
	return judgeOverrides(set, folder.PoolPlan(p.config, p.dir))
}

func judgeOverrides(set map[string]int, pools []agent.Pool) finding {
	left := maps.Clone(set)
	var problems []string
	for _, q := range pools {
		if n, ok := set[q.Name]; ok && q.Size(n) != n {
			problems = append(problems, fmt.Sprintf("%s is set to %d, and its bounds are "+
				"%d to %d (%s)", q.Name, n, q.Min, q.Max, q.Source))
		}
		delete(left, q.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		problems = append(problems, "there is no pool "+name)
	}
	if len(problems) > 0 {
		return note("`gcity pool scale NAME N|auto` for a pool; lines of pools that are "+
			"gone do nothing", "%s", strings.Join(problems, " | "))
	}
	return ok("%s set by hand", describe.Count(len(set), "pool"))
}
