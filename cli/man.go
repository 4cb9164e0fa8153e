package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/guide"
	"gcity/describe"
	"gcity/internal/disk"
	"gcity/internal/suggest"
)

func manCommand(e *env.Env) *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use: "man [COMMAND…]", Short: "Print the manual page for a command, or write all " +
			"pages to files",
		Long: `man prints the manual page for gcity, or for one of its commands, in the format that
man(1) reads. With --dir it writes all pages to a folder, each to its own file.`,
		Example: "  gcity man agent nudge | man -l -\n  gcity man --dir ~/.local/share/man/man1",
		RunE: func(cmd *cobra.Command, args []string) error {
			if dir == "" {
				of, rest, err := cmd.Root().Find(args)
				if err != nil || len(rest) > 0 {
					return suggest.NoSuch(suggest.Command, strings.Join(args, " "))
				}
				return manPage(e.Out, of, e.Version)
			}
			if len(args) > 0 {
				return exit.Usage("--dir writes all pages; remove %q", strings.Join(args, " "))
			}
			return manPages(e, cmd.Root(), dir)
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "write all pages to this `folder`")
	return env.TextOnly(e, c)
}

func manPages(e *env.Env, root *cobra.Command, dir string) error {
	if e.ReadOnly {
		return env.ReadOnlyError("man --dir")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("cannot create the folder for the pages: %w", err)
	}
	written := 0
	var walk func(c *cobra.Command) error
	walk = func(c *cobra.Command) error {
		var b strings.Builder
		if err := manPage(&b, c, e.Version); err != nil {
			return err
		}
		if err := disk.Replace(filepath.Join(dir, manName(c)+".1"), []byte(b.String()),
			0o644); err != nil {
			return fmt.Errorf("cannot write a manual page: %w", err)
		}
		written++
		for _, below := range shown(c) {
			if err := walk(below); err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk(root); err != nil {
		return err
	}
	for _, t := range guide.Topics() {
		page := []byte(t.Man(e.Version, roff))
		if err := disk.Replace(filepath.Join(dir, "gcity-"+t.Name+".7"), page, 0o644); err != nil {
			return fmt.Errorf("cannot write the manual page for a guide: %w", err)
		}
		written++
	}
	e.Sayf("wrote %s to %s", describe.Count(written, "page"), dir)
	return nil
}

func manName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

func shown(c *cobra.Command) []*cobra.Command {
	var out []*cobra.Command
	for _, below := range c.Commands() {
		if below.IsAvailableCommand() && below.Name() != "help" {
			out = append(out, below)
		}
	}
	return out
}

// manPage does not use cobra/doc, because its initialization would cost each holder 0.35 ms and 200 KB.
func manPage(w io.Writer, c *cobra.Command, version string) error {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line(`.TH "%s" "1" "" "gcity %s" "gcity"`, strings.ToUpper(roff(manName(c))), roff(version))
	line(".SH NAME\n%s \\- %s", roff(manName(c)), roff(c.Short))
	line(".SH SYNOPSIS")
	if below := shown(c); len(below) > 0 {
		line(".B %s\nCOMMAND", roff(c.CommandPath()))
		if !c.HasParent() {
			line(".br")
		}
	}
	if !c.HasSubCommands() || !c.HasParent() {
		name, rest, _ := strings.Cut(strings.TrimPrefix(c.UseLine(), c.CommandPath()), " ")
		line(".B %s\n%s", roff(c.CommandPath()+name), roff(rest))
	}
	if text := strings.TrimSpace(c.Long); text != "" {
		line(".SH DESCRIPTION")
		paragraphs(&b, text)
	}
	if below := shown(c); len(below) > 0 {
		line(".SH COMMANDS")
		for _, s := range below {
			line(".TP\n.BR %s (1)\n%s", roff(manName(s)), roff(s.Short))
		}
	}
	manOptions(line, c)
	if c.Example != "" {
		line(".SH EXAMPLES\n.EX")
		for text := range strings.SplitSeq(c.Example, "\n") {
			line("%s", roff(text))
		}
		line(".EE")
	}
	if !c.HasParent() {
		line(".SH EXIT STATUS")
		for _, e := range [][2]string{{"0", "success"}, {"1", "failure"},
			{"2", "the command line is invalid, or it names something that does not exist"},
			{"3", "the controller or supervisor that the command needs is not running"},
			{"4", "already running, or in conflict with the current state"},
			{"78", "the city is not trusted, or its configuration is invalid"}} {
			line(".TP\n.B %s\n%s", e[0], e[1])
		}
	}
	if c.HasParent() {
		line(".SH SEE ALSO\n.BR %s (1)", roff(manName(c.Parent())))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func manOptions(line func(format string, args ...any), c *cobra.Command) {
	for _, flags := range []struct {
		title string
		set   *pflag.FlagSet
	}{{"OPTIONS", c.NonInheritedFlags()}, {"GLOBAL OPTIONS", c.InheritedFlags()}} {
		title := ".SH " + flags.title
		flags.set.VisitAll(func(f *pflag.Flag) {
			if f.Hidden || f.Name == "help" {
				return
			}
			if title != "" {
				line("%s", title)
				title = ""
			}
			value, text := pflag.UnquoteUsage(f)
			name := "--" + f.Name
			if f.Shorthand != "" {
				name = "-" + f.Shorthand + ", " + name
			}
			line(".TP\n\\fB%s\\fR %s\n%s", roff(name), roff(value), roff(text))
		})
	}
}

func paragraphs(b *strings.Builder, text string) {
	verbatim, gap := false, false
	for line := range strings.SplitSeq(text, "\n") {
		if line == "" {
			gap = true
			continue
		}
		indented := strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")
		if verbatim && !indented {
			b.WriteString(".EE\n")
		}
		if gap || indented != verbatim {
			b.WriteString(".PP\n")
		}
		if indented && !verbatim {
			b.WriteString(".EX\n")
		}
		verbatim, gap = indented, false
		b.WriteString(roff(line) + "\n")
	}
	if verbatim {
		b.WriteString(".EE\n")
	}
}

// roff escapes s, so that man prints it unchanged.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "…", `\&...`, "\n",
		" ").Replace(s)
	if strings.HasPrefix(s, ".") {
		s = `\&` + s
	}
	return s
}
