package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

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
	"gcity/internal/proc"
	"gcity/internal/redact"
	"gcity/session"
	"gcity/trust"
)

// finding is the result of one check.
type finding struct {
	Check  string `json:"check"`
	State  string `json:"state"`  // "ok", "note" (worth knowing), "bad"
	Detail string `json:"detail"` // one thing a line
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

// Command returns the command doctor.
func Command(e *env.Env) *cobra.Command {
	var fix, report bool
	c := &cobra.Command{
		Use: "doctor [FILE]", Short: "Look for trouble with this machine and city, with what to " +
			"do about it", Args: env.Between(0, 1),
		Long: `doctor looks, and changes nothing. With --fix it first mends what can be mended
without losing anything: who may enter .gc, the socket and the pid file of a dead
controller, what writers that were killed have left in .gc, the link to gc, what is
known of a configuration. It says what it did and what it left; of what a controller
has in its hands it says how that is mended, and no agent is touched.
With --report it also writes what it found into FILE (` + defaultReport + `), with the
version, the system, the configuration, the status, and the newest events and log
lines. Secrets are hidden. Read the file before you attach it to a bug report.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if !report && len(args) > 0 {
				return exit.Usage("a file is for --report: gcity doctor --report %s",
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
		"write a report for a bug report into FILE, without secrets")
	c.Flags().BoolVar(&fix, "fix", false, "mend what can be mended without losing anything")
	return c
}

func runChecks(ctx context.Context, e *env.Env, fix bool, report string) error {
	dir, err := e.CityDir()
	if err != nil {
		return err
	}
	var did mended
	if fix {
		if e.ReadOnly {
			return env.RefusedReadOnly("doctor --fix")
		}
		did = mendCity(dir)
		if !e.JSON {
			tellMended(e, did)
		}
	}
	p := newPatient(ctx, e, dir)
	defer p.close()
	found := examine(ctx, p)
	for i := range found {
		found[i].Detail = redact.Text(found[i].Detail)
	}
	if report != "" {
		if err := writeReport(ctx, e, p, found, report); err != nil {
			return err
		}
		fmt.Fprintf(e.Err, "wrote %s; secrets are hidden, but read it before you pass it on\n",
			output.SafeLine(report))
	}
	sick := slices.ContainsFunc(found, func(f finding) bool { return f.State == "bad" })
	if e.JSON && fix {
		err = e.WriteJSON(struct {
			output.List[finding]
			mended
		}{output.ListOf(found), did})
	} else if e.JSON {
		err = e.WriteJSON(output.ListOf(found))
	} else {
		err = tellFindings(e, found)
	}
	if err == nil && sick {
		return exit.Quietly(exit.CodeFailed)
	}
	return err
}

func tellFindings(e *env.Env, found []finding) error {
	rows := make([][]output.Cell, 0, len(found))
	for _, f := range found {
		colour := map[string]string{"ok": output.Green, "note": output.Yellow,
			"bad": output.Red}[f.State]
		head := []output.Cell{output.Tinted(f.State, colour), output.Tinted(f.Check, output.Bold)}
		for line := range strings.SplitSeq(f.Detail, "\n") {
			rows = append(rows, append(head, output.Plain(line)))
			head = []output.Cell{{}, {}}
		}
		if f.Fix != "" {
			rows = append(rows, []output.Cell{{}, {}, output.Tinted("-> "+f.Fix, output.Cyan)})
		}
	}
	return e.Table(e.Out, 0, []string{"", "CHECK", "FOUND"}, rows)
}

// Patient is what the checks look at.
type Patient struct {
	dir      string
	env      *env.Env // of the command
	config   *config.City
	grant    trust.Grant // of its programs
	refused  error
	Running  *city.Snapshot   // of the controller, nil if none answers
	deaf     error            // why it did not
	provider session.Provider // nil: it cannot be opened
	sessions []session.Status
	unlisted error
	close    func()
	trials   map[string]finding // of session providers, by name
	slow     env.Slowly         // of what takes long; may be nil
	takeover string             // who would watch agents that nobody watches
}

func newPatient(ctx context.Context, e *env.Env, dir string) *Patient {
	p := &Patient{dir: dir, env: e, close: func() {}, trials: map[string]finding{},
		slow: e.SayVerySlow, takeover: takeover(e, dir)}
	p.Running, p.deaf = folder.AskController(ctx, dir)
	p.config, p.refused = folder.LoadCityOf(dir, p.Running)
	p.grant = folder.Trusted(dir, p.config)
	provider, closeSessions, err := sessions.OpenSessions(sessions.SessionOptions{Dir: dir,
		Grant: p.grant, Observe: true, Logger: folder.QuietLogger()})
	if err != nil {
		p.unlisted = err
		return p
	}
	p.provider, p.close = provider, closeSessions
	p.sessions, p.unlisted = provider.List(ctx)
	return p
}

// agents is how many there can be, every possible member of a pool among them.
func (p *Patient) agents() int {
	if p.config == nil {
		return 0
	}
	return len(folder.Plan(p.config, p.dir))
}

func checkFolder(_ context.Context, p *Patient) finding {
	dir := filepath.Join(p.dir, ".gc")
	info, err := os.Lstat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return ok("not made yet: nothing ran here so far")
	case err != nil:
		return bad("make it readable for you", "%v", err)
	case !info.IsDir():
		return bad("move "+dir+" away: gcity makes a folder of its own", "it is not a folder")
	case info.Mode().Perm() != 0o700:
		return bad("chmod 700 "+dir, "others may look into it (%v): terminals and "+
			"sockets are inside", info.Mode().Perm())
	}
	return ok("only you may enter it")
}

func checkController(_ context.Context, p *Patient) finding {
	held, err := folder.IsHeld(p.dir)
	if err != nil {
		return bad("make .gc writable for you", "its lock cannot be looked at: %v", err)
	}
	if s := p.Running; s != nil {
		switch {
		case s.Config.Rejected != "":
			return bad("edit "+config.FileName, "runs on an older configuration: %s",
				output.SafeLead(s.Config.Rejected))
		case len(s.Degraded) > 0:
			return bad("mend what each line names; the controller tries again by itself, and "+
				"`gcity events` tells since when", "%s", strings.Join(s.Degraded, "\n"))
		}
		return ok("runs, pid %d, %s", s.PID, s.Mode)
	}
	if silent, there := errors.AsType[*folder.Mute](p.deaf); there {
		return bad(SilentRemedy(p.dir), "it does not answer: %v", silent)
	}
	if held {
		return bad("end that process; its agents are adopted by the next controller",
			"one holds the city but its socket does not answer: %v", p.deaf)
	}
	return ok("none runs")
}

func checkSessions(_ context.Context, p *Patient) finding {
	if p.unlisted != nil {
		if remedy := sessions.TmuxRemedy(p.unlisted); remedy != "" {
			return bad(remedy, "they cannot be listed: %v", p.unlisted)
		}
		if _, partly := errors.AsType[*session.Partial](p.unlisted); partly {
			return bad("see that this session provider works again; `gcity agent show` says "+
				"whose it is", "some cannot be listed: %v", p.unlisted)
		}
		return bad("make .gc readable for you", "they cannot be listed: %v", p.unlisted)
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
		return note(p.takeover+", `gcity stop` ends them", "%s alive and no controller watches",
			describe.Count(alive, "session"))
	case len(strange) > 0:
		return note("the controller ends them; without one `gcity stop` does",
			"not in the configuration: %s", strings.Join(strange, ", "))
	}
	return ok("%s alive%s", describe.Count(alive, "session"), sessions.TmuxHint(p.dir))
}

// takeover is who takes over the agents of a city that nobody watches.
func takeover(e *env.Env, dir string) string {
	if _, _, is := fleet.Enrolled(e, dir); is {
		if _, runs := host.FindSupervisor(e); runs {
			return "the supervisor takes them over once it can run the city"
		}
		return "`gcity supervisor start` takes them over"
	}
	if len(service.Units(e, "city", dir)) > 0 {
		return "`gcity daemon start` takes them over, by the city's service"
	}
	return "`gcity` or `gcity --headless` takes them over"
}

func checkLog(ctx context.Context, p *Patient) finding {
	trouble, err := folder.LogTrouble(ctx, p.dir)
	switch {
	case err != nil:
		return bad("make .gc/events.jsonl readable for you", "%v", err)
	case trouble != "":
		return note("nothing has to be done: damaged lines are skipped", "%s", trouble)
	}
	return ok("whole")
}

// SilentRemedy says what to do about a controller that does not answer.
func SilentRemedy(dir string) string {
	const takesOver = "start the city again; the agents run on, and the next controller " +
		"takes them over"
	pid, err := strconv.Atoi(folder.PIDText(dir))
	if err != nil {
		return "end its process and " + takesOver
	}
	if st, err := proc.ReadStat(pid); err == nil && (st.State == 'T' || st.State == 't') {
		return fmt.Sprintf("its process is stopped, `kill -CONT %d` continues it", pid)
	}
	return fmt.Sprintf("`kill -9 %d`, then %s", pid, takesOver)
}
