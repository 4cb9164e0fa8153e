package cli

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

	"github.com/spf13/cobra"

	"gcity/agent"
	"gcity/city"
	"gcity/config"
	"gcity/session"
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

func (a *app) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Look for trouble with this machine and city, with what to do about it", Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.doctor(cmd.Context()) },
	}
}

func (a *app) doctor(ctx context.Context) error {
	dir, err := a.cityDir()
	if err != nil {
		return err
	}
	p := newPatient(ctx, dir)
	p.slow = a.sayVerySlow
	defer p.close()
	var found []finding
	for _, c := range checks() {
		f := c.look(ctx, p)
		f.Check = c.name
		found = append(found, f)
	}
	found = append(found, examineProviders(ctx, p)...)
	found = append(found, examineStores(ctx, p, !a.readOnly)...)
	mine := a.doctorPrefs()
	mine.Check = "preferences"
	found = append(found, mine)
	sick := slices.ContainsFunc(found, func(f finding) bool { return f.State == "bad" })
	if a.json {
		err = a.writeJSON(listOf(found))
	} else {
		err = a.tellFindings(found)
	}
	if err == nil && sick {
		return quietly(exitFailed)
	}
	return err
}

func (a *app) tellFindings(found []finding) error {
	rows := make([][]cell, 0, len(found))
	for _, f := range found {
		colour := map[string]string{"ok": green, "note": yellow, "bad": red}[f.State]
		head := []cell{{f.State, colour}, {f.Check, bold}}
		for line := range strings.SplitSeq(f.Detail, "\n") {
			rows = append(rows, append(head, plainCell(line)))
			head = []cell{{}, {}}
		}
		if f.Fix != "" {
			rows = append(rows, []cell{{}, {}, {"-> " + f.Fix, cyan}})
		}
	}
	return a.table(a.out, 0, []string{"", "CHECK", "FOUND"}, rows)
}

// patient is what the checks look at.
type patient struct {
	dir      string
	config   *config.City
	refused  error
	running  *city.Snapshot   // of the controller, nil if none answers
	deaf     error            // why it did not
	provider session.Provider // nil: it cannot be opened
	sessions []session.Status
	unlisted error
	close    func()
	trials   map[string]finding // of session providers, by name
	slow     slowly             // of what takes long; may be nil
}

func newPatient(ctx context.Context, dir string) *patient {
	p := &patient{dir: dir, close: func() {}, trials: map[string]finding{}}
	p.running, p.deaf = askController(ctx, dir)
	p.config, p.refused = loadCityOf(dir, p.running)
	provider, closeSessions, err := openSessions(dir, true, quietLogger(), nil)
	if err != nil {
		p.unlisted = err
		return p
	}
	p.provider, p.close = provider, closeSessions
	p.sessions, p.unlisted = provider.List(ctx)
	return p
}

// askController asks the controller that runs for its state.
func askController(ctx context.Context, dir string) (*city.Snapshot, error) {
	near, closeNear, err := dial(dir)
	if err != nil {
		return nil, err
	}
	defer closeNear()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	s, err := near.Snapshot(ctx)
	if err != nil {
		return nil, &mute{err}
	}
	return s, nil
}

// mute is a controller that is there and does not answer.
type mute struct{ error }

func (m *mute) Unwrap() error { return m.error }

// agents is how many there can be, every possible member of a pool among them.
func (p *patient) agents() int {
	if p.config == nil {
		return 0
	}
	return len(plan(p.config, p.dir))
}

type check struct {
	name string
	look func(ctx context.Context, p *patient) finding
}

func checks() []check {
	return []check{
		{"configuration", checkCity}, {"agents", checkAgents}, {"programs", checkPrograms}, {"rigs", checkRigs}, {"automations", checkAutomations}, {"formulas", checkRecipes}, {"overrides", checkOverrides}, {"folder .gc", checkFolder}, {"controller", checkController}, {"API", checkAPI},
		{"sessions", checkSessions}, {"whose work", checkStranded}, {"event log", checkLog}, {"events' script", checkMirror}, {"file system", checkFileSystem}, {"disk space", checkSpace},
		{"terminals", checkTerminals}, {"open files", checkFiles}, {"inotify", checkInotify}, {"logging out", checkLinger},
	}
}

func checkCity(_ context.Context, p *patient) finding {
	var e *config.Error
	switch {
	case errors.As(p.refused, &e):
		return bad("edit the file that each line names; a controller that runs keeps the last good one", "%s%s:\n%s",
			counted(len(e.Problems), "mistake"), p.inForce(), e.Error())
	case p.refused != nil:
		return bad("make it readable", "%v%s", p.refused, p.inForce())
	}
	if f, differs := p.notInForce(); differs {
		return f
	}
	if len(p.config.Warnings) > 0 {
		return note("edit the file that each line names", "%s", strings.Join(problemLines(p.config.Warnings), "\n"))
	}
	return ok("%s, revision %s", counted(len(p.config.Agents), "agent"), short(p.config.Revision))
}

// inForce says which configuration a running controller goes by, "" if none runs.
func (p *patient) inForce() string {
	if p.running == nil {
		return ""
	}
	return fmt.Sprintf("; revision %s is in force", p.running.Config.Revision)
}

// notInForce says that the file is well-formed, and not what the controller that runs goes by.
func (p *patient) notInForce() (f finding, differs bool) {
	if p.running == nil {
		return finding{}, false
	}
	revision := short(p.config.Revision)
	switch c := &p.running.Config; {
	case c.Held != nil:
		return note("`gcity plan` shows what it changes, `gcity reload --confirm` lets it in, changing the file back drops it",
			"revision %s is held, %s%s", c.Held.Revision, loss(c.Held.Removes, c.Held.Running), p.inForce()), true
	case c.Rejected != "":
		return bad("edit "+config.FileName, "revision %s is refused%s:\n%s", revision, p.inForce(), c.Rejected), true
	case c.Revision != revision:
		return note("`gcity reload` reads it at once", "revision %s is not read yet%s", revision, p.inForce()), true
	}
	return finding{}, false
}

func checkAgents(ctx context.Context, p *patient) finding {
	if p.config == nil {
		return note("", "not looked at: the configuration is refused")
	}
	return judgeAgents(plan(p.config, p.dir), func(provider string) finding { return p.tried(ctx, provider) })
}

// judgeAgents says who cannot be started, by what the configuration says of the agent, or since the session provider that is
// to do it could run nothing. For an agent by a provider of which that is not known nobody vouches.
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
		names := safeLine(provider) + ": " + strings.Join(by[provider], ", ")
		switch tried(provider).State {
		case "bad":
			lines = append(lines, "nobody is started by the session provider "+names)
		case "note":
			unknown = append(unknown, "look at the line of the session provider "+names)
		}
	}
	switch all := strings.Join(append(lines, unknown...), "\n"); {
	case len(lines) > 0:
		return bad("the other agents run; `gcity why AGENT` tells more, and of a session provider its line below", "%s", all)
	case len(unknown) > 0:
		return note("", "%s", all)
	}
	return ok("all can be started as far as the configuration tells")
}

func checkRigs(_ context.Context, p *patient) finding {
	if p.config == nil {
		return note("", "not looked at: the configuration is refused")
	}
	return judgeRigs(rigPlan(p.config))
}

func checkAutomations(_ context.Context, p *patient) finding {
	if p.config == nil {
		return note("", "not looked at: the configuration is refused")
	}
	if troubles := automationTroubles(p.config, time.Now()); len(troubles) > 0 {
		return note("edit the file that each line names; the other automations go on", "%s", strings.Join(troubles, "\n"))
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
		return bad("make the folder, or correct its path in "+config.FileName+"; agents outside of it run", "%s", strings.Join(problems, " | "))
	}
	return ok("%s", counted(len(rigs), "rig"))
}

func checkOverrides(_ context.Context, p *patient) finding {
	set, err := config.Overrides(p.dir)
	switch {
	case err != nil:
		return bad("mend or remove .gc/"+config.OverridesFile+"; without it pools follow their checks", "%v", err)
	case p.config == nil:
		return note("", "not compared: the configuration is refused")
	}
	return judgeOverrides(set, poolPlan(p.config, p.dir))
}

func judgeOverrides(set map[string]int, pools []agent.Pool) finding {
	left := maps.Clone(set)
	var problems []string
	for _, q := range pools {
		if n, ok := set[q.Name]; ok && q.Size(n) != n {
			problems = append(problems, fmt.Sprintf("%s is set to %d, and its bounds are %d to %d (%s)", q.Name, n, q.Min, q.Max, q.Source))
		}
		delete(left, q.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(left)) {
		problems = append(problems, "there is no pool "+name)
	}
	if len(problems) > 0 {
		return note("`gcity pool scale NAME N|auto` for a pool; lines of pools that are gone do nothing", "%s", strings.Join(problems, " | "))
	}
	return ok("%s set by hand", counted(len(set), "pool"))
}

func checkFolder(_ context.Context, p *patient) finding {
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
		return bad("chmod 700 "+dir, "others may look into it (%v): terminals and sockets are inside", info.Mode().Perm())
	}
	return ok("only you may enter it")
}

func checkController(_ context.Context, p *patient) finding {
	held, err := isHeld(p.dir)
	if err != nil {
		return bad("make .gc writable for you", "its lock cannot be looked at: %v", err)
	}
	if s := p.running; s != nil {
		switch {
		case s.Config.Rejected != "":
			return bad("edit "+config.FileName, "runs on an older configuration: %s", safeLead(s.Config.Rejected))
		case len(s.Degraded) > 0:
			return bad("mend what each line names; the controller tries again by itself, and `gcity events` tells since when", "%s", strings.Join(s.Degraded, "\n"))
		}
		return ok("runs, pid %d, %s", s.PID, s.Mode)
	}
	if silent, there := errors.AsType[*mute](p.deaf); there {
		return bad("`gcity stop`, or end the process", "it does not answer: %v", silent)
	}
	if held {
		return bad("end that process; its agents are adopted by the next controller", "one holds the city but its socket does not answer: %v", p.deaf)
	}
	return ok("none runs")
}

func checkSessions(_ context.Context, p *patient) finding {
	if p.unlisted != nil {
		if remedy := tmuxRemedy(p.unlisted); remedy != "" {
			return bad(remedy, "they cannot be listed: %v", p.unlisted)
		}
		if _, partly := errors.AsType[*session.Partial](p.unlisted); partly {
			return bad("see that this session provider works again; `gcity agent show` says whose it is", "some cannot be listed: %v", p.unlisted)
		}
		return bad("make .gc readable for you", "they cannot be listed: %v", p.unlisted)
	}
	known := map[string]bool{}
	if p.config != nil {
		for i := range p.config.Agents {
			known[p.config.Agents[i].Name] = true
		}
		for _, w := range plan(p.config, p.dir) {
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
	held, err := isHeld(p.dir)
	switch {
	case err == nil && !held && alive > 0:
		return note("`gcity` or `gcity --headless` takes them over, `gcity stop` ends them", "%s alive and no controller watches", counted(alive, "session"))
	case len(strange) > 0:
		return note("the controller ends them; without one `gcity stop` does", "not in the configuration: %s", strings.Join(strange, ", "))
	}
	return ok("%s alive%s", counted(alive, "session"), tmuxHint(p.dir))
}

func checkLog(ctx context.Context, p *patient) finding {
	trouble, err := logTrouble(ctx, p.dir)
	switch {
	case err != nil:
		return bad("make .gc/events.jsonl readable for you", "%v", err)
	case trouble != "":
		return note("nothing has to be done: damaged lines are skipped", "%s", trouble)
	}
	return ok("whole")
}
