package agents

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/describe"
)

func agentNudge(e *env.Env) *cobra.Command {
	var now, wait bool
	c := &cobra.Command{
		Use: "nudge AGENT TEXT…", Short: "Type a text into its terminal and submit it",
		Long: `nudge types a text into the terminal of an agent and submits it. The text waits
while the agent is not ready, and while somebody's draft is on its line or
somebody types there; nudge says after two seconds that it does. A draft that
stays for ten minutes has the text given up, which the events tell. The text -
is what comes from standard input.`,
		Example: `  gcity agent nudge worker 'run the tests' --wait
  git diff | gcity agent nudge worker -`,
		Args: env.Between(2, 1<<20),
	}
	c.Flags().BoolVar(&now, "now", false,
		"whatever is on its line: a draft is submitted with the text")
	c.Flags().BoolVar(&wait, "wait", false, "until it was typed, or given up")
	return forNamed(e, c, func(ctx context.Context, l *env.Link, f env.Found, args []string) error {
		text, err := words(e, args)
		if err != nil {
			return err
		}
		g := f.Agent
		if !g.Running && (!l.Live || slices.Contains([]city.State{city.Suspended, city.Exited,
			city.Failed, city.Quarantined}, g.State)) {
			return &city.Error{Code: city.Conflict,
				Message: fmt.Sprintf("agent %q has no terminal to type into: it is %s (%s)", g.Name,
					g.State, g.Reason)}
		}
		return nudge(ctx, e, l, city.Nudge{Agent: g.Name, Text: text, Now: now}, wait)
	}, env.KindAgent)
}

// words is the text that arguments say; "-" is what comes from standard input, without its last line end.
func words(e *env.Env, args []string) (string, error) {
	if len(args) != 1 || args[0] != "-" {
		return strings.Join(args, " "), nil
	}
	data, err := io.ReadAll(io.LimitReader(e.In, city.MaxSend+2))
	if err != nil {
		return "", fmt.Errorf("the text cannot be read: %w", err)
	}
	text := strings.TrimSuffix(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
	switch {
	case text == "":
		return "", exit.Usage("there is no text on standard input")
	case len(text) > city.MaxSend:
		return "", exit.Usage("the text is over %d bytes, which is too long to be typed: put it "+
			"in a file and send the file's name", city.MaxSend)
	}
	return text, nil
}

// sendWait is how long a text is waited for: a little longer than a controller keeps one.
const sendWait = 65 * time.Minute

func nudge(ctx context.Context, e *env.Env, l *env.Link, c city.Nudge, wait bool) error {
	ctx, cancel := context.WithTimeout(ctx, sendWait)
	defer cancel()
	r, err := l.Do(ctx, c)
	if err != nil {
		return err
	}
	if wait && r.Send != nil && !r.Send.Stage.Over() {
		if !e.JSON {
			fmt.Fprintln(e.Err, output.SafeLine(r.Message))
		}
		if r, err = sent(ctx, l, c.Agent, r.Send.ID); err != nil {
			return err
		}
	}
	return e.Receipt(r)
}

// sent waits for the end of a text.
func sent(ctx context.Context, l *env.Link, agent string, id uint64) (city.Receipt, error) {
	for s, err := range l.Snapshots(ctx) {
		if err != nil {
			return city.Receipt{}, err
		}
		g, ok := s.Agent(agent)
		if !ok {
			return city.Receipt{}, &city.Error{Code: city.Conflict,
				Message: fmt.Sprintf("agent %q is gone, and with it the text: `gcity events` tells",
					agent)}
		}
		i := slices.IndexFunc(g.Sends, func(d city.Send) bool { return d.ID == id })
		switch {
		case i < 0:
			return city.Receipt{}, &city.Error{Code: city.Unavailable,
				Message: fmt.Sprintf("nothing is known any more of text %d for agent %q: `gcity "+
					"events` tells", id, agent)}
		case g.Sends[i].Stage == city.GivenUp:
			return city.Receipt{}, &city.Error{Code: city.Conflict,
				Message: fmt.Sprintf("the text for agent %q was given up: %s", agent,
					g.Sends[i].Why)}
		case g.Sends[i].Stage.Over():
			return city.Receipt{Message: "agent " + agent + " accepted the text",
					Send: &g.Sends[i]},
				nil
		}
	}
	return city.Receipt{}, &city.Error{Code: city.Unavailable,
		Message: fmt.Sprintf("the text for agent %q was not typed while it was waited for; "+
			"`gcity agent show %s` says where it is", agent, agent)}
}

func agentUnsend(e *env.Env) *cobra.Command {
	c := &cobra.Command{
		Use: "unsend AGENT [ID]", Short: "Take back texts that wait to be typed: one, or all",
		Long: "unsend takes back a text that nudge has queued, by the number that nudge and " +
			"agent show give, or all that wait for an agent.",
		Args: env.Between(1, 2),
	}
	return forNamed(e, c, func(ctx context.Context, l *env.Link, f env.Found, rest []string) error {
		what := city.Unsend{Agent: f.Agent.Name}
		if len(rest) > 0 {
			id, err := strconv.ParseUint(rest[0], 10, 64)
			if err != nil || id == 0 {
				return exit.Usage("%q is no number of a text: `gcity agent show %s` lists them",
					rest[0], f.Agent.Name)
			}
			what.ID = id
		}
		return e.Do(ctx, l, what)
	}, env.KindAgent)
}

// sendText is where a text is, as a fact.
func sendText(e *env.Env, d *city.Send) string {
	size := describe.Count(d.Lines, "line")
	if d.Lines == 1 {
		size = describe.Count(d.Bytes, "byte")
	}
	line := fmt.Sprintf("%s since %s, %s: %s", d.Stage, e.Clock(d.Since), size, d.Text)
	if d.Why != "" {
		line += " (" + d.Why + ")"
	}
	return line
}
