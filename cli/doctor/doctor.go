package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"gcity/api/client"
	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/fleet"
	"gcity/cli/folder"
	"gcity/cli/host"
	"gcity/cli/output"
	"gcity/cli/service"
	"gcity/cli/sessions"
	"gcity/config"
	"gcity/describe"
	"gcity/internal/disk"
	"gcity/internal/shell"
	"gcity/session"
	"gcity/trust"
)

type finding struct {
	Check  string `json:"check"`
	State  string `json:"state"`  // "ok", "note" (a warning), "bad"
	Detail string `json:"detail"` // one fact per line
	Fix    string `json:"fix,omitempty"`
}

func ok(format string, args ...any) finding {
	return finding{State: "ok", Detail: fmt.Sprintf(format, args...)}
}

func note(fix, format string, args ...any) finding {
	return finding{State: "note", Fix: fix, Detail: fmt.Sprintf(format, args...)}
}

func bad(fix, format string, args ...any) finding {
	return finding{State: "bad", Fix: fix, Detail: fmt.Sprintf(format, args...)}
}

// perLine returns a finding with one line for each problem. Without problems, it returns an ok finding with the text
// none. The function kind is note or bad.
func perLine(kind func(fix, format string, args ...any) finding, lines []string,
	fix, none string) finding {
	if len(lines) > 0 {
		return kind(fix, "%s", strings.Join(lines, "\n"))
	}
	return ok("%s", none)
}

// Command returns the doctor command.
func Command(e *env.Env) *cobra.Command {
	var fix, report bool
	c := &cobra.Command{
		Use: "doctor [FILE]", Short: "Check this machine and city, and print how to fix problems",
		Long: `doctor checks the machine and the city, and does not change anything. With --fix it
first repairs what it can without losing data: the permissions of .gc, the socket and
pid file of a dead controller, temporary files that killed processes left in .gc, the
link to gc, and the configuration cache. It prints what it repaired and what it did
not. It does not change anything that a running controller uses, and does not affect
agents.
With --report it also writes its findings to FILE (` + defaultReport + `), with the
version, the system, the configuration, the status, and the newest events and log lines.
Secrets are hidden. Read the file before you attach it to a bug report.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !report && len(args) > 0 {
				return exit.Usage("FILE is only used with --report: gcity doctor --report %s",
					output.SafeLine(args[0]))
			}
			path := ""
			if report {
				var err error
				if path, err = reportPath(args); err != nil {
					return err
				}
			}
			return runChecks(cmd.Context(), e, fix, path)
		},
	}
	c.Flags().BoolVar(&report, "report", false,
		"also write a bug report to FILE, without secrets")
	c.Flags().BoolVar(&fix, "fix", false, "repair what can be repaired without losing data")
	return c
}

func runChecks(ctx context.Context, e *env.Env, fix bool, report string) error {
	dir, err := e.CityDir()
	if none, ok := errors.AsType[env.NoCity](err); ok && e.Dir == "" && !fix && report == "" {
		return checkMachine(ctx, e, none)
	}
	if err != nil {
		return err
	}
	if report != "" && e.ReadOnly {
		return env.ReadOnlyError("doctor --report")
	}
	var did repairs
	if fix {
		if e.ReadOnly {
			return env.ReadOnlyError("doctor --fix")
		}
		did = repairCity(dir)
		if !e.JSON {
			printRepairs(e, did)
		}
	}
	p := newSubject(ctx, e, dir)
	defer p.close()
	found := examine(ctx, p, false)
	if report != "" {
		if err := writeReport(ctx, e, p, found, report); err != nil {
			return err
		}
		fmt.Fprintf(e.Err, "wrote %s; secrets are hidden, but read it before you share it\n",
			output.SafeLine(report))
	}
	if e.JSON && fix {
		err = e.WriteJSON(struct {
			output.List[finding]
			repairs
		}{output.ListOf(found), did})
	} else if e.JSON {
		err = e.WriteJSON(output.ListOf(found))
	} else {
		err = printFindings(e, found)
	}
	return verdict(found, err)
}

func checkMachine(ctx context.Context, e *env.Env, none env.NoCity) error {
	p := &Subject{dir: none.Dir, env: e, close: func() {}, slow: e.SayVerySlow}
	city := note("gcity init", "%v; only this machine was checked", none)
	city.Check = "city"
	found := append([]finding{city}, examine(ctx, p, true)...)
	if e.JSON {
		return verdict(found, e.WriteJSON(output.ListOf(found)))
	}
	return verdict(found, printFindings(e, found))
}

func verdict(found []finding, err error) error {
	if err == nil && slices.ContainsFunc(found, func(f finding) bool { return f.State == "bad" }) {
		return exit.Quietly(exit.CodeFailed)
	}
	return err
}

func printFindings(e *env.Env, found []finding) error {
	table := output.NewTable("", "CHECK", "FOUND")
	for _, f := range found {
		color := map[string]string{"ok": output.Green, "note": output.Yellow,
			"bad": output.Red}[f.State]
		head := []any{output.Tinted(f.State, color), output.Tinted(f.Check, output.Bold)}
		for line := range strings.SplitSeq(f.Detail, "\n") {
			table.Add(append(head, line)...)
			head = []any{"", ""}
		}
		if f.Fix != "" {
			table.Add("", "", output.Tinted("-> "+f.Fix, output.Cyan))
		}
	}
	return e.WriteTable(e.Out, 0, table)
}

// Subject is the input to the checks.
type Subject struct {
	dir      string
	env      *env.Env
	config   *config.City
	grant    trust.Grant
	invalid  error
	Running  *city.Snapshot // nil = no controller responds
	silent   error
	provider session.Provider
	sessions []session.Status
	unlisted error
	close    func()
	trials   map[string]finding
	slow     env.Slowly // may be nil
	takeover string     // how a controller takes over the running sessions, for messages
}

func newSubject(ctx context.Context, e *env.Env, dir string) *Subject {
	p := &Subject{dir: dir, env: e, close: func() {}, trials: map[string]finding{},
		slow: e.SayVerySlow, takeover: takeover(e, dir)}
	p.Running, p.silent = folder.AskController(ctx, dir)
	p.config, p.invalid = folder.LoadCityOf(dir, p.Running)
	p.grant = folder.Trusted(dir, p.config)
	provider, closeSessions, err := sessions.ObserveSessions(dir, p.grant)
	if err != nil {
		p.unlisted = err
		return p
	}
	p.provider, p.close = provider, closeSessions
	p.sessions, p.unlisted = provider.List(ctx)
	return p
}

func (p *Subject) agents() int {
	if p.config == nil {
		return 0
	}
	return len(folder.Plan(p.config, p.dir))
}

func checkFolder(_ context.Context, p *Subject) finding {
	dir := filepath.Join(p.dir, ".gc")
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return ok("not created yet: no controller has run here")
	case err != nil:
		return bad("make this folder readable by your user", "%v", err)
	case !info.IsDir():
		return bad("move "+dir+" away; gcity then creates its own folder", "%s is not a folder",
			dir)
	case info.Mode().Perm()&0o077 != 0:
		return bad("chmod 700 "+dir, "other users can open this folder (%v), which contains "+
			"terminals and sockets", info.Mode())
	case info.Mode().Perm() != 0o700:
		return bad("chmod 700 "+dir, "its mode (%v) does not let you read, write and enter it",
			info.Mode())
	}
	if foreign := ownedByOthers(dir); len(foreign) > 0 {
		return bad(fmt.Sprintf("if they are meant to be yours, run `sudo chown -R %d %s`",
			os.Getuid(), shell.Quote(dir)), "another user owns some of its files, for example "+
			"because they were copied as root:\n%s", strings.Join(foreign, "\n"))
	}
	return ok("only you can open this folder")
}

// ownedByOthers returns some of the files below dir that belong to another user.
func ownedByOthers(dir string) (found []string) {
	_ = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if len(found) == 5 {
			return filepath.SkipAll
		}
		if err == nil && disk.Foreign(path) {
			found = append(found, path)
		}
		return nil // files that cannot be read have another finding
	})
	return found
}

func checkController(_ context.Context, p *Subject) finding {
	held, err := folder.IsHeld(p.dir)
	if err != nil {
		return bad("make .gc writable by your user", "cannot check the controller's lock: %v", err)
	}
	if s := p.Running; s != nil {
		switch {
		case s.Config.Trust != "":
			return bad("`"+s.Config.Trust+"`", "changes on disk wait for your trust: %s",
				output.SafeLead(s.Config.Rejected))
		case s.Config.Rejected != "":
			return bad("edit "+config.FileName, "the controller uses an older "+
				"configuration, because the new one was rejected: %s",
				output.SafeLead(s.Config.Rejected))
		case len(s.Degraded) > 0:
			return bad("fix the problem in each line; the controller retries automatically, and "+
				"`gcity events` shows when each problem started", "%s",
				strings.Join(s.Degraded, "\n"))
		}
		return ok("running: %s", describe.Runner(s.Mode, s.PID))
	}
	if silent, there := errors.AsType[*folder.UnresponsiveError](p.silent); there {
		if exit.IsSilent(silent) {
			return bad(SilentRemedy(p.dir), "the controller does not respond")
		}
		return bad(SilentRemedy(p.dir), "the controller does not respond: %v", silent)
	}
	if held {
		if h := folder.HeldBy(p.dir, p.silent); h.Replaced {
			return bad(folder.ReplacedRemedy, "%s", h.Cause())
		}
		return bad("if this lasts, kill that process; the next controller takes over its agents",
			"a process holds the city's lock, but its socket does not respond: %v", p.silent)
	}
	return ok("not running")
}

func checkSessions(_ context.Context, p *Subject) finding {
	if p.unlisted != nil {
		if remedy := sessions.TmuxRemedy(p.unlisted); remedy != "" {
			return bad(remedy, "cannot list the sessions: %v", p.unlisted)
		}
		if _, partly := errors.AsType[*session.PartialError](p.unlisted); partly {
			return bad("repair this session provider; `gcity agent show` prints an agent's "+
				"provider", "cannot list some of the sessions: %v", p.unlisted)
		}
		return bad("make .gc readable by your user", "cannot list the sessions: %v", p.unlisted)
	}
	known := map[string]bool{}
	if p.config != nil {
		for i := range p.config.Agents {
			known[p.config.Agents[i].Name] = true
		}
		for _, w := range folder.Plan(p.config, p.dir) {
			known[w.Name] = true
		}
	}
	alive, strange := 0, []string(nil)
	for _, st := range p.sessions {
		if st.Alive {
			alive++
			if p.config != nil && !known[st.Agent] {
				strange = append(strange, st.Agent)
			}
		}
	}
	held, err := folder.IsHeld(p.dir)
	switch {
	case err == nil && !held && alive > 0:
		return note(p.takeover+"; `gcity stop` stops them", "%s alive without a controller",
			describe.Count(alive, "session"))
	case len(strange) > 0:
		return note("a running controller stops these sessions; without a controller, run "+
			"`gcity stop`",
			"agents that have a session but are not in the configuration: %s",
			strings.Join(strange, ", "))
	}
	return ok("%s alive%s", describe.Count(alive, "session"), sessions.TmuxHint(p.dir))
}

func takeover(e *env.Env, dir string) string {
	if _, _, is := fleet.Enrolled(e, dir); is {
		if _, runs := host.FindSupervisor(e); runs {
			return "the supervisor will take over the sessions once it can run the city"
		}
		return "`gcity supervisor start` takes over the sessions"
	}
	if len(service.Units(e, "city", dir)) > 0 {
		return "`gcity daemon start` starts the city's service, which takes over the sessions"
	}
	return "`gcity daemon start` takes over the sessions, and so does `gcity start`, which runs " +
		"the city with the supervisor"
}

func checkLog(ctx context.Context, p *Subject) finding {
	trouble, err := folder.LogProblem(ctx, p.dir)
	switch {
	case err != nil:
		return bad("make .gc/events.jsonl readable by your user", "%v", err)
	case trouble != "":
		return note("no action needed: damaged lines are skipped", "%s", trouble)
	}
	return ok("no damaged lines")
}

// SilentRemedy returns why a city's controller does not respond, and what the user can do about it.
func SilentRemedy(dir string) string {
	pid, _ := strconv.Atoi(folder.PIDText(dir)) // 0 if the file cannot be read
	return client.Remedy(client.ControllerName, pid)
}
