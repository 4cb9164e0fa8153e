package guide

import (
	"cmp"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"gcity/cli/env"
	"gcity/cli/output"
	"gcity/internal/suggest"
)

// Command returns the help command.
func Command(e *env.Env) *cobra.Command {
	return env.TextOnly(e, &cobra.Command{
		Use: "help [TOPIC | COMMAND…]", Short: "Show a guide, or help for a command",
		Long: `help without an argument lists the guides. help TOPIC shows a guide, in the program
that PAGER names if stdout is a terminal. help COMMAND does the same as COMMAND
--help.`,
		Example: "  gcity help start\n  gcity help pools\n  gcity help agent nudge",
		ValidArgsFunction: func(
			cmd *cobra.Command, args []string, _ string,
		) ([]string, cobra.ShellCompDirective) {
			var names []string
			at, _, err := cmd.Root().Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			for _, c := range at.Commands() {
				if c.IsAvailableCommand() {
					names = append(names, c.Name()+"\t"+c.Short)
				}
			}
			if len(args) > 0 {
				return names, cobra.ShellCompDirectiveNoFileComp
			}
			for _, t := range Topics() {
				names = append(names, t.Name+"\t"+t.Title())
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				list(e)
				return nil
			}
			if t, ok := Find(args[0]); ok && len(args) == 1 {
				return show(e, t, cmd.Root())
			}
			of, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return suggest.NotFound(suggest.AnyOf(suggest.Topic, suggest.Command),
					strings.Join(args, " "), namesIn(cmd.Root())).Then(
					"run `gcity help` to see all topics, and `gcity --help` to see all commands")
			}
			of.InitDefaultHelpFlag()
			return of.Help()
		},
	})
}

func list(e *env.Env) {
	group := ""
	for _, t := range Topics() {
		if t.Group != group {
			if group != "" {
				fmt.Fprintln(e.Out)
			}
			group = t.Group
			fmt.Fprintln(e.Out, e.Paint(output.Bold, group+":"))
		}
		fmt.Fprintf(e.Out, "  %-17s %s\n", t.Name, t.Title())
	}
	fmt.Fprintln(e.Out, "\n`gcity help TOPIC` shows a topic, and "+
		"`gcity --help` lists the commands.")
}

func show(e *env.Env, t Topic, root *cobra.Command) error {
	text := t.Terminal(Style{
		Title: func(s string) string { return e.Paint(output.Bold, s) },
		Code: func(s string) string {
			if painted := e.Paint(output.Cyan, s); painted != s {
				return painted
			}
			return "`" + s + "`"
		},
		Block: func(s string) string { return e.Paint(output.Cyan, s) },
		Width: e.TextWidth(),
	})
	if of, rest, err := root.Find([]string{t.Name}); err == nil && len(rest) == 0 && of != root {
		text += fmt.Sprintf("\n`gcity %s --help` shows the command's help.\n", t.Name)
	}
	if !e.OutTTY || e.Getenv("TERM") == "dumb" || !page(e, text) {
		_, err := io.WriteString(e.Out, text)
		return err
	}
	return nil
}

func page(e *env.Env, text string) bool {
	pager := cmp.Or(e.Getenv("PAGER"), "less -FRX")
	program, _, _ := strings.Cut(pager, " ")
	if _, err := exec.LookPath(program); err != nil {
		return false
	}
	c := exec.Command("sh", "-c", pager)
	c.Stdin, c.Stdout, c.Stderr = strings.NewReader(text), e.Out, e.Err
	return c.Run() == nil
}

func namesIn(root *cobra.Command) []string {
	var names []string
	for _, t := range Topics() {
		names = append(names, t.Name)
	}
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	return names
}
