package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"gcity/agent"
	"gcity/cli/env"
	"gcity/cli/fleet"
	"gcity/cli/folder"
	"gcity/cli/host"
	"gcity/cli/service"
)

func checkServices(ctx context.Context, p *Subject) []finding {
	a := p.env
	units := service.Units(a, "city", p.dir)
	many, _ := env.HomeDir(a) // fails only without a home folder, and then there are no units
	all := service.Units(a, "supervisor", many)
	var out []finding
	if p.Running != nil && p.Running.PID != 0 {
		// fails only on systems without systemd
		group, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", p.Running.PID))
		unit, system := service.UnitOf(string(group))
		if unit != "" && !slices.ContainsFunc(append(slices.Clone(units), all...),
			func(u *service.UnitFile) bool { return u.Name() == unit }) {
			if m, err := service.ManagerOf(a, system); err == nil {
				out = append(out, judgeForeign(ctx, m, unit, p.Running.PID))
			}
		}
	}
	out = append(out, judgeUnits(ctx, a, p.cityService(a), units)...)
	if len(units) > 1 {
		out = append(out, finding{Check: "services", State: "bad",
			Detail: "this city has two services, one for your user and one for the system: the " +
				"first to start runs the city, and the other fails",
			Fix: "run `gcity daemon uninstall` to remove yours, or add --system to remove the " +
				"system's"})
	}
	if _, _, is := fleet.Enrolled(a, p.dir); is && len(units) > 0 {
		out = append(out, finding{Check: "services", State: "note",
			Detail: "the city is registered and also has a service: the first to start runs the " +
				"city, and the other fails",
			Fix: "run `gcity daemon uninstall` to run it with the supervisor, or `gcity stop` " +
				"and then `gcity daemon start` to use its service"})
	}
	return append(out, judgeUnits(ctx, a, p.supervisorService(a, many), all)...)
}

func judgeForeign(ctx context.Context, m *service.Manager, unit string, pid int) finding {
	out, err := m.Ask(ctx, "show", "--property=KillMode", "--property=MainPID", unit)
	f := ok("agents keep running when the service stops")
	switch {
	case err != nil:
		f = note("", "cannot check this service: %v", err)
	case strings.Contains(out, "KillMode=process"):
	case !strings.Contains(out+"\n", fmt.Sprintf("MainPID=%d\n", pid)):
		f = note("`gcity daemon install` creates a separate service",
			"the city was started from within this service, and stopping the service "+
				"kills the agents")
	default:
		f = bad("add KillMode=process to the unit's [Service] section, or run `gcity daemon "+
			"install`, which writes a unit with this setting",
			"the agents are killed when the service restarts or the controller crashes")
	}
	f.Check = "service " + strings.TrimSuffix(unit, ".service")
	return f
}

type served struct {
	service.ServiceKind
	at   string
	runs bool // the city or supervisor is running, as this service or in another way
	// why units are not compared with what install would write
	unknown string
	// programs that a service with this environment would not find
	lost func(environ []string) []string
}

func (p *Subject) cityService(a *env.Env) served {
	s := served{ServiceKind: service.CityService(a), at: p.dir, runs: p.Running != nil,
		lost: func(environ []string) []string { return missingInService(p, environ) }}
	if p.config == nil {
		s.unknown, s.lost = "the configuration is invalid", func([]string) []string { return nil }
	}
	return s
}

func (p *Subject) supervisorService(a *env.Env, home string) served {
	s := served{ServiceKind: service.SupervisorService(
		func() (string, error) { return env.HomeDir(a) }, host.SupervisorOf),
		at: home, lost: func([]string) []string { return nil }}
	pid, err := host.SupervisorOf(home)
	s.runs = err == nil && pid != 0
	if _, _, is := fleet.Enrolled(a, p.dir); is && p.config != nil {
		s.lost = func(environ []string) []string { return missingInService(p, environ) }
	}
	return s
}

func judgeUnits(ctx context.Context, e *env.Env, s served, units []*service.UnitFile) []finding {
	var out []finding
	for _, u := range units {
		f := judgeUnit(ctx, e, s, u)
		active, _, err := u.State(ctx)
		switch start := "`" + u.Manager.Line("start", u.Name()) + "`"; {
		case errors.Is(err, service.ErrUnreachable) && f.State != "bad":
			fix := fmt.Sprintf("`gcity start` and `gcity %s start` use a background process in "+
				"the meantime; `gcity %s uninstall` removes the unit", s.Group, s.Group)
			f = note(fix, "%v", err)
		case err != nil || f.State == "bad":
		case active == "failed" && s.unknown != "":
			f = bad("fix that problem, then run "+start, "the service has failed, and %s",
				s.unknown)
		case active == "failed":
			f = bad("`"+u.Manager.Line("status", u.Name())+"` shows why, and "+start+" starts it",
				"the service has failed")
		case active == "inactive" && s.runs:
			how, keeps := s.StopAdvice(ctx, s.at)
			f = note(fmt.Sprintf("`%s` %s; then run %s", how, keeps, start),
				"%s is running, but its service did not start it",
				strings.Replace(s.What, "this", "the", 1))
		case f.State == "ok":
			f.Detail += ", " + active
		}
		f.Check = "service " + strings.TrimSuffix(u.Name(), ".service")
		out = append(out, f)
	}
	return out
}

func judgeUnit(ctx context.Context, e *env.Env, k served, u *service.UnitFile) finding {
	again := "`gcity " + k.Group + " install`"
	if u.Manager.System {
		again = "`sudo env PATH=\"$PATH\" gcity " + k.Group + " install --system`"
	}
	runs, environ := programIn(u.Text), environIn(u.Text)
	if info, err := os.Stat(runs); err != nil || !info.Mode().IsRegular() ||
		info.Mode()&0o111 == 0 {
		return bad(again+" with a gcity binary at a stable path",
			"the service's program, %s, does not exist or is not executable", runs)
	}
	if len(u.Links()) == 0 {
		return note("`"+u.Manager.Line("enable", u.Name())+"`",
			"the service is not enabled, so systemd does not start it at boot")
	}
	if lost := k.lost(environ); len(lost) > 0 {
		return bad(again+" from a shell that finds them",
			"the service does not find the same programs as this shell:\n%s",
			strings.Join(lost, "\n"))
	}
	if k.unknown != "" {
		return note("", "not compared: %s", k.unknown)
	}
	s, err := k.Found(ctx)
	if err != nil {
		return note("", "not compared: %v", err)
	}
	s.Exe, s.System, s.Name = runs, u.Manager.System,
		strings.TrimSuffix(strings.TrimPrefix(u.Name(), "gcity-"), ".service")
	s.User = valueOf(u.Text, "User")
	want, err := s.UnitText()
	if err != nil {
		return note("", "not compared: %v", err)
	}
	if differ := differing(u.Text, want); len(differ) > 0 {
		return note(again+", and `"+u.Manager.Line("restart", u.Name())+
			"`, which keeps the agents running",
			"the unit differs from what install would write now: %s", strings.Join(differ, ", "))
	}
	if this, err := service.ThisProgram(e.Getenv("PATH")); err == nil && this != runs {
		return ok("up to date; the service runs %s, and this program is %s", runs, this)
	}
	return ok("up to date")
}

func differing(have, want string) []string {
	var out []string
	was, is := settings(have), settings(want)
	for key := range is {
		if was[key] != is[key] {
			out = append(out, fmt.Sprintf("%s should be %q", key, is[key]))
		}
	}
	for key := range was {
		if _, still := is[key]; !still {
			out = append(out, key+" should not exist")
		}
	}
	slices.Sort(out)
	return out
}

func settings(unit string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(unit) {
		key, value, found := strings.Cut(strings.TrimSpace(line), "=")
		if found && !strings.HasPrefix(key, "#") && key != "Environment" && key != "ExecStart" {
			out[key] = value
		}
	}
	return out
}

func valueOf(unit, key string) string { return settings(unit)[key] }

func programIn(unit string) string {
	for line := range strings.Lines(unit) {
		if words, found := strings.CutPrefix(strings.TrimSpace(line), "ExecStart="); found {
			return strings.TrimPrefix(firstWord(words), ":")
		}
	}
	return ""
}

func firstWord(line string) string {
	if !strings.HasPrefix(line, `"`) {
		word, _, _ := strings.Cut(line, " ")
		return readWord(word)
	}
	for i := 1; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '"':
			return readWord(line[:i+1])
		}
	}
	return readWord(line)
}

func environIn(unit string) []string {
	var out []string
	for line := range strings.Lines(unit) {
		if kv, found := strings.CutPrefix(strings.TrimSpace(line), "Environment="); found {
			out = append(out, readWord(kv))
		}
	}
	return out
}

func readWord(s string) string {
	if quoted := len(s) > 1 && s[0] == '"' && s[len(s)-1] == '"'; quoted {
		s = strings.NewReplacer(`\\`, `\`, `\"`, `"`).Replace(s[1 : len(s)-1])
	}
	return strings.ReplaceAll(s, "%%", "%")
}

func missingInService(p *Subject, environ []string) []string {
	host := folder.ThisHost(p.dir)
	host.Environ = slices.DeleteFunc(host.Environ,
		func(kv string) bool { return strings.HasPrefix(kv, "PATH=") })
	host.Environ = append(host.Environ, environ...)
	here := map[string]agent.Want{}
	for _, w := range folder.Plan(p.config, p.dir) {
		here[w.Name] = w
	}
	var out []string
	for _, w := range agent.Plan(p.config, host) {
		mine := here[w.Name]
		line := ""
		switch why := programProblem(&w); {
		case programProblem(&mine) != "":
			continue
		case why != "":
			line = fmt.Sprintf("%s: %s", w.Declared, why)
		case w.Program != mine.Program:
			line = fmt.Sprintf("%s: %s in this shell, %s in the service", w.Declared, mine.Program,
				w.Program)
		}
		if line != "" && !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	return out
}

func programProblem(w *agent.Want) string {
	if len(w.MissingPrograms.Programs) > 0 {
		return "cannot find " + strings.Join(w.MissingPrograms.Programs, ", ")
	}
	if w.Problem != "" || !slices.Contains([]string{"pty", "tmux", "subprocess"}, w.Provider) {
		return ""
	}
	if _, err := w.Spec.FindProgram(); err != nil {
		return err.Error()
	}
	return ""
}
