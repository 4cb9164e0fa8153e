package doctor

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gcity/agent"
	"gcity/automation"
	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/cli/service"
	"gcity/describe"
	"gcity/events"
	"gcity/internal/span"
	"gcity/session/pty"
	"gcity/session/pty/holdbin"
	"gcity/trust"
)

func checkQuarantine(_ context.Context, p *Subject) finding {
	if p.Running == nil {
		return ok("not checked: no controller is running")
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
		return note("`gcity why AGENT` shows when its quarantine ends; `gcity agent release "+
			"AGENT` ends it now",
			"%s in quarantine:\n%s", describe.Count(len(lines), "agent"),
			strings.Join(lines, "\n"))
	}
	return ok("no agent is in quarantine")
}

// The newest event may be this far ahead of the clock.
const aheadBy = time.Minute

// Cron schedules, cooldowns and the event log depend on the clock.
func checkClock(ctx context.Context, p *Subject) finding {
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
	case !automation.IsClockSet(now):
		return bad("set the clock, or synchronize it (timedatectl set-ntp true)",
			"the clock shows %s", now.Format(time.DateTime))
	case last.After(now.Add(aheadBy)):
		return note("synchronize the clock (timedatectl set-ntp true)",
			"the newest event is from %s, %s ahead of the clock: either that time or the "+
				"clock is wrong",
			last.Format(time.DateTime), span.Text(last.Sub(now).Round(time.Second)))
	}
	return ok("no event has a time in the future")
}

func checkGit(_ context.Context, p *Subject) finding {
	if len(p.config.Remotes) == 0 {
		return ok("not needed")
	}
	if !folder.Finder()("git", os.Getenv("PATH")) {
		return note("install git", "git not found; %s cannot be fetched without it",
			describe.Count(len(p.config.Remotes), "topology"))
	}
	return ok("found")
}

func checkVersions(ctx context.Context, p *Subject) finding {
	exe, err := os.Executable()
	if err != nil {
		return note("", "cannot find this program's executable: %v", err)
	}
	held, err := pty.OtherPrograms(p.dir, exe, holdbin.Image())
	if err != nil {
		return note("mount /proc", "cannot find the holders' programs: %v", err)
	}
	var runs, renew string
	if p.Running != nil && p.Running.PID != 0 {
		runs = programOf(p.Running.PID)
	}
	if runs != "" && runs != exe {
		renew = p.beforeRenewal() + renewal(p.Running.PID, p.Running.Mode,
			mainUnit(ctx, p.Running.PID))
		runs += ", version " + output.SafeText(p.Running.Version)
		exe += ", version " + p.env.Version
	}
	for _, names := range held {
		for i, name := range names {
			names[i] = p.agentOf(name)
		}
		slices.Sort(names)
	}
	return judgeVersions(exe, runs, renew, held)
}

func mainUnit(ctx context.Context, pid int) string {
	// fails only on systems without systemd
	group, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
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

// agentOf returns the agent of a session, or the session's name if its agent is unknown.
func (p *Subject) agentOf(session string) string {
	for _, st := range p.sessions {
		if st.Name == session {
			return st.Agent
		}
	}
	return session
}

// beforeRenewal says what the user must do before another controller can start.
func (p *Subject) beforeRenewal() string {
	if p.invalid != nil {
		return "first correct the configuration; then "
	}
	if r, untrusted := errors.AsType[*trust.Refusal](p.grant.Err()); untrusted {
		return "first run `" + r.Command() + "`; then "
	}
	return ""
}

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

// judgeVersions checks whether the controller and the holders run the program exe. controller is "" if none is running
// or its program is unknown. held contains the agents with a holder that runs another program, by program.
func judgeVersions(exe, controller, renew string, held map[string][]string) finding {
	var lines, how []string
	if controller != "" && controller != exe {
		lines = append(lines, fmt.Sprintf("the controller runs the program %s, and this "+
			"program is %s", controller, exe))
		how = append(how, renew+" replaces the controller and keeps the agents")
	}
	for _, program := range slices.Sorted(maps.Keys(held)) {
		names := held[program]
		lines = append(lines, fmt.Sprintf("%s held by the program %s: %s",
			describe.Count(len(names), "agent"), program, output.ShortList(names)))
	}
	if len(held) > 0 {
		how = append(how, "an agent keeps its holder until it is stopped. Run `gcity agent stop "+
			"NAME` and then `gcity agent resume NAME`, with the pool's name for members of a "+
			"pool, or stop and start the city")
	}
	return perLine(note, lines, "different versions work together; "+strings.Join(how, "; "),
		"all running processes use this program")
}

func (p *Subject) workFolders() []string {
	out := []string{p.dir}
	if p.config != nil {
		for _, r := range agent.Rigs(p.config) {
			if r.Problem == "" && service.IsFolder(filepath.Join(r.Path, folder.WorkFolder)) {
				out = append(out, r.Path)
			}
		}
	}
	return out
}
