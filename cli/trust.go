package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/config"
	"gcity/internal/ownership"
	"gcity/internal/redact"
	"gcity/internal/shell"
	"gcity/trust"
)

func (a *app) trustCommand() *cobra.Command {
	var yes, list, revoke bool
	c := &cobra.Command{
		Use: "trust [DIR]", Short: "Show every program that a city would run, and let them run", Args: between(0, 1),
		Long: `trust shows who wrote a city and every program that it would run, and asks whether
they may. Until then no program of the city runs: commands that read it work from
its text alone, and commands that start it are refused with exit 78. A city that
"gcity init" has made is trusted from the start.
Your own edits need no new answer. A program that is new or changed does if the git
checkout that it comes from has moved since by anything but "git commit".
GCITY_TRUST=all trusts every city, and folders = ["~/src"] in the [trust] table of
your config.toml every city below these folders.`,
		Example: "  gcity trust\n  gcity trust ~/src/clone --yes\n  gcity trust --list\n  gcity trust --revoke ~/src/clone",
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case list && (revoke || len(args) > 0):
				return exit.Usage("--list takes no folder and no --revoke")
			case list:
				return a.listTrusted()
			}
			if revoke {
				return a.revokeTrust(args)
			}
			return a.trustCity(cmd.Context(), args, yes)
		},
	}
	c.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&list, "list", false, "list the cities that you trust")
	c.Flags().BoolVar(&revoke, "revoke", false, "withdraw the trust; a running controller continues")
	return c
}

// trustShape is what a city would run, as `gcity trust` gives it.
type trustShape struct {
	Path     string         `json:"path"`
	Owner    string         `json:"owner"`
	Origin   string         `json:"origin,omitempty"` // the URL that the checkout came from
	Trusted  bool           `json:"trusted"`
	Why      string         `json:"why"`
	Programs []trustedShape `json:"programs"`
}

type trustedShape struct {
	What string `json:"what"`
	Line string `json:"line"`
	At   string `json:"at"`
	New  bool   `json:"new,omitempty"` // no answer covers it
}

func (a *app) trustCity(ctx context.Context, args []string, yes bool) error {
	dir, err := a.cityOf(args)
	if err != nil {
		return err
	}
	c, err := loadCity(dir)
	if err != nil {
		return err
	}
	if a.readOnly && yes {
		return refusedReadOnly("trust --yes")
	}
	shown := describeTrust(c)
	asks := !yes && a.inTTY && a.ErrTTY && !a.JSON && !shown.Trusted && !a.readOnly
	if yes || asks {
		if !a.JSON {
			a.showTrust(shown)
		}
		if asks && !a.askTrust(shown) {
			return exit.Quietly(exit.CodeConfig)
		}
		if err := ledger().Trust(c.Path, programsOf(c), a.Now()); err != nil {
			return err
		}
		shown.Trusted, shown.Why = true, "you have just said so"
		a.reloadTrusted(ctx, dir)
	}
	if a.JSON {
		if err := a.WriteJSON(shown); err != nil || shown.Trusted {
			return err
		}
		return exit.Quietly(exit.CodeConfig)
	}
	if !yes && !asks {
		a.showTrust(shown)
	}
	if !shown.Trusted {
		return &exit.Failure{Code: exit.CodeConfig, Err: fmt.Errorf("the city is not trusted: `gcity trust %s --yes` lets these programs run", shell.Quote(dir))}
	}
	a.Sayf("the city in %s is trusted: %s", output.SafeLine(dir), shown.Why)
	return nil
}

// reloadTrusted has a controller read the configuration that it holds for lack of trust. Without one there is nothing to do.
func (a *app) reloadTrusted(ctx context.Context, dir string) {
	near, closeNear, err := a.dial(dir)
	if err != nil {
		return
	}
	defer closeNear()
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if _, err := near.Do(ctx, city.Reload{}); err != nil {
		a.Warn("the controller has not read the configuration: " + err.Error())
	}
}

func describeTrust(c *config.City) trustShape {
	out := trustShape{Path: c.Path, Origin: trust.Origin(c.Path), Trusted: true, Why: "you have started or made it before", Programs: []trustedShape{}}
	out.Owner, _ = ownership.Of(c.Path)
	fresh := map[string]bool{}
	if why, always := ledger().Always(c.Path); always {
		out.Why = why
	} else if err := trusted(c.Path, c).Err(); err != nil {
		out.Trusted, out.Why = false, err.Error()
		if r, ok := errors.AsType[*trust.Refusal](err); ok {
			out.Why = r.Why
			for _, p := range r.New {
				fresh[p.Sum()] = true
			}
		}
	}
	for _, p := range programsOf(c) {
		line := p.Line
		if out.Trusted { // else it is shown in full: what looks like a secret may contain a program
			line = redact.Text(line)
		}
		out.Programs = append(out.Programs, trustedShape{p.What, line, p.At, fresh[p.Sum()]})
	}
	return out
}

// showTrust lists what a city would run, for a person.
func (a *app) showTrust(s trustShape) {
	a.Sayf("%s", output.SafeLine(s.Path))
	a.Sayf("  belongs to %s", output.SafeLine(s.Owner))
	if s.Origin != "" {
		a.Sayf("  git clone of %s", output.SafeLine(redact.Text(s.Origin)))
	}
	if len(s.Programs) == 0 {
		a.Sayf("  runs no program")
		return
	}
	a.Sayf("  runs %s:", output.Counted(len(s.Programs), "program"))
	rows := make([][]output.Cell, 0, len(s.Programs))
	for _, p := range s.Programs {
		mark := output.Cell{}
		if p.New {
			mark = output.Tinted("new", output.Yellow)
		}
		rows = append(rows, []output.Cell{mark, output.Plain(output.SafeLine(p.What)), output.Plain(output.SafeLine(p.Line)), output.Plain(output.SafeLine(p.At))})
	}
	_ = a.Table(a.Out, 0, []string{"", "WHAT", "RUNS", "DECLARED AT"}, rows) // what is not seen is asked about all the same
}

// askTrust asks whether the programs may run. Enter alone is no.
func (a *app) askTrust(s trustShape) bool {
	fmt.Fprintf(a.Err, "%s. Let these programs run as you? [y/N] ", s.Why)
	answer, err := bufio.NewReader(a.in).ReadString('\n')
	if err != nil {
		return false
	}
	answer = strings.ToLower(strings.TrimSpace(answer))
	return answer == "y" || answer == "yes"
}

// mayRun returns nil if the city may be started. On a terminal it asks for the trust that is missing.
func (a *app) mayRun(dir string, c *config.City) error {
	err := trusted(dir, c).Err()
	if err == nil || a.readOnly {
		return err
	}
	if _, untrusted := errors.AsType[*trust.Refusal](err); !untrusted || !a.inTTY || !a.ErrTTY || a.JSON {
		return err
	}
	shown := describeTrust(c)
	a.showTrust(shown)
	if !a.askTrust(shown) {
		return err
	}
	return ledger().Trust(c.Path, programsOf(c), a.Now())
}

// mayStart is mayRun for a city that is not read yet.
func (a *app) mayStart(dir string) error {
	c, err := a.loadAt(dir, nil)
	if err != nil {
		return err
	}
	return a.mayRun(dir, c)
}

func (a *app) listTrusted() error {
	all, err := ledger().List()
	if err != nil {
		return err
	}
	if a.JSON {
		return a.WriteJSON(output.ListOf(all))
	}
	rows := make([][]output.Cell, 0, len(all))
	for _, r := range all {
		rows = append(rows, []output.Cell{output.Plain(output.SafeLine(r.Path)), output.Plain(r.At.Local().Format(time.DateTime))})
	}
	return a.Table(a.Out, 0, []string{"CITY", "TRUSTED SINCE"}, rows)
}

func (a *app) revokeTrust(args []string) error {
	if a.readOnly {
		return refusedReadOnly("trust --revoke")
	}
	dir, err := a.cityOf(args)
	if err != nil && len(args) > 0 { // the folder may be gone
		dir, err = filepath.Abs(args[0])
	}
	if err != nil {
		return err
	}
	was, err := ledger().Revoke(dir)
	if err != nil {
		return fmt.Errorf("cannot revoke the trust in %s: %w", dir, err)
	}
	if !was {
		return a.receipt(city.Receipt{Message: dir + " was not trusted"})
	}
	return a.receipt(city.Receipt{Message: dir + " is not trusted any more"})
}

// initTrust trusts a city that was just written. It is the user's own.
func (a *app) initTrust(dir string) {
	c, err := loadCity(dir)
	if err == nil {
		err = ledger().Trust(c.Path, programsOf(c), a.Now())
	}
	if err != nil {
		a.Warn("the new city is not trusted yet, `gcity trust` mends that: " + err.Error())
	}
}

// noteUntrusted has the command say at its end that it worked from the text of a city alone.
func (a *app) noteUntrusted(g trust.Grant) {
	if !a.completes {
		a.untrusted = g.Err()
	}
}

// checkTrust says whether the city may run.
func checkTrust(_ context.Context, p *patient) finding {
	if why, always := ledger().Always(p.dir); always {
		return ok("yes, by %s", why)
	}
	err := p.grant.Err()
	if r, untrusted := errors.AsType[*trust.Refusal](err); untrusted {
		return note("`"+r.Command()+"`", "no: %s; nothing of it is run, so some lines here say less", r.Why)
	}
	if err != nil {
		return bad("mend or remove that file", "%v", err)
	}
	return ok("yes")
}

// untried is what doctor finds of a program that may not run.
func untried() finding { return note(`see the line "trust"`, "not asked: the city is not trusted") }

// checkOwner says whether only the user can change what decides over this city and its user.
func (a *app) checkOwner(p *patient) finding {
	paths := []string{p.dir, filepath.Join(p.dir, config.FileName)}
	if p.config != nil {
		paths = append(paths, p.config.Sources...)
		for _, q := range programsOf(p.config) {
			paths = append(paths, q.Files...)
		}
	}
	if home, err := a.home(); err == nil {
		paths = append(paths, home.Registry(), home.Settings())
	}
	if f, err := a.prefsFiles(); err == nil {
		paths = append(paths, f.Config)
	}
	var faults, fixes []string
	seen := map[string]bool{}
	for _, path := range paths {
		f, is := errors.AsType[*ownership.Fault](ownership.Check(path))
		if is && !seen[f.Path] {
			seen[f.Path] = true
			faults, fixes = append(faults, f.Error()), append(fixes, f.Fix)
		}
	}
	if len(faults) > 0 {
		return bad(strings.Join(fixes, "; "), "%s", strings.Join(faults, "\n"))
	}
	if p.config == nil {
		return note(`see the line "configuration"`, "only city.toml was checked: the configuration is refused")
	}
	return ok("only you and root can change the configuration")
}

// canonicalDir is a folder as records know it.
func canonicalDir(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	if abs, err := filepath.Abs(dir); err == nil {
		dir = abs
	}
	return dir
}
