package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/events"
)

// checkQuarantine names the agents that died too often, with until when they wait.
func checkQuarantine(_ context.Context, p *patient) finding {
	if p.running == nil {
		return ok("not looked at: no controller runs")
	}
	return judgeQuarantine(p.running.Agents)
}

func judgeQuarantine(agents []city.Agent) finding {
	var lines []string
	for i := range agents {
		if g := &agents[i]; g.State == city.Quarantined {
			lines = append(lines, g.Name+": "+safeLead(g.Reason))
		}
	}
	if len(lines) > 0 {
		return note("`gcity why AGENT` tells how it ends, `gcity agent release AGENT` lets it out now", "%s in quarantine:\n%s", counted(len(lines), "agent"), strings.Join(lines, "\n"))
	}
	return ok("nobody is in quarantine")
}

// aheadBy is how far the newest event may be ahead of the clock.
const aheadBy = time.Minute

// checkClock looks whether the clock can be right: cron, cooldowns and the log go by it.
func checkClock(ctx context.Context, p *patient) finding {
	newest, err := readEvents(ctx, p.dir, events.Query{Limit: 1})
	if err != nil {
		return note("", "not compared with the event log: %v", err)
	}
	var last time.Time
	if len(newest) > 0 {
		last = newest[0].TS
	}
	return judgeClock(time.Now(), last)
}

func judgeClock(now, last time.Time) finding {
	switch {
	case now.Year() < 2025:
		return bad("set the clock, or see that something keeps it (timedatectl set-ntp true)", "it says %s", now.Format(time.DateTime))
	case last.After(now.Add(aheadBy)):
		return note("see that something keeps it (timedatectl set-ntp true)", "the newest event is of %s, %s ahead of it: one of the two is wrong",
			last.Format(time.DateTime), last.Sub(now).Round(time.Second))
	}
	return ok("no event is ahead of it")
}

// checkGit looks for git where topologies come from repositories.
func checkGit(_ context.Context, p *patient) finding {
	if p.config == nil {
		return note("", "not looked at: the configuration is refused")
	}
	if len(p.config.Remotes) == 0 {
		return ok("not needed")
	}
	if !finder()("git", os.Getenv("PATH")) {
		return note("install git", "not found, and %s can be fetched with it only", counted(len(p.config.Remotes), "topology"))
	}
	return ok("found")
}

// checkVersions looks whether what runs is this program.
func checkVersions(_ context.Context, p *patient) finding {
	exe, err := os.Executable()
	if err != nil {
		return note("", "cannot tell which program this is: %v", err)
	}
	held, err := heldBy(p.dir, exe)
	if err != nil {
		return note("mount /proc", "cannot tell which programs hold the agents: %v", err)
	}
	var runs string
	if p.running != nil && p.running.PID != 0 {
		runs = programOf(p.running.PID)
	}
	return judgeVersions(exe, runs, held)
}

// judgeVersions compares programs: this one, the controller's ("" = none runs, or nobody can tell), and how many holders are each of
// the others.
func judgeVersions(exe, controller string, holders map[string]int) finding {
	var lines []string
	if controller != "" && controller != exe {
		lines = append(lines, fmt.Sprintf("the controller is %s, and this is %s", controller, exe))
	}
	var others []string
	for program := range holders {
		others = append(others, program)
	}
	slices.Sort(others)
	for _, program := range others {
		lines = append(lines, fmt.Sprintf("%s held by %s", counted(holders[program], "agent"), program))
	}
	if len(lines) > 0 {
		return note("they work together; `systemctl restart` of its service, or `kill -USR1` and a new start, exchanges the controller and keeps the agents, and an agent's own restart its holder",
			"%s", strings.Join(lines, "\n"))
	}
	return ok("everything that runs is this program")
}

// workFolders are where gcity keeps something of a city.
func (p *patient) workFolders() []string {
	out := []string{p.dir}
	if p.config != nil {
		for _, r := range rigPlan(p.config) {
			if r.Problem == "" && isFolder(filepath.Join(r.Path, workFolder)) {
				out = append(out, r.Path)
			}
		}
	}
	return out
}
