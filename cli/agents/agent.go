package agents

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"

	"gcity/api/gascity"
	"gcity/city"
	"gcity/city/verb"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/internal/screen"
	"gcity/internal/suggest"
)

// AgentCommand returns the agent command.
func AgentCommand(e *env.Env) *cobra.Command {
	below := []*cobra.Command{
		agentList(e), agentShow(e), agentPeek(e), agentLogs(e), agentAttach(e), agentNudge(e),
		agentUnsend(e), agentKeys(e),
	}
	for _, v := range verb.All() {
		if v.Name == (city.DrainAck{}).Verb() {
			below = append(below, agentDrainCheck(e))
		}
		if v.Noun == verb.Agent && v.Shell.Short != "" {
			c := agentVerb(e, v)
			if v.Name == "kill" {
				withSignal(e, c)
			}
			below = append(below, c)
		}
	}
	return env.Group("agent", "Show agents, send text to them, stop and restart them", below...)
}

// sayWaiting shows an agent's state while a command takes long.
func sayWaiting(ctx context.Context, e *env.Env, l *env.Link, f env.Found) (done func()) {
	if f.Agent == nil || !l.Live {
		return func() {}
	}
	return env.SayProgress(ctx, e, l.Control, func(s *city.Snapshot) string {
		a, found := s.Agent(f.Agent.Name)
		if !found {
			return ""
		}
		return fmt.Sprintf("waiting: agent %s %s (%s)", a.Name, a.State.Is(), a.Reason)
	})
}

func agentVerb(e *env.Env, v verb.Verb) *cobra.Command {
	kinds := []suggest.Kind{suggest.Agent}
	c := &cobra.Command{Use: v.Name + " [AGENT]", Short: v.Shell.Short, Long: v.Shell.Long}
	if v.Shell.Pools {
		kinds, c.Use = append(kinds, suggest.Pool), v.Name+" [AGENT|POOL]"
	}
	forNamed(e, c, func(ctx context.Context, l *env.Link, f env.Found, _ []string) error {
		c, err := v.Command(f.Name())
		if err != nil {
			return err
		}
		defer sayWaiting(ctx, e, l, f)()
		return e.Do(ctx, l, c)
	}, kinds...)
	run := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		err := run(cmd, args)
		if p, ok := errors.AsType[*env.PoolError](err); ok && v.Shell.ForPool != "" {
			p.Instead = fmt.Sprintf(v.Shell.ForPool, p.Pool)
		}
		return err
	}
	return c
}

func forAgent(e *env.Env, c *cobra.Command,
	run func(ctx context.Context, l *env.Link, name string, rest []string) error) *cobra.Command {
	return forNamed(e, c, func(ctx context.Context, l *env.Link, f env.Found, rest []string) error {
		return run(ctx, l, f.Agent.Name, rest)
	}, suggest.Agent)
}

func forNamed(e *env.Env, c *cobra.Command,
	run func(ctx context.Context, l *env.Link, f env.Found, rest []string) error,
	kinds ...suggest.Kind) *cobra.Command {
	env.DefaultsToSelf(c)
	c.ValidArgsFunction = env.Complete(e, kinds...)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		name, err := e.Self(args)
		if err != nil {
			return err
		}
		return withNamed(cmd.Context(), e, name, func(l *env.Link, f env.Found) error {
			return run(cmd.Context(), l, f, args[min(1, len(args)):])
		}, kinds...)
	}
	return c
}

// withNamed opens the city and finds the object with the given name.
func withNamed(ctx context.Context, e *env.Env, name string,
	run func(l *env.Link, f env.Found) error, kinds ...suggest.Kind) error {
	l, f, err := e.OpenNamed(ctx, name, kinds...)
	if err != nil {
		return err
	}
	defer l.Close()
	return run(l, f)
}

// forObject is like forNamed, but requires a name.
func forObject(e *env.Env, c *cobra.Command, kind suggest.Kind,
	run func(ctx context.Context, l *env.Link, f env.Found, rest []string) error) *cobra.Command {
	c.ValidArgsFunction = env.Complete(e, kind)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		return withNamed(cmd.Context(), e, args[0], func(l *env.Link, f env.Found) error {
			return run(cmd.Context(), l, f, args[1:])
		}, kind)
	}
	return c
}

// listCommand returns a command that lists objects of the city.
func listCommand(e *env.Env, short string,
	run func(l *env.Link, s *city.Snapshot) error) *cobra.Command {
	return &cobra.Command{Use: "list", Short: short, Aliases: []string{"ls"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withSnapshot(cmd.Context(), e, run)
		}}
}

func withSnapshot(ctx context.Context, e *env.Env,
	run func(l *env.Link, s *city.Snapshot) error) error {
	l, s, err := e.OpenSnapshot(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	return run(l, s)
}

func agentList(e *env.Env) *cobra.Command {
	return listCommand(e, "List all agents, those that need attention first",
		func(_ *env.Link, s *city.Snapshot) error {
			if e.JSON {
				return e.WriteJSON(output.ListOf(output.ShapesOf(s.Agents)))
			}
			return WriteAgents(e, e.Out, s.Agents)
		})
}

func agentShow(e *env.Env) *cobra.Command {
	secrets, pid := false, false
	c := forAgent(e, &cobra.Command{Use: "show [AGENT]", Short: "Show all details of an agent"},
		func(ctx context.Context, l *env.Link, name string, _ []string) error {
			if err := env.MayReveal(e, secrets); err != nil {
				return err
			}
			if pid {
				return agentPID(ctx, e, l, name)
			}
			return agentShown(ctx, e, l, name, secrets)
		})
	c.Flags().BoolVar(&secrets, "show-secrets", false, env.RevealHelp)
	c.Flags().BoolVar(&pid, "pid", false, "print only the agent's process ID")
	return c
}

func agentPeek(e *env.Env) *cobra.Command {
	var lines int
	c := &cobra.Command{Use: "peek [AGENT]", Short: "Show an agent's screen, or its last lines"}
	env.DefaultsToSelf(c)
	c.ValidArgsFunction = env.Complete(e, suggest.Agent)
	c.RunE = func(cmd *cobra.Command, args []string) error {
		name, err := e.Self(args)
		if err != nil {
			return err
		}
		l, err := e.Open(cmd.Context())
		if err != nil {
			return err
		}
		defer l.Close()
		return peek(cmd.Context(), e, l, name, lines)
	}
	c.Flags().VarP(env.Number(&lines, 1), "lines", "n",
		"show the last N lines instead of the screen")
	return c
}

func peek(ctx context.Context, e *env.Env, l *env.Link, name string, lines int) error {
	err := writeOutput(ctx, e, l, followed{agent: name, lines: lines})
	if !city.HasCode(err, city.NotFound) {
		return err
	}
	f, err := l.Resolve(ctx, name, suggest.Agent)
	if err != nil {
		return err
	}
	return writeOutput(ctx, e, l, followed{agent: f.Agent.Name, lines: lines})
}

func writeOutput(ctx context.Context, e *env.Env, l *env.Link, f followed) error {
	text, err := l.Output(ctx, f.agent, f.lines)
	if err != nil {
		return err
	}
	return printOutput(ctx, e, l, text, f)
}

func printOutput(ctx context.Context, e *env.Env, l *env.Link, text string, f followed) error {
	switch shape := gascity.OutputOf(f.agent, text); {
	case e.JSON && f.follow:
		return e.WriteJSONLine(shape)
	case e.JSON:
		return e.WriteJSON(shape)
	}
	if text = strings.TrimRight(output.SafeText(text), "\n"); text != "" {
		e.Sayf("%s", text)
	} else {
		sayNoOutput(ctx, e, l, f.agent)
	}
	return nil
}

func sayNoOutput(ctx context.Context, e *env.Env, l *env.Link, name string) {
	_, g, err := l.Find(ctx, name)
	switch {
	case err != nil: // the output was read, so the command has succeeded
	case g.Running:
		e.Warn(fmt.Sprintf("agent %s has printed nothing yet", name))
	default:
		e.Warn(fmt.Sprintf("agent %s has no output: its state is %s (%s), and gcity stores the "+
			"output of an ended session only if it crashed", name, g.State, g.Reason))
	}
}

func agentLogs(e *env.Env) *cobra.Command {
	var (
		lines       = 200
		follow, raw bool
	)
	c := forAgent(e, &cobra.Command{Use: "logs [AGENT]",
		Short: "Print an agent's recent output as lines, or follow it"},
		func(ctx context.Context, l *env.Link, name string, _ []string) error {
			switch {
			case raw && e.OutTTY:
				return exit.Usage("--raw prints the agent's control sequences, which could " +
					"affect this terminal; redirect the output to a file or a pipe, or use " +
					"`gcity agent attach`")
			case raw || follow:
				return followOutput(ctx, e, l,
					followed{agent: name, lines: lines, follow: follow, raw: raw})
			default:
				return writeOutput(ctx, e, l, followed{agent: name, lines: lines})
			}
		})
	flags := c.Flags()
	flags.VarP(env.Number(&lines, 1), "lines", "n", "print at most this many lines of the "+
		"stored output")
	flags.BoolVarP(&follow, "follow", "f", false, "print new output as it arrives, until "+
		"interrupted")
	flags.BoolVar(&raw, "raw", false,
		"print the stored bytes unchanged and ignore --lines; works only if the output is a file "+
			"or a pipe")
	return c
}

type followed struct {
	agent       string
	lines       int
	follow, raw bool
	cols, rows  int      // of the agent's terminal
	known       []string // the newest finished lines, at most knownLines
}

func followOutput(ctx context.Context, e *env.Env, l *env.Link, f followed) error {
	ctx, quiet := env.Interruptible(ctx)
	defer quiet()
	if !f.follow {
		return followRaw(ctx, e, l, f)
	}
	w := &outputFollower{followed: f, e: e}
	return e.Follow(ctx, l, w.follow)
}

func followRaw(ctx context.Context, e *env.Env, l *env.Link, f followed) error {
	for frame, err := range l.Watch(ctx, f.agent) {
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if _, err := e.Out.Write(frame.Data); err != nil || !f.follow {
			return err
		}
	}
	return nil
}

// storedLines returns the finished lines of an agent's output, and the line that the next frame continues. The frame
// contains what the agent has printed since before. With a provider that polls, it contains only the screen.
func (f *followed) storedLines(before string, frame city.Frame) (text, pending string) {
	text = screen.Text(frame.Data, frame.Cols, frame.Rows, f.lines)
	if strings.Count(text, "\n") < strings.Count(before, "\n") {
		return before, ""
	}
	data := string(frame.Data)
	pending = data[strings.LastIndexByte(data, '\n')+1:]
	start := strings.LastIndexByte(text, '\n') + 1
	if strings.TrimRight(f.plain(pending), " ") != output.SafeLine(text[start:]) {
		return text, "" // a program that draws the whole screen
	}
	return text[:start], pending
}

func (f *followed) writeLines(e *env.Env, text string) (rest string) {
	for {
		line, after, ok := strings.Cut(text, "\n")
		if !ok {
			return text[max(0, len(text)-64<<10):]
		}
		text = after
		line = f.plain(line)
		f.learn(line)
		if e.JSON {
			_ = e.WriteJSONLine(gascity.OutputOf(f.agent, line)) // see OutputError
			continue
		}
		e.Sayf("%s", line)
	}
}

func (f *followed) plain(line string) string {
	line = strings.TrimRight(line, "\r")
	if strings.Contains(line, "\b") && f.cols > 0 { // the program has overwritten characters
		most := f.rows + len(line)/f.cols // also rows that have scrolled off the screen
		rows := strings.Split(screen.Text([]byte(line), f.cols, f.rows, most), "\n")
		for i := range rows[:len(rows)-1] { // a longer line continues in the next row
			rows[i] += strings.Repeat(" ", max(0, f.cols-ansi.StringWidth(rows[i])))
		}
		return output.SafeLine(strings.Join(rows, ""))
	}
	return output.SafeLine(ansi.Strip(line[strings.LastIndexByte(line, '\r')+1:]))
}
