// Package cli is gcity's command line, and the only place where the parts are put together: wire.go knows them all.
//
// Every command that reads or changes a city works on a city.Control: the running controller's if there is one, else
// one made of what lies on disk and of the sessions that are still alive (aside.go).
//
// # Concurrency
//
// A command runs in the goroutine of Main. Hosting a city (host.go) owns an errgroup for the loop, the socket and the
// signals, and Main returns when all of them have ended.
package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/trust"
)

// Main runs one command line (without the program's name) on the process's own streams and returns its exit code.
func Main(args []string, version string) int {
	a := &app{
		Printer: output.Printer{
			Out:    os.Stdout,
			Err:    os.Stderr,
			Getenv: os.Getenv,
			Now:    time.Now,
			OutTTY: term.IsTerminal(os.Stdout.Fd()),
			ErrTTY: term.IsTerminal(os.Stderr.Fd()),
		},
		in:      os.Stdin,
		version: version,
		inTTY:   term.IsTerminal(os.Stdin.Fd()),
	}
	a.dial, a.store = dial, openStore
	a.cities = func() (city.Directory, func(), error) { return a.openDirectory() }
	a.reach = func(ctx context.Context, dir string) (*link, error) { return a.reachCity(ctx, dir) }
	return a.run(context.Background(), args)
}

// app is what the commands share: the streams, the surroundings, the flags that all of them have.
type app struct {
	output.Printer
	in      *os.File
	inTTY   bool
	version string

	dir      string // --city
	readOnly bool

	untrusted error // why no program of the city that is read may run; said at the end
	completes bool  // this names things for a shell: nothing is said

	files  []string // -f
	strict bool     // --strict
	op     string   // --op

	// reach opens the city at a folder: the running controller, or what can be told without one.
	reach func(ctx context.Context, dir string) (*link, error)
	// dial opens the running controller alone.
	dial func(dir string) (city.Control, func(), error)
	// cities opens the list of the cities of this machine, nil without an error where there is none.
	cities func() (city.Directory, func(), error)
	// store opens the work of a place.
	store func(p place) (store, error)
}

// run executes one command line and says what went wrong, on stderr only.
func (a *app) run(ctx context.Context, args []string) int {
	root := a.tree(args)
	if len(args) > 0 && strings.HasPrefix(args[0], "__complete") {
		a.completes = true
		a.completions(root)
	}
	root.SetArgs(args)
	root.SetIn(a.in)
	root.SetOut(a.Out)
	root.SetErr(a.Err)
	err := root.ExecuteContext(ctx)
	if _, said := errors.AsType[*trust.Refusal](err); !said && a.untrusted != nil {
		a.Warn(a.untrusted.Error())
	}
	code, message := exit.Verdict(err)
	if message != "" {
		fmt.Fprintln(a.Err, a.Tint(a.ErrTTY, output.Red, "gcity:")+" "+output.SafeText(message))
	}
	return code
}

// branch is a top-level command. Its tree is built only when the command line needs it.
type branch struct {
	group, name string
	build       func() *cobra.Command
	needsAll    bool // it reads the other commands
}

// branches are the top-level commands, in the order of the help.
func (a *app) branches() []branch {
	var out []branch
	group := ""
	add := func(name string, build func() *cobra.Command) {
		out = append(out, branch{group: group, name: name, build: build, needsAll: name == "completion" || name == "man"})
	}
	group = "city"
	add("init", a.initCommand)
	add("start", a.startCommand)
	add("stop", a.stopCommand)
	add("restart", a.restartCommand)
	add("suspend", a.suspendCommand)
	add("resume", a.resumeCommand)
	add("reload", a.reloadCommand)
	add("trust", a.trustCommand)
	add("daemon", a.daemonCommand)
	add("topology", a.topologyCommand)
	group = "look"
	add("status", a.statusCommand)
	add("why", a.whyCommand)
	add("plan", a.planCommand)
	add("events", a.eventsCommand)
	add("event", a.eventCommand)
	add("config", a.configCommand)
	group = "agent"
	add("agent", a.agentCommand)
	add("pool", a.poolCommand)
	add("rig", a.rigCommand)
	add("watchdog", a.watchdogCommand)
	add("prime", a.primeCommand)
	add("hook", a.hookCommand)
	add("handoff", a.handoffCommand)
	add("heartbeat", a.heartbeatCommand)
	group = "work"
	add("bead", a.beadCommand)
	add("mail", a.mailCommand)
	add("sling", a.slingCommand)
	add("convoy", a.convoyCommand)
	add("formula", a.formulaCommand)
	add("automation", a.automationCommand)
	group = "misc"
	add("supervisor", a.supervisorCommand)
	add("cities", a.citiesCommand)
	add("register", a.registerCommand)
	add("unregister", a.unregisterCommand)
	add("prefs", a.prefsCommand)
	add("doctor", a.doctorCommand)
	add("version", a.versionCommand)
	add("completion", a.completionCommand)
	add("man", a.manCommand)
	return out
}

// root builds the tree of all commands.
func (a *app) root() *cobra.Command { return a.tree(nil) }

// tree builds the commands that a command line needs: the one that its first word names, else all.
// Building all takes longer than most commands run.
func (a *app) tree(args []string) *cobra.Command {
	cobra.EnableCommandSorting = false // the library's own switch: the order below is the order of the help
	root := a.consoleCommand()
	root.AddGroup(
		&cobra.Group{ID: "city", Title: "The city:"},
		&cobra.Group{ID: "look", Title: "Looking:"},
		&cobra.Group{ID: "agent", Title: "Agents, pools, rigs:"},
		&cobra.Group{ID: "work", Title: "Work:"},
		&cobra.Group{ID: "misc", Title: "This machine:"},
	)
	all := a.branches()
	if i := slices.IndexFunc(all, func(b branch) bool { return len(args) > 0 && b.name == args[0] }); i >= 0 && !all[i].needsAll {
		all = all[i : i+1]
	}
	for _, b := range all {
		c := b.build()
		c.GroupID = b.group
		root.AddCommand(c)
	}
	root.SetHelpCommandGroupID("misc")
	return root
}

// group makes a command that only has commands below it.
func group(use, short string, below ...*cobra.Command) *cobra.Command {
	c := &cobra.Command{
		Use: use, Short: short,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return exit.Usage("%s needs one of: %s", cmd.Name(), strings.Join(names(cmd), ", "))
			}
			hint := ""
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				hint = fmt.Sprintf(", did you mean %q?", near[0])
			}
			return exit.Usage("%s has no command %q%s", cmd.Name(), args[0], hint)
		},
	}
	c.SuggestionsMinimumDistance = 2
	c.AddCommand(below...)
	return c
}

func names(c *cobra.Command) []string {
	var out []string
	for _, s := range c.Commands() {
		if s.IsAvailableCommand() {
			out = append(out, s.Name())
		}
	}
	return out
}

// exactly, atMost: the number of arguments, as a usage error that shows the usage.
func exactly(n int) cobra.PositionalArgs { return between(n, n) }

func between(least, most int) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least {
			missing := strings.Fields(cmd.Use)[1:]
			missing = missing[min(len(args), len(missing)):min(least, len(missing))]
			return exit.Usage("%s is missing: %s", strings.Join(missing, " "), cmd.UseLine())
		}
		if len(args) > most {
			return exit.Usage("%q is one too many: %s", args[most], cmd.UseLine())
		}
		return nil
	}
}
