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
	"gcity/city"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/cli/sessions"
	"gcity/config"
	"gcity/config/edit"
	"gcity/describe"
)

func checkCity(_ context.Context, p *Subject) finding {
	var e *config.Error
	switch {
	case errors.As(p.invalid, &e):
		return bad("edit the file named in each line; a running controller keeps the last "+
			"valid configuration", "%s%s:\n%s",
			describe.Count(len(e.Problems), "error"), p.inForce(), e.Error())
	case p.invalid != nil:
		return bad("make the file readable", "%v%s", p.invalid, p.inForce())
	}
	if f, differs := p.notInForce(); differs {
		return f
	}
	if len(p.config.Warnings) > 0 {
		return note("edit the file named in each line", "%s",
			strings.Join(folder.ProblemLines(p.config.Warnings), "\n"))
	}
	return ok("%s declared, revision %s", describe.Count(len(p.config.Agents), "agent"),
		folder.Short(p.config.Revision))
}

func (p *Subject) inForce() string {
	if p.Running == nil {
		return ""
	}
	return fmt.Sprintf("; revision %s is in force", p.Running.Config.Revision)
}

func (p *Subject) notInForce() (f finding, differs bool) {
	if p.Running == nil {
		return finding{}, false
	}
	revision := folder.Short(p.config.Revision)
	switch c := &p.Running.Config; {
	case c.Held != nil:
		return note("`gcity plan` shows what it would change, and `gcity reload --confirm` "+
			"applies it; restore the file to discard it",
			"revision %s is held: %s%s", c.Held.Revision,
			output.RemovalText(c.Held.Removes, c.Held.Running), p.inForce()), true
	case c.Trust != "" && c.Revision == revision: // only a script has changed
		return bad("`"+c.Trust+"`", "revision %s is in force, but not everything that it runs is "+
			"trusted:\n%s", revision, c.Rejected), true
	case c.Trust != "":
		return bad("`"+c.Trust+"`", "revision %s is not trusted%s:\n%s", revision, p.inForce(),
			c.Rejected), true
	case c.Rejected != "":
		return bad("edit "+config.FileName, "revision %s is invalid%s:\n%s", revision, p.inForce(),
			c.Rejected), true
	case c.Revision != revision:
		return note("`gcity reload` reads it immediately", "revision %s has not been read yet%s",
			revision, p.inForce()), true
	}
	return finding{}, false
}

func checkAgents(ctx context.Context, p *Subject) finding {
	untested := func(string) string { return "" }
	wants := folder.PlanOf(p.config, p.dir, p.Running)
	f := judgeAgents(wants, sessions.Preflight(ctx, p.provider, wants, untested),
		func(provider string) finding { return p.tried(ctx, provider) })
	if p.Running == nil {
		return f
	}
	return withStarts(f, judgeStarts(p.Running.Agents))
}

// withStarts adds the agents of starts to the finding about agents that cannot start. An agent in both has one line.
func withStarts(f, starts finding) finding {
	switch {
	case starts.State == "ok":
		return f
	case f.State == "ok":
		return starts
	}
	lines := strings.Split(f.Detail, "\n")
	all := lines
	for line := range strings.SplitSeq(starts.Detail, "\n") {
		name, _, _ := strings.Cut(line, ": ")
		if !slices.ContainsFunc(lines, func(l string) bool {
			return strings.HasPrefix(l, name+": ")
		}) {
			all = append(all, line)
		}
	}
	if len(all) == len(lines) {
		return f
	}
	return bad("`gcity why AGENT` shows details", "%s", strings.Join(all, "\n"))
}

func judgeStarts(agents []city.Agent) finding {
	var lines []string
	advice := "the controller retries automatically; `gcity why AGENT` shows when"
	for i := range agents {
		a := &agents[i]
		why := a.Reason
		if n := len(a.Decisions); a.State == city.Starting && n > 0 &&
			a.Decisions[n-1].What == city.CannotStart {
			// the state's reason says only what the next start is waiting for
			why = a.Decisions[n-1].Why
		} else if a.State == city.Unknown {
			advice = "`gcity why AGENT` shows details"
		} else if a.State != city.Failed {
			continue
		}
		lines = append(lines, a.Name+": "+output.SafeLead(why))
	}
	return perLine(bad, lines, advice, "all agents can start")
}

func judgeAgents(wants []agent.Want, unfit func(*agent.Want) string,
	tried func(provider string) finding) finding {
	var lines, unknown []string
	advice := "the other agents are not affected; `gcity why AGENT` shows details"
	by := map[string][]string{}
	for _, w := range wants {
		if why := unfit(&w); why != "" {
			lines = append(lines, w.Name+": "+why)
		} else if !slices.Contains(by[w.Provider], w.Declared) {
			by[w.Provider] = append(by[w.Provider], w.Declared)
		}
	}
	for _, provider := range slices.Sorted(maps.Keys(by)) {
		names := output.SafeLine(provider) + ": " + strings.Join(by[provider], ", ")
		switch tried(provider).State {
		case "bad":
			lines = append(lines, "the session provider cannot start any agent: "+names)
			advice = "the other agents are not affected; `gcity why AGENT` shows details, and " +
				"so does the finding about the session provider below"
		case "note":
			unknown = append(unknown, "see the finding about session provider "+names)
		}
	}
	switch all := strings.Join(append(lines, unknown...), "\n"); {
	case len(lines) > 0:
		return bad(advice, "%s", all)
	case len(unknown) > 0:
		return note("", "%s", all)
	}
	return ok("all agents can start")
}

func checkRigs(_ context.Context, p *Subject) finding {
	return judgeRigs(agent.Rigs(p.config))
}

func checkAutomations(_ context.Context, p *Subject) finding {
	if troubles := folder.AutomationProblems(p.config, time.Now()); len(troubles) > 0 {
		return note("edit the file named in each line; the other automations keep running", "%s",
			strings.Join(troubles, "\n"))
	}
	if p.Running == nil {
		return ok("all automation files are valid")
	}
	return judgeRuns(p.Running.Automations)
}

const maxCommands = 3 // in a remedy

func judgeRuns(all []city.Automation) finding {
	var lines, commands []string
	for i := range all {
		if a := &all[i]; a.Failures > 0 {
			commands = append(commands, "`gcity automation history "+a.Name+"`")
			lines = append(lines, fmt.Sprintf("%s is failing: %s in a row", a.Name,
				describe.Count(a.Failures, "failed run")))
		}
	}
	if len(commands) > maxCommands {
		commands = []string{"`gcity automation history NAME`"}
	}
	return perLine(note, lines, "run "+strings.Join(commands, " and ")+" to see why",
		"all automation files are valid, and none is failing")
}

func judgeRigs(rigs []agent.Rig) finding {
	var problems []string
	for _, r := range rigs {
		if r.Problem != "" {
			problems = append(problems, fmt.Sprintf("%s (%s): %s", r.Name, r.Source, r.Problem))
		}
	}
	if len(problems) > 0 {
		return bad("create the folder, or correct its path in "+config.FileName+
			"; agents in other folders are not affected", "%s", strings.Join(problems, " | "))
	}
	return ok("%s", describe.Count(len(rigs), "rig"))
}

func checkOverrides(_ context.Context, p *Subject) finding {
	set, err := edit.Overrides(p.dir)
	switch {
	case err != nil:
		return bad("repair or remove .gc/"+edit.OverridesFile+
			"; without this file, each pool's check sets its size", "%v", err)
	case p.config == nil:
		return note("", "not compared: the configuration is invalid")
	}
	return judgeOverrides(set, folder.PoolPlan(p.config, p.dir))
}

func judgeOverrides(set map[string]int, pools []agent.Pool) finding {
	left := maps.Clone(set)
	var problems []string
	for _, q := range pools {
		if n, ok := set[q.Name]; ok && q.Size(n) != n {
			problems = append(problems, fmt.Sprintf("%s is set to %d, but its limits are "+
				"%d to %d (%s)", q.Name, n, q.Min, q.Max, q.Source))
		}
		delete(left, q.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		problems = append(problems, "unknown pool "+name)
	}
	if len(problems) > 0 {
		return note("`gcity pool scale NAME N|auto` changes a pool's entry; entries for "+
			"removed pools are ignored", "%s", strings.Join(problems, " | "))
	}
	return ok("%s set by hand", describe.Count(len(set), "pool"))
}
