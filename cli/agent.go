package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"gcity/city"
)

// agentCommand is everything about one agent, or the list of all.
func (a *app) agentCommand() *cobra.Command {
	below := []*cobra.Command{
		a.agentList(), a.agentShow(), a.agentPeek(), a.agentLogs(), a.agentAttach(), a.agentNudge(), a.agentKeys(),
	}
	for _, v := range agentVerbs() {
		below = append(below, a.agentVerb(v))
	}
	return group("agent", "Look at one agent, type to it, stop it, restart it", below...)
}

// verb is a command on an agent that needs nothing but its name.
type verb struct {
	name, short string
	command     func(agent string) city.Command
}

func agentVerbs() []verb {
	return []verb{
		{"interrupt", "Do what Ctrl-C in its terminal does", func(g string) city.Command { return city.Interrupt{Agent: g} }},
		{"restart", "Stop its session and start it anew", func(g string) city.Command { return city.Restart{Agent: g} }},
		{"stop", "Stop it and keep it stopped: suspended until resumed", func(g string) city.Command { return city.Stop{Agent: g} }},
		{"kill", "End its session at once and let it be restarted", func(g string) city.Command { return city.Kill{Agent: g} }},
		{"suspend", "Write suspended = true into the configuration", func(g string) city.Command { return city.Suspend{Agent: g} }},
		{"resume", "Write suspended = false into the configuration", func(g string) city.Command { return city.Resume{Agent: g} }},
		{"release", "Let it out of quarantine or backoff now", func(g string) city.Command { return city.Release{Agent: g} }},
		{"clear", "Forget its kept output", func(g string) city.Command { return city.Clear{Agent: g} }},
		{"request-restart", "From inside a session: ask to be restarted", func(g string) city.Command { return city.RequestRestart{Agent: g} }},
	}
}

func (a *app) agentVerb(v verb) *cobra.Command {
	return a.forAgent(&cobra.Command{Use: v.name + " [AGENT]", Short: v.short, Args: between(0, 1)},
		func(ctx context.Context, l *link, name string, _ []string) error {
			return a.do(ctx, l, v.command(name))
		})
}

// forAgent gives a command its deed: run gets the open city, the agent's qualified name, and the other arguments.
func (a *app) forAgent(c *cobra.Command, run func(ctx context.Context, l *link, name string, rest []string) error) *cobra.Command {
	c.RunE = func(cmd *cobra.Command, args []string) error {
		name, err := a.self(args)
		if err != nil {
			return err
		}
		l, err := a.open(cmd.Context())
		if err != nil {
			return err
		}
		defer l.close()
		_, g, err := l.find(cmd.Context(), name)
		if err != nil {
			return err
		}
		return run(cmd.Context(), l, g.Name, args[min(1, len(args)):])
	}
	return c
}

func (a *app) agentList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "All agents, those in need of a person first", Args: exactly(0), Aliases: []string{"ls"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			s, err := l.Snapshot(cmd.Context())
			if err != nil {
				return err
			}
			if a.json {
				return a.writeJSON(listOf(s.Agents))
			}
			return a.writeAgents(a.out, s.Agents)
		},
	}
}

func (a *app) agentShow() *cobra.Command {
	return a.forAgent(&cobra.Command{Use: "show [AGENT]", Short: "Everything known about it", Args: between(0, 1)},
		func(ctx context.Context, l *link, name string, _ []string) error {
			_, g, err := l.find(ctx, name)
			if err != nil {
				return err
			}
			if a.json {
				return a.writeJSON(g)
			}
			a.sayf("%s", a.standing(g))
			if g.Description != "" {
				a.sayf("  %s", safeLine(g.Description))
			}
			a.facts(g, l.live)
			return nil
		})
}

// outputShape is a piece of output as the API gives it.
type outputShape struct {
	Agent  string `json:"agent"`
	Format string `json:"format"`
	Turns  []turn `json:"turns"`
}

type turn struct {
	Role string `json:"role"`
	Text string `json:"text"`
}

func (a *app) agentPeek() *cobra.Command {
	var lines int
	c := a.forAgent(&cobra.Command{Use: "peek [AGENT]", Short: "Its screen, or its last lines", Args: between(0, 1)},
		func(ctx context.Context, l *link, name string, _ []string) error {
			return a.output(ctx, l, name, lines)
		})
	c.Flags().IntVarP(&lines, "lines", "n", 0, "the last so many lines instead of the screen")
	return c
}

func (a *app) output(ctx context.Context, l *link, name string, lines int) error {
	text, err := l.Output(ctx, name, lines)
	if err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(outputShape{Agent: name, Format: "text", Turns: []turn{{Role: "output", Text: text}}})
	}
	if text = strings.TrimRight(safeText(text), "\n"); text != "" {
		a.sayf("%s", text)
	}
	return nil
}

func (a *app) agentLogs() *cobra.Command {
	var (
		lines       int
		follow, raw bool
	)
	c := a.forAgent(&cobra.Command{Use: "logs [AGENT]", Short: "Its kept output as lines, and what comes", Args: between(0, 1)},
		func(ctx context.Context, l *link, name string, _ []string) error {
			switch {
			case raw && a.outTTY:
				return usage("--raw would let the agent's bytes act on this terminal: send it into a file or a pipe, or use agent attach")
			case raw || follow:
				return a.followOutput(ctx, l, name, followed{lines: lines, follow: follow, raw: raw})
			default:
				return a.output(ctx, l, name, lines)
			}
		})
	c.Flags().IntVarP(&lines, "lines", "n", 200, "at most so many of the kept lines")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "then what comes")
	c.Flags().BoolVar(&raw, "raw", false, "the bytes as they are; not to a terminal")
	return c
}

type followed struct {
	lines       int
	follow, raw bool
}

// followOutput writes the kept output, then what comes: as clean lines, or raw.
func (a *app) followOutput(ctx context.Context, l *link, name string, f followed) error {
	ctx, quiet := interruptible(ctx)
	defer quiet()
	if f.follow && !f.raw {
		if err := a.output(ctx, l, name, f.lines); err != nil {
			return err
		}
	}
	pending, seen := "", false
	for frame, err := range l.Watch(ctx, name) {
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		switch {
		case f.raw:
			if _, err := a.out.Write(frame.Data); err != nil {
				return err
			}
			if !f.follow {
				return nil
			}
		case frame.Reset: // the history, which was written already, or a reader that was too slow
			if seen {
				a.sayf("… some output was missed")
			}
			seen, pending = true, ""
		default:
			pending = a.writeLines(name, pending+string(frame.Data))
		}
	}
	return nil
}

// writeLines writes the complete lines of an agent's output and returns the rest. Where a program draws over a line,
// only what stands there at the end is written.
func (a *app) writeLines(name, text string) (rest string) {
	for {
		line, after, ok := strings.Cut(text, "\n")
		if !ok {
			return text[max(0, len(text)-64<<10):]
		}
		text = after
		line = strings.TrimRight(line, "\r")
		line = safeLine(ansi.Strip(line[strings.LastIndexByte(line, '\r')+1:]))
		if a.json {
			_ = a.writeJSONLine(outputShape{Agent: name, Format: "text", Turns: []turn{{Role: "output", Text: line}}})
			continue
		}
		a.sayf("%s", line)
	}
}

func (a *app) agentNudge() *cobra.Command {
	return &cobra.Command{
		Use: "nudge AGENT TEXT…", Short: "Type a line into its terminal and submit it",
		Args: between(2, 1<<20),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.typed(cmd.Context(), args[0], func(g string) city.Command {
				return city.Nudge{Agent: g, Text: strings.Join(args[1:], " ")}
			})
		},
	}
}

func (a *app) agentKeys() *cobra.Command {
	return &cobra.Command{
		Use: "send-keys AGENT KEY…", Short: "Press keys in its terminal: Enter, Escape, C-c, Up, F5, or text",
		Args:    between(2, 1<<20),
		Example: "  gcity agent send-keys worker Escape ':q' Enter",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.typed(cmd.Context(), args[0], func(g string) city.Command { return city.SendKeys{Agent: g, Keys: args[1:]} })
		},
	}
}

func (a *app) typed(ctx context.Context, name string, command func(agent string) city.Command) error {
	l, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	_, g, err := l.find(ctx, name)
	if err != nil {
		return err
	}
	if !g.Running {
		return &city.Error{Code: city.Conflict, Message: fmt.Sprintf("agent %q has no terminal to type into: it is %s (%s)", g.Name, g.State, g.Reason)}
	}
	return a.do(ctx, l, command(g.Name))
}
