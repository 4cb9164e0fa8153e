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
	"gcity/describe"
	"gcity/internal/suggest"
)

func agentNudge(e *env.Env) *cobra.Command {
	var now, wait bool
	c := &cobra.Command{
		Use: "nudge AGENT TEXT…", Short: "Type text into an agent's terminal and submit it",
		Long: `nudge types text into an agent's terminal and submits it. The text is queued
while the agent is not ready, while there is a draft on its input line, and while a
user is typing there. If it is still queued after two seconds, nudge prints the reason
and exits, or with --wait waits longer. If a draft stays on the input line for ten
minutes, the text is dropped and an event records that. To read the text from standard
input, use - as the text.`,
		Example: `  gcity agent nudge worker 'run the tests' --wait
  git diff | gcity agent nudge worker -`,
	}
	c.Flags().BoolVar(&now, "now", false,
		"ignore a draft on the agent's input line: the draft is submitted with the text")
	c.Flags().BoolVar(&wait, "wait", false, "wait until the nudge is typed or dropped")
	return forNamed(e, c, func(ctx context.Context, l *env.Link, f env.Found, args []string) error {
		text, err := words(e, args)
		switch {
		case err != nil:
			return err
		case text == "":
			return exit.Usage("the text is empty: gcity agent nudge AGENT TEXT…")
		}
		g := f.Agent
		if !g.Running && l.Live && slices.Contains([]city.State{city.Suspended, city.Exited,
			city.Failed, city.Quarantined}, g.State) {
			return city.Errorf(city.Conflict, "agent %q has no session: its state is %s (%s)",
				g.Name, g.State, g.Reason)
		}
		return nudge(ctx, e, l, city.Nudge{Agent: g.Name, Text: text, Now: now,
			Depth: e.Depth()}, wait)
	}, suggest.Agent)
}

func words(e *env.Env, args []string) (string, error) {
	if len(args) != 1 || args[0] != "-" {
		return strings.Join(args, " "), nil
	}
	data, err := io.ReadAll(io.LimitReader(e.In, city.MaxSend+2))
	if err != nil {
		return "", fmt.Errorf("cannot read the text: %w", err)
	}
	text := strings.TrimSuffix(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n")
	switch {
	case text == "":
		return "", exit.Usage("standard input is empty; pipe the text into this command")
	case len(text) > city.MaxSend:
		return "", exit.Usage("the text is longer than %d bytes and cannot be typed; write it to "+
			"a file and send the file's name", city.MaxSend)
	}
	return text, nil
}

// sendWait is longer than the controller keeps text queued.
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
			e.Note(r.Message)
		}
		if r, err = sent(ctx, l, c.Agent, r.Send.ID); err != nil {
			return err
		}
	}
	return e.Receipt(r)
}

func sent(ctx context.Context, l *env.Link, agent string, id uint64) (city.Receipt, error) {
	for s, err := range l.Snapshots(ctx) {
		if err != nil {
			return city.Receipt{}, err
		}
		g, ok := s.Agent(agent)
		if !ok {
			return city.Receipt{}, city.Errorf(city.Conflict, "agent %q no longer exists, so the "+
				"nudge was dropped; see `gcity events`", agent)
		}
		i := slices.IndexFunc(g.Sends, func(d city.Send) bool { return d.ID == id })
		switch {
		case i < 0:
			return city.Receipt{}, city.Errorf(city.Unavailable, "the controller no longer has "+
				"nudge %d for agent %q; see `gcity events`", id, agent)
		case g.Sends[i].Stage == city.GivenUp:
			return city.Receipt{}, city.Errorf(city.Conflict, "the nudge for agent %q was "+
				"dropped: %s", agent, g.Sends[i].Why)
		case g.Sends[i].Stage.Over():
			return city.Receipt{Message: "agent " + agent + " accepted the nudge",
					Send: &g.Sends[i]},
				nil
		}
	}
	return city.Receipt{}, city.Errorf(city.Unavailable, "the nudge for agent %q has not been "+
		"typed yet; `gcity agent show %s` shows its state", agent, agent)
}

func agentUnsend(e *env.Env) *cobra.Command {
	c := &cobra.Command{
		Use: "unsend AGENT [ID]", Short: "Cancel the nudges that are queued for an agent",
		Long: "unsend cancels queued nudges. \"agent nudge\" and \"agent show\" print the ID\n" +
			"of each queued nudge. Without an ID, unsend cancels everything that is queued for " +
			"the agent.",
	}
	return forNamed(e, c, func(ctx context.Context, l *env.Link, f env.Found, rest []string) error {
		what := city.Unsend{Agent: f.Agent.Name}
		if len(rest) > 0 {
			id, err := strconv.ParseUint(rest[0], 10, 64)
			if err != nil || id == 0 {
				return exit.Usage("invalid ID %q: use the number of a queued nudge, as listed by "+
					"`gcity agent show %s`", rest[0], f.Agent.Name)
			}
			what.ID = id
		}
		return e.Do(ctx, l, what)
	}, suggest.Agent)
}

func sendText(e *env.Env, d *city.Send) string {
	size := describe.Count(d.Lines, "line")
	if d.Lines == 1 {
		size = describe.Count(d.Bytes, "byte")
	}
	how := string(d.Stage) + " since "
	switch d.Stage {
	case city.Submitted, city.Acknowledged:
		how = "typed at "
	case city.GivenUp:
		how = "dropped at "
	}
	line := fmt.Sprintf("%s%s: %s (%s)", how, e.Clock(d.Since), d.Text, size)
	if d.Stage == city.Acknowledged {
		line += "; " + city.OutputSince
	}
	if d.Why != "" {
		line += "; " + d.Why
	}
	return line
}
