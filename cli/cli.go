// Package cli implements gcity's command line: Main, the table of commands, and the commands that act on a city as a
// whole.
//
// A command is a function that takes an env.Env. Every command that reads or changes a city uses a city.Control: the
// running controller's if there is one, otherwise one from package offline. Package host assembles the parts of a
// running city.
//
// # Concurrency
//
// Commands run in the goroutine that calls Main.
package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/cli/agents"
	"gcity/cli/depot"
	"gcity/cli/doctor"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/fleet"
	"gcity/cli/folder"
	"gcity/cli/guide"
	"gcity/cli/host"
	"gcity/cli/offline"
	"gcity/cli/output"
	"gcity/cli/work"
	"gcity/cli/workstore"
	"gcity/trust"
)

// Main runs a command line, without the program's name, and returns its exit code.
func Main(args []string, version string) int {
	e := &env.Env{
		Printer: output.Printer{
			Out:    os.Stdout,
			Err:    os.Stderr,
			Getenv: os.Getenv,
			Now:    time.Now,
			OutTTY: term.IsTerminal(os.Stdout.Fd()),
			ErrTTY: term.IsTerminal(os.Stderr.Fd()),
		},
		In:      os.Stdin,
		Program: os.Args[0],
		Version: version,
		InTTY:   term.IsTerminal(os.Stdin.Fd()),
	}
	e.Dial = folder.Dial
	e.Store = func(p workstore.Place) (workstore.Store, error) { return depot.OpenStore(e, p) }
	e.Cities = func() (city.Directory, func(), error) { return host.OpenDirectory(e) }
	e.Reach = func(ctx context.Context, dir string) (*env.Link, error) {
		return offline.ReachCity(ctx, e, dir)
	}
	return run(context.Background(), e, args)
}

func run(ctx context.Context, e *env.Env, args []string) int {
	root := tree(e, args)
	if len(args) > 0 && strings.HasPrefix(args[0], "__complete") {
		e.Completes = true
		completions(e, root)
	}
	root.SetArgs(args)
	root.SetIn(e.In)
	root.SetOut(e.Out)
	root.SetErr(e.Err)
	err := gasCityCommand(args)
	if err == nil {
		err = unknownHelp(root, args)
	}
	if err == nil {
		err = root.ExecuteContext(ctx)
	}
	// if the reader of a pipe has exited, it does not need the rest
	if said := e.OutputError(); err == nil && !errors.Is(said, syscall.EPIPE) {
		err = said
	}
	if _, said := errors.AsType[*trust.Refusal](err); !said && e.Untrusted != nil {
		e.Warn(e.Untrusted.Error())
	}
	code, message := exit.Verdict(err)
	if message != "" {
		fmt.Fprintln(e.Err, e.Tint(e.ErrTTY, output.Red, "gcity:")+" "+output.SafeText(message))
	}
	return code
}

type branch struct {
	group, name string
	build       func(e *env.Env) *cobra.Command
	needsAll    bool
}

func branches() []branch {
	var out []branch
	group := ""
	add := func(name string, build func(e *env.Env) *cobra.Command) {
		out = append(out, branch{group: group, name: name, build: build,
			needsAll: name == "completion" || name == "man"})
	}
	group = "city"
	add("init", initCommand)
	add("start", startCommand)
	add("stop", stopCommand)
	add("restart", restartCommand)
	add("suspend", suspendCommand)
	add("resume", resumeCommand)
	add("reload", reloadCommand)
	add("trust", trustCommand)
	add("daemon", daemonCommand)
	add("topology", topologyCommand)
	add("import", importCommand)
	group = "look"
	add("status", statusCommand)
	add("why", agents.WhyCommand)
	add("plan", planCommand)
	add("events", eventsCommand)
	add("event", eventCommand)
	add("config", configCommand)
	group = "agent"
	add("agent", agents.AgentCommand)
	add("pool", agents.PoolCommand)
	add("rig", agents.RigCommand)
	add("watchdog", agents.WatchdogCommand)
	add("prime", work.PrimeCommand)
	add("hook", work.HookCommand)
	add("handoff", work.HandoffCommand)
	add("heartbeat", work.HeartbeatCommand)
	group = "work"
	add("bead", work.BeadCommand)
	add("mail", work.MailCommand)
	add("sling", work.SlingCommand)
	add("convoy", work.ConvoyCommand)
	add("formula", work.FormulaCommand)
	add("automation", agents.AutomationCommand)
	group = "misc"
	add("supervisor", fleet.SupervisorCommand)
	add("cities", fleet.CitiesCommand)
	add("register", fleet.RegisterCommand)
	add("unregister", fleet.UnregisterCommand)
	add("prefs", prefsCommand)
	add("doctor", doctor.Command)
	add("version", versionCommand)
	add("completion", completionCommand)
	add("man", manCommand)
	return out
}

// keepOrder lists commands in the order of the table. The setting is global, and tests build trees concurrently.
var keepOrder = sync.OnceFunc(func() { cobra.EnableCommandSorting = false })

// tree builds only the commands that args need, because building all takes longer than running most commands.
func tree(e *env.Env, args []string) *cobra.Command {
	keepOrder()
	root := consoleCommand(e)
	root.AddGroup(
		&cobra.Group{ID: "city", Title: "The city:"},
		&cobra.Group{ID: "look", Title: "Status and events:"},
		&cobra.Group{ID: "agent", Title: "Agents, pools, rigs:"},
		&cobra.Group{ID: "work", Title: "Work:"},
		&cobra.Group{ID: "misc", Title: "This machine:"},
	)
	all := branches()
	if i := slices.IndexFunc(all, func(b branch) bool {
		return len(args) > 0 && b.name == args[0]
	}); i >= 0 && !all[i].needsAll {
		all = all[i : i+1]
	}
	for _, b := range all {
		c := b.build(e)
		checkArgs(c)
		c.GroupID = b.group
		root.AddCommand(c)
	}
	root.SetHelpCommand(guide.Command(e))
	root.SetHelpCommandGroupID("misc")
	setHelp(e, root)
	return root
}

func checkArgs(c *cobra.Command) {
	if c.Args == nil && !c.HasSubCommands() {
		c.Args = env.ArgsInUse
	}
	for _, below := range c.Commands() {
		checkArgs(below)
	}
}
