package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"gcity/cli/env"
	"gcity/cli/exit"
)

// Every suggested replacement is an existing command, and no Gas City word is also the name of a gcity command.
func TestGCWords(t *testing.T) {
	all := tree(&env.Env{}, nil)
	find := func(words []string) (*cobra.Command, bool) {
		c, rest, err := all.Find(words)
		return c, err == nil && c != all && len(rest) == 0
	}
	for words, to := range gcWords() {
		if strings.Contains(to, "docs/") {
			t.Errorf("%q: a user of the program has no docs folder: name the help topic", words)
		}
		if c, found := find(strings.Fields(words)); found && !(c.HasSubCommands() && c.Name() != words) {
			t.Errorf("%q is also a gcity command: %s", words, c.CommandPath())
		}
		for command := range strings.SplitSeq(to, " && ") {
			if !strings.HasPrefix(command, "gcity") {
				continue
			}
			var names, flags []string
			for _, word := range strings.Fields(command)[1:] {
				if flag, ok := strings.CutPrefix(word, "--"); ok {
					flags = append(flags, flag)
				}
			}
			for _, word := range strings.Fields(command)[1:] {
				if strings.HasPrefix(word, "-") || word == "*" || word == "help" {
					break
				}
				names = append(names, word)
			}
			c, _, err := all.Find(names)
			if len(names) > 0 && (err != nil || c == all || c.HasSubCommands() && !strings.Contains(command, "--help") &&
				!strings.Contains(command, "*")) {
				t.Errorf("%q: translated to the unknown command %q", words, command)
				continue
			}
			c.InitDefaultHelpFlag()
			for _, flag := range flags {
				if c.Flags().Lookup(flag) == nil {
					t.Errorf("%q: %q has no flag --%s", words, command, flag)
				}
			}
		}
	}
}

func TestOtherName(t *testing.T) {
	dir := t.TempDir()
	for line, want := range map[string]string{
		"session kill X":               "\"session kill\" is not a gcity command; run `gcity agent kill X`",
		"--city d session nudge X a|b": "\"session nudge\" is not a gcity command; run `gcity --city d agent nudge X 'a|b'`",
		"order run tick --rig shop":    "\"order run\" is not a gcity command; run `gcity automation run tick --rig shop`",
		"pack fetch":                   "\"pack fetch\" is not a gcity command; run `gcity topology fetch`",
		"deacon health-check deacon":   "gcity has no \"deacon health-check\": `gcity watchdog triage WATCHDOG` starts a check now, and `gcity watchdog status` shows the result",
		"boot":                         "\"boot\" is not a gcity command; run `gcity watchdog status`",
		"boot unknown":                 "\"boot\" is not a gcity command; run `gcity watchdog status`",
		"logs X -n 5":                  "\"logs\" is not a gcity command; run `gcity agent logs X -n 5`",
		"fire X":                       "\"fire\" is not a gcity command; run `gcity automation run X`",
		"nudge X hello":                "\"nudge\" is not a gcity command; run `gcity agent nudge X hello`",
		"start-session X":              "\"start-session\" is not a gcity command; run `gcity agent resume X`",
		"runtime drain-ack":            "\"runtime drain-ack\" is not a gcity command; run `gcity agent drain-ack`",
		"bd close b-1 --reason=done":   "\"bd\" is not a gcity command; run `gcity bead close b-1 --reason=done`",
		"import install":               "\"import install\" is not a gcity command; run `gcity topology fetch`",
		"session prune --before 7d":    `gcity has no "session prune": ended sessions are not stored, so there is nothing to prune`,
		"start " + dir:                 "in gcity the city's folder is set with --city: gcity --city " + dir + " start",
		"hook --claim --json":          "gcity has no \"hook --claim\": `gcity hook` prints an agent's work, and `gcity bead update BEAD --claim` claims it",
		"bd heartbeat x":               `gcity has no "bd heartbeat": claims do not expire, so they need no heartbeat`,
		"events --watch --type a":      "\"events --watch\" is not a gcity command; run `gcity events --follow --type a`",
		"wait list":                    "gcity has no \"wait\": there are no waits; `gcity events --follow` prints events as they happen",
		"events --follow":              "",
		"agent list":                   "",
		"import gas-city d":            "",
		"status --json":                "",
		"":                             "",
		"--help":                       "",
		"mail send order hello":        "",
		"agent nudge X session kill":   "",
		"start " + dir + "/none":       "",
	} {
		err := gasCityCommand(strings.Fields(line))
		got := ""
		if err != nil {
			got = err.Error()
			if code, _ := exit.Verdict(err); code != exit.CodeUsage {
				t.Errorf("%q: exit %d", line, code)
			}
		}
		if got != want || strings.Contains(got, "\n") {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

func TestInstalledAs(t *testing.T) {
	link := filepath.Join(t.TempDir(), "gc")
	if err := os.Symlink(os.Args[0], link); err != nil {
		t.Fatal(err)
	}
	if c := tree(&env.Env{Program: link}, nil); !strings.Contains(c.Long, "gcity, installed as gc") {
		t.Error(c.Long)
	}
	if c := tree(&env.Env{Program: "/usr/bin/gcity"}, nil); strings.Contains(c.Long, "installed as") {
		t.Error(c.Long)
	}
}
