package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/cli/service"
	"gcity/describe"
	"gcity/events"
	"gcity/session/pty"
	"gcity/session/pty/holdbin"
)

// checkQuarantine names the agents that died too often, with until when they wait.
func checkQuarantine(_ context.Context, p *Patient) finding {
	if p.Running == nil {
		return ok("not looked at: no controller runs")
	}
	return judgeQuarantine(p.Running.Agents)
}

func judgeQuarantine(agents []city.Agent) finding {
	var lines []string
	for i := range agents {
		if g := &agents[i]; g.State == city.Quarantined {
			lines = append(lines, g.Name+": "+output.SafeLead(g.Reason))
		}
	}
	if len(lines) > 0 {
		return note("`gcity why AGENT` tells how it ends, `gcity agent release AGENT` "+
			"lets it out now", "%s in quarantine:\n%s", describe.Count(len(lines), "agent"),
			strings.Join(lines, "\n"))
	}
	return ok("nobody is in quarantine")
}

// aheadBy is how far the newest event may be ahead of the clock.
const aheadBy = time.Minute

// checkClock looks whether the clock can be right: cron, cooldowns and the log go by it.
func checkClock(ctx context.Context, p *Patient) finding {
	newest, err := folder.ReadEvents(ctx, p.dir, events.Query{Limit: 1})
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
		return bad("set the clock, or see that something keeps it (timedatectl set-ntp true)",
			"it says %s", now.Format(time.DateTime))
	case last.After(now.Add(aheadBy)):
		return note("see that something keeps it (timedatectl set-ntp true)",
			"the newest event is of %s, %s ahead of it: one of the two is wrong",
			last.Format(time.DateTime), last.Sub(now).Round(time.Second))
	}
	return ok("no event is ahead of it")
}

// checkGit looks for git where topologies come from repositories.
func checkGit(_ context.Context, p *Patient) finding {
	if p.config == nil {
		return note("", "not looked at: the configuration is refused")
	}
	if len(p.config.Remotes) == 0 {
		return ok("not needed")
	}
	if !folder.Finder()("git", os.Getenv("PATH")) {
		return note("install git", "not found, and %s can be fetched with it only",
			describe.Count(len(p.config.Remotes), "topology"))
	}
	return ok("found")
}

// checkVersions looks whether what runs is this program.
func checkVersions(ctx context.Context, p *Patient) finding {
	exe, err := os.Executable()
	if err != nil {
		return note("", "cannot tell which program this is: %v", err)
	}
	held, err := pty.OtherPrograms(p.dir, exe, holdbin.Image())
	if err != nil {
		return note("mount /proc", "cannot tell which programs hold the agents: %v", err)
	}
	var runs, renew string
	if p.Running != nil && p.Running.PID != 0 {
		runs = programOf(p.Running.PID)
	}
	if runs != "" && runs != exe {
		renew = renewal(p.Running.PID, p.Running.Mode, mainUnit(ctx, p.Running.PID))
	}
	return judgeVersions(exe, runs, renew, held)
}

// mainUnit is the line by which systemd begins a process anew, "" if it is not what one of its services is for.
func mainUnit(ctx context.Context, pid int) string {
	group, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid)) // without one there is no systemd
	unit, system := service.UnitOf(string(group))
	if unit == "" {
		return ""
	}
	a := &env.Env{Printer: output.Printer{Getenv: os.Getenv}}
	m, err := service.ManagerOf(a, system)
	if err != nil {
		return ""
	}
	if main, err := m.Ask(ctx, "show", "--value", "--property=MainPID", unit); err != nil ||
		main != fmt.Sprint(pid) {
		return ""
	}
	return m.Line("restart", unit)
}

// renewal is how a controller is begun anew by this program while its agents run on: by its service, or by hand.
func renewal(pid int, mode, restart string) string {
	switch {
	case restart != "":
		return "`" + restart + "`"
	case mode == "headless":
		return fmt.Sprintf("`kill -USR1 %d`, then `gcity daemon start`,", pid)
	case mode == "console":
		return fmt.Sprintf("`kill -USR1 %d`, then `gcity`,", pid)
	}
	return fmt.Sprintf("`kill -USR1 %d`, then `gcity supervisor start`,", pid)
}

// judgeVersions compares programs: this one, the controller's ("" = none runs, or nobody can tell), which renew
// exchanges, and how many holders are each of the others.
func judgeVersions(exe, controller, renew string, holders map[string]int) finding {
	var lines, how []string
	if controller != "" && controller != exe {
		lines = append(lines, fmt.Sprintf("the controller is %s, and this is %s", controller, exe))
		how = append(how, renew+" exchanges the controller and keeps the agents")
	}
	var others []string
	for program := range holders {
		others = append(others, program)
	}
	slices.Sort(others)
	for _, program := range others {
		lines = append(lines, fmt.Sprintf("%s held by %s",
			describe.Count(holders[program], "agent"), program))
	}
	if len(others) > 0 {
		how = append(how, "`gcity agent restart NAME` an agent's holder, with the agent")
	}
	if len(lines) > 0 {
		return note("they work together; "+strings.Join(how, ", "), "%s", strings.Join(lines, "\n"))
	}
	return ok("everything that runs is this program")
}

// workFolders are where gcity keeps something of a city.
func (p *Patient) workFolders() []string {
	out := []string{p.dir}
	if p.config != nil {
		for _, r := range folder.RigPlan(p.config) {
			if r.Problem == "" && service.IsFolder(filepath.Join(r.Path, folder.WorkFolder)) {
				out = append(out, r.Path)
			}
		}
	}
	return out
}
