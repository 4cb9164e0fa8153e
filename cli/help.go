package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gcity/cli/env"
	"gcity/cli/output"
)

// setHelp makes the help fit the terminal, because cobra does not wrap lines.
func setHelp(e *env.Env, root *cobra.Command) {
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		c.InitDefaultHelpFlag()
		c.InitDefaultVersionFlag()
		c.LocalFlags() // this call adds the parents' flags as a side effect
		_, err := io.WriteString(c.OutOrStdout(), helpText(c, e.TextWidth()))
		if err != nil {
			c.PrintErrln(err)
		}
	})
}

func helpText(c *cobra.Command, width int) string {
	var b strings.Builder
	section := func(title, text string) {
		if text = strings.TrimRight(text, "\n"); text != "" {
			fmt.Fprintf(&b, "\n%s:\n%s\n", title, text)
		}
	}
	text := c.Long
	if text == "" {
		text = c.Short
	}
	b.WriteString(reflow(strings.TrimSpace(text), width) + "\n")
	var usage []string
	if c.Runnable() {
		usage = append(usage, c.UseLine())
	}
	if c.HasAvailableSubCommands() {
		usage = append(usage, c.CommandPath()+" [command]")
	}
	for i, line := range usage {
		usage[i] = output.Hang("  ", 6, line, width)
	}
	section("Usage", strings.Join(usage, "\n"))
	if len(c.Aliases) > 0 {
		section("Aliases", output.Hang("  ", 2, c.NameAndAliases(), width))
	}
	section("Examples", c.Example)
	for _, g := range c.Groups() {
		section(strings.TrimSuffix(g.Title, ":"), commandTable(c, g.ID, width))
	}
	section("Available Commands", commandTable(c, "", width))
	section("Flags", flagTable(c.LocalFlags(), width))
	section("Global Flags", flagTable(c.InheritedFlags(), width))
	if c.HasAvailableSubCommands() {
		b.WriteString("\n" + reflow(fmt.Sprintf("Use \"%s [command] --help\" for more information "+
			"about a command.", c.CommandPath()), width) + "\n")
	}
	return b.String()
}

func commandTable(c *cobra.Command, group string, width int) string {
	var rows [][2]string
	for _, below := range c.Commands() {
		if below.GroupID == group && (below.IsAvailableCommand() || below.Name() == "help") {
			rows = append(rows, [2]string{below.Name(), below.Short})
		}
	}
	return output.HangTable(rows, c.NamePadding()-1, width)
}

func flagTable(flags *pflag.FlagSet, width int) string {
	var rows [][2]string
	for line := range strings.SplitSeq(strings.TrimRight(flags.FlagUsages(), "\n"), "\n") {
		name := strings.TrimRight(line, " ")
		if at := strings.Index(strings.TrimLeft(line, " "), "   "); at >= 0 {
			at += len(line) - len(strings.TrimLeft(line, " "))
			name, line = line[:at], strings.TrimLeft(line[at:], " ")
		} else {
			line = ""
		}
		rows = append(rows, [2]string{strings.TrimPrefix(name, "  "), line})
	}
	return output.HangTable(rows, 0, width)
}

func reflow(text string, width int) string {
	var out, words []string
	flush := func() {
		if len(words) > 0 {
			out = append(out, output.Hang("", 0, strings.Join(words, " "), width))
			words = nil
		}
	}
	for line := range strings.SplitSeq(text, "\n") {
		switch {
		case line == "":
			flush()
			out = append(out, "")
		case strings.HasPrefix(line, " ") && ansi.StringWidth(line) <= width:
			flush()
			out = append(out, line)
		case strings.HasPrefix(line, " "):
			flush()
			indent := len(line) - len(strings.TrimLeft(line, " "))
			hang := indent + 2
			if gap := strings.Index(line[indent:], "  "); gap >= 0 {
				rest := line[indent+gap:]
				hang = indent + gap + len(rest) - len(strings.TrimLeft(rest, " "))
			}
			out = append(out, output.Hang(line[:hang], hang, line[hang:], width))
		default:
			words = append(words, line)
		}
	}
	flush()
	return strings.Join(slices.Clip(out), "\n")
}
