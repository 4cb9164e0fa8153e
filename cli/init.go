package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"gcity/cli/consent"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/fleet"
	"gcity/cli/folder"
	"gcity/cli/host"
	"gcity/config"
	"gcity/internal/shell"
)

func initCommand(e *env.Env) *cobra.Command {
	var (
		name string
		yes  bool
	)
	c := &cobra.Command{
		Use: "init [DIR]", Short: "Write an initial city.toml; existing files are not changed",
		RunE: func(_ *cobra.Command, args []string) error {
			dir := "."
			if len(args) > 0 {
				dir = args[0]
			} else if e.Dir != "" {
				dir = e.Dir
			}
			return initCity(e, dir, name, yes)
		},
	}
	c.Flags().StringVar(&name, "name", "", "the city's name (default: the folder's name)")
	c.Flags().BoolVarP(&yes, "yes", "y", false, "write city.toml without asking")
	return env.Changes(e, c)
}

func initCity(e *env.Env, dir, name string, yes bool) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	file := filepath.Join(dir, config.FileName)
	if _, err := os.Lstat(file); err == nil {
		return exit.Errorf(exit.CodeConflict, "%s already exists and was not changed; `gcity "+
			"plan --city %s` shows what the city would start", file, dir)
	}
	if !utf8.ValidString(dir) {
		return exit.Usage("the path %q is not valid UTF-8; rename the folder", dir)
	}
	if base := filepath.Base(dir); name == "" {
		if strings.IndexFunc(base, func(r rune) bool { return r >= utf8.RuneSelf }) >= 0 {
			return exit.Usage("the folder's name %q cannot be used as the city's name, because it "+
				"has non-ASCII characters; run `gcity init --name NAME`", base)
		}
		name = folder.DefaultCityName(base)
	}
	if !folder.ValidName(name) {
		return exit.Usage("invalid city name %q: use letters, digits, '.', '_' and '-', "+
			"beginning with a letter or a digit", name)
	}
	text := firstConfig(name, e.Getenv("SHELL"), exec.LookPath)
	if _, err := config.Parse(dir, []byte(text)); err != nil {
		return fmt.Errorf("the city.toml that gcity writes is invalid (this is a bug in gcity): %w",
			err)
	}
	// pasted lines after the command are not an answer, so do not ask
	asks := e.InTTY && e.OutTTY && !yes && !env.TypedAhead(e)
	if asks && !env.Ask(e, fmt.Sprintf("write %s?", file)) {
		e.Sayf("nothing was written")
		return nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("cannot create the city's folder: %w", err)
	}
	if err := folder.WriteNew(file, text); err != nil {
		return err
	}
	consent.InitTrust(e, dir)
	if err := host.Remember(e, dir, name); err != nil {
		e.Warn(err.Error())
	}
	if e.JSON {
		return e.WriteJSON(map[string]string{"name": name, "path": dir, "file": file})
	}
	e.Sayf("wrote %s: city %s with one agent, a shell", file, name)
	if found := foundAgents(exec.LookPath); len(found) > 0 {
		e.Sayf("agent programs found on this machine, added to city.toml as comments: %s",
			strings.Join(found, ", "))
	}
	room := "gcity"
	if here, err := os.Getwd(); err != nil || fleet.Resolved(here) != fleet.Resolved(dir) {
		room += " --city " + shell.Quote(dir)
	}
	e.Sayf("next: `%s` opens the city's control room", room)
	return nil
}

func foreground(ctx context.Context, e *env.Env, yes bool) error {
	_, err := e.CityDir()
	if none, ok := errors.AsType[env.NoCity](err); ok {
		asks := e.InTTY && e.ErrTTY && !e.JSON && !env.TypedAhead(e)
		switch {
		case e.ReadOnly:
			return err
		case !yes && !asks:
			return exit.Usage("%v; add --yes to write a city.toml and run the city", err)
		case !yes && !env.Ask(e, "no city found here; write "+
			filepath.Join(none.Dir, config.FileName)+" and run the city?"):
			return err
		}
		if err := initCity(e, none.Dir, "", true); err != nil {
			return err
		}
	}
	return host.Headless(ctx, e)
}

func firstContact(e *env.Env) error {
	_, err := e.CityDir()
	none, ok := errors.AsType[env.NoCity](err)
	if !ok || e.ReadOnly {
		return nil
	}
	e.Sayf("%s has no city yet: neither this folder nor any folder above it has a city.toml.",
		none.Dir)
	if inGit(none.Dir) {
		e.Sayf("found: a git repository")
	}
	if found := foundAgents(exec.LookPath); len(found) > 0 {
		e.Sayf("found: %s (city.toml will list them in comments)", strings.Join(found, ", "))
	}
	e.Sayf("The initial city.toml defines one agent, a shell. No other files are changed.")
	if env.TypedAhead(e) {
		return fmt.Errorf("%w; the terminal had unread input, so gcity did not ask; run "+
			"`gcity init`", err)
	}
	if !env.Ask(e, "write "+filepath.Join(none.Dir, config.FileName)+
		" and open the control room?") {
		return err
	}
	return initCity(e, none.Dir, "", true)
}

func inGit(dir string) bool {
	for {
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		above := filepath.Dir(dir)
		if above == dir {
			return false
		}
		dir = above
	}
}

func foundAgents(look func(string) (string, error)) []string {
	var found []string
	for _, p := range config.Presets() {
		if _, err := look(p.FirstWord()); err == nil {
			found = append(found, p.FirstWord())
		}
	}
	return found
}

const firstText = `# The agents of this city. gcity keeps them running, and applies each saved
# change to this file.
#
#   gcity            the control room
#   gcity plan       what a change to this file would do, before a controller applies it
#   gcity doctor     what is wrong with this machine or city

[workspace]
name = %s

# The defaults:
# [daemon]
# patrol_interval  = "30s"  # time between two full checks of the city
# max_restarts     = 5      # restarts within restart_window; one more crash leads to quarantine
# restart_window   = "1h"
# shutdown_timeout = "5s"   # time between interrupt and kill

[[agents]]
name          = "shell"
description   = "a shell to watch, type into and attach to"
start_command = %s

# [[agents]]
# name          = "worker"
# dir           = "work"                  # a folder below this one, created if it is missing
# start_command = "./worker.sh"           # run by sh -c, unchanged
# env           = { LEVEL = "debug" }
# restart       = "on-failure"            # always | on-failure | never
# nudge         = "begin with the oldest" # typed once the agent is ready

# A pool: as many members as its check prints, here one for each file in todo (gcity help pools).
# [[agents]]
# name          = "hand"
# start_command = "./hand.sh"
# [agents.pool]
# min   = 0
# max   = 3
# check = "ls todo | wc -l"

# An automation is a folder with a file, here .gc/formulas/automations/tidy/automation.toml
# (gcity help automations):
# [automation]
# gate     = "cooldown"
# interval = "1h"
# exec     = "./tidy.sh"
`

func firstConfig(name, shell string, look func(string) (string, error)) string {
	var b strings.Builder
	fmt.Fprintf(&b, firstText, strconv.Quote(name), strconv.Quote(shellCommand(shell, look)))
	for _, p := range config.Presets() {
		if _, err := look(p.FirstWord()); err != nil {
			continue
		}
		fmt.Fprintf(&b, "\n# %s is installed on this machine. To add it to the city, uncomment "+
			"these lines. It runs as `%s`.\n", p.DisplayName,
			(&config.Program{Provider: p.Provider}).CommandLine())
		fmt.Fprintf(&b, "# [[agents]]\n# name          = %q\n# dir           = %q\n# "+
			"provider      = %q\n", p.Name, "work", p.Name)
		if len(p.Dialogs) > 0 {
			b.WriteString("# emits_permission_warning = true         # answer its " +
				"questions at startup; for example, trust the folder\n")
		}
	}
	return b.String()
}

func shellCommand(shell string, look func(string) (string, error)) string {
	for _, candidate := range []string{shell, "bash"} {
		if candidate == "" || strings.ContainsAny(candidate, " \t'\"\\$`") {
			continue
		}
		switch filepath.Base(candidate) {
		case "bash", "zsh", "fish", "dash", "ash", "ksh", "mksh", "sh":
			if path, err := look(candidate); err == nil {
				return "exec " + path + " -i"
			}
		}
	}
	return "exec sh -i"
}
