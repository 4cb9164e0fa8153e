package cli

import (
	"context"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/cli/exit"
	"gcity/cli/output"
)

// agentCommand is everything about one agent, or the list of all.
func (a *app) agentCommand() *cobra.Command {
	below := []*cobra.Command{
		a.agentList(), a.agentShow(), a.agentPeek(), a.agentLogs(), a.agentAttach(), a.agentNudge(),
		a.agentUnsend(), a.agentKeys(),
	}
	for _, v := range agentVerbs() {
		if v.name == "drain-ack" {
			below = append(below, a.agentDrainCheck())
		}
		below = append(below, a.agentVerb(v))
	}
	return group("agent", "Look at one agent, type to it, stop it, restart it", below...)
}

// verb is a command on an agent that needs nothing but its name.
type verb struct {
	name, short string
	pools       bool // a pool may be named too
	command     func(agent string) city.Command
}

func agentVerbs() []verb {
	return []verb{
		{"interrupt", "Do what Ctrl-C in its terminal does", false,
			func(g string) city.Command { return city.Interrupt{Agent: g} }},
		{"restart", "Stop its session and start it anew", false,
			func(g string) city.Command { return city.Restart{Agent: g} }},
		{"stop", "Stop it or a pool and keep it stopped: suspended until resumed", true,
			func(g string) city.Command { return city.Stop{Agent: g} }},
		{"kill", "End its session at once and let it be restarted", false,
			func(g string) city.Command { return city.Kill{Agent: g} }},
		{"suspend", "Write suspended = true into the configuration, for a pool too", true,
			func(g string) city.Command { return city.Suspend{Agent: g} }},
		{"resume", "Take suspended = true out of the configuration again, for a pool too", true,
			func(g string) city.Command { return city.Resume{Agent: g} }},
		{"drain", "Tell it to finish: it ends when it has, or at its deadline, and starts anew",
			false, func(g string) city.Command { return city.Drain{Agent: g} }},
		{"undrain", "Take a drain back: the same session goes on", false,
			func(g string) city.Command { return city.Undrain{Agent: g} }},
		{"release", "Let it out of quarantine or backoff now", false,
			func(g string) city.Command { return city.Release{Agent: g} }},
		{"clear", "Forget its kept output", false,
			func(g string) city.Command { return city.Clear{Agent: g} }},
		{"drain-ack", "From inside a session: say that it has finished", false,
			func(g string) city.Command { return city.DrainAck{Agent: g} }},
		{"request-restart", "From inside a session: ask to be restarted", false,
			func(g string) city.Command { return city.RequestRestart{Agent: g} }},
	}
}

func (a *app) agentVerb(v verb) *cobra.Command {
	kinds := []kind{kindAgent}
	c := &cobra.Command{Use: v.name + " [AGENT]", Short: v.short, Long: verbHelp(v.name),
		Args: between(0, 1)}
	if v.pools {
		kinds, c.Use = append(kinds, kindPool), v.name+" [AGENT|POOL]"
	}
	return a.forNamed(c, func(ctx context.Context, l *link, f found, _ []string) error {
		return a.do(ctx, l, v.command(f.name()))
	}, kinds...)
}

// verbHelp is what there is to say of a verb beyond its line in the list, "" if that says it all.
func verbHelp(name string) string {
	switch name {
	case "stop", "suspend", "resume":
		return `The suspended flag is written into the configuration, and nothing else of it
changes. A pool's name means the whole pool: one of its members has no flag.`
	case "drain":
		return `drain tells an agent to finish what it is doing. It hears of it by asking
"gc agent drain-check", and says that it has finished with "gc agent drain-ack";
then, or at its deadline, its session ends, and a new one begins if the agent is
wanted still. The deadline is the pool's drain_timeout, else 5 minutes.`
	case "undrain":
		return `undrain takes a drain back: the same session goes on. A member that its pool
does not want any more is not kept that way: scale the pool.`
	case "drain-ack":
		return `drain-ack is for an agent that was told to finish: it has, and may be ended.`
	}
	return ""
}

// forAgent gives a command its deed: run gets the open city, the agent's qualified name, and the other arguments.
func (a *app) forAgent(c *cobra.Command,
	run func(ctx context.Context, l *link, name string, rest []string) error) *cobra.Command {
	return a.forNamed(c, func(ctx context.Context, l *link, f found, rest []string) error {
		return run(ctx, l, f.agent.Name, rest)
	}, kindAgent)
}

// forNamed gives a command its deed: run gets the open city, what the first argument or GC_AGENT names, and the other
// arguments.
func (a *app) forNamed(c *cobra.Command,
	run func(ctx context.Context, l *link, f found, rest []string) error,
	kinds ...kind) *cobra.Command {
	c.ValidArgsFunction = a.complete(kinds...)
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
		f, err := l.resolve(cmd.Context(), name, kinds...)
		if err != nil {
			return err
		}
		return run(cmd.Context(), l, f, args[min(1, len(args)):])
	}
	return c
}

func (a *app) agentList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "All agents, those in need of a person first", Args: exactly(0),
		Aliases: []string{"ls"},
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
			if a.JSON {
				return a.WriteJSON(output.ListOf(output.ShapesOf(s.Agents)))
			}
			return a.writeAgents(a.Out, s.Agents)
		},
	}
}

func (a *app) agentShow() *cobra.Command {
	secrets := false
	c := a.forAgent(&cobra.Command{Use: "show [AGENT]", Short: "Everything known about it",
		Args: between(0, 1)},
		func(ctx context.Context, l *link, name string, _ []string) error {
			if err := a.mayReveal(secrets); err != nil {
				return err
			}
			return a.agentShown(ctx, l, name, secrets)
		})
	c.Flags().BoolVar(&secrets, "show-secrets", false, revealHelp)
	return c
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
	c := a.forAgent(&cobra.Command{Use: "peek [AGENT]", Short: "Its screen, or its last lines",
		Args: between(0, 1)},
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
	if a.JSON {
		return a.WriteJSON(outputShape{Agent: name, Format: "text",
			Turns: []turn{{Role: "output", Text: text}}})
	}
	if text = strings.TrimRight(output.SafeText(text), "\n"); text != "" {
		a.Sayf("%s", text)
	}
	return nil
}

func (a *app) agentLogs() *cobra.Command {
	var (
		lines       int
		follow, raw bool
	)
	c := a.forAgent(&cobra.Command{Use: "logs [AGENT]",
		Short: "Its kept output as lines, and what comes", Args: between(0, 1)},
		func(ctx context.Context, l *link, name string, _ []string) error {
			switch {
			case raw && a.OutTTY:
				return exit.Usage("--raw would let the agent's bytes act on this terminal: send it into a file or a pipe, or use agent attach")
			case raw || follow:
				return a.followOutput(ctx, l, name,
					followed{lines: lines, follow: follow, raw: raw})
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
			if _, err := a.Out.Write(frame.Data); err != nil {
				return err
			}
			if !f.follow {
				return nil
			}
		case frame.Reset: // the history, which was written already, or a reader that was too slow
			if seen {
				a.Sayf("… some output was missed")
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
		line = output.SafeLine(ansi.Strip(line[strings.LastIndexByte(line, '\r')+1:]))
		if a.JSON {
			_ = a.WriteJSONLine(outputShape{Agent: name, Format: "text",
				Turns: []turn{{Role: "output", Text: line}}})
			continue
		}
		a.Sayf("%s", line)
	}
}
