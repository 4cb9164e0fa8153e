package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/internal/disk"
	"gcity/mail"
	"gcity/session"
)

func (a *app) handoffCommand() *cobra.Command {
	var (
		f    draftFlags
		auto bool
	)
	c := a.withMail(&cobra.Command{
		Use: "handoff [SUBJECT] [MESSAGE]", Short: "From inside a session: write to whoever comes after, and be restarted", Args: between(0, 2),
		Long: `handoff sends the agent a message of its own, and asks for a restart: the fresh
session finds the message as its mail, and gc prime tells it. Wisps of the agent all
of whose steps are closed are squashed: what was done is kept in a closed bead of the
type digest, and the wisp is closed, to be removed in its time. One with open steps
stays open and the agent's, and the message says how far it has come. With --auto it
only sends the message, for hooks of programs that make room for themselves. Where no
controller runs nobody restarts the agent: all else is done, and the exit code is 3.`,
		Example: `  gc handoff 'parser half done' 'gc-41: lexer works, see NOTES.md; next: errors'`,
	}, true, func(ctx context.Context, l *link, args []string) error {
		me := a.Getenv("GC_AGENT")
		if me == "" {
			return exit.Usage("whose work is to be handed on? Run this inside a session, where GC_AGENT says it")
		}
		if len(args) == 1 && f.subject == "" {
			f.subject, args = args[0], nil
		}
		if err := f.fill(a, args); err != nil {
			return err
		}
		var over []city.Wisp
		text := f.text
		if !auto {
			over, text = a.handed(ctx, l, me, text)
		}
		r, err := city.SendMail(ctx, l, mail.Message{ // first: whatever ends this, the words are kept
			From: me, To: me, Subject: cmp.Or(f.subject, "handed on"), Text: text, Depth: a.depth(),
		})
		if err != nil {
			return err
		}
		if !auto {
			said, failed := squash(ctx, l, me, over, cmp.Or(f.text, f.subject))
			_, _ = io.WriteString(a.Err, failed)
			r.Message += said
			again, err := l.Do(ctx, city.RequestRestart{Agent: me})
			if err != nil {
				code, why := exit.Verdict(err)
				return &exit.Failure{Code: code, Err: fmt.Errorf("%s is sent, but nobody restarts %s: %s", r.Bead.ID, me, why)}
			}
			r.Message += "; " + again.Message
		}
		return a.receipt(r)
	})
	c.Flags().StringVarP(&f.subject, "subject", "s", "", "one line for lists")
	c.Flags().StringVarP(&f.text, "message", "m", "", "the text; - is standard input")
	c.Flags().BoolVar(&auto, "auto", false, "without a restart")
	return c
}

// heartbeat is what an agent leaves to be found alive: .gc/heartbeats/<agent>.json.
type heartbeat struct {
	Agent     string    `json:"agent"`
	Timestamp time.Time `json:"timestamp"`
	Session   string    `json:"session_id,omitempty"`
	Cycle     int       `json:"cycle,omitempty"`
	Last      string    `json:"last_action,omitempty"`
	Healthy   *int      `json:"healthy_agents,omitempty"`
	Unhealthy *int      `json:"unhealthy_agents,omitempty"`
	Message   string    `json:"message,omitempty"`
}

// heartbeatFile is where an agent's is.
func heartbeatFile(city, agent string) string {
	return filepath.Join(gcDir(city), "heartbeats", session.Encode(agent)+".json")
}

func (a *app) heartbeatCommand() *cobra.Command {
	var (
		message, last string
		cycle         int
		healthy, ill  int
	)
	c := &cobra.Command{
		Use: "heartbeat [AGENT]", Short: "From inside a session: say that the agent is at work", Args: between(0, 1),
		Long: `heartbeat writes the time into .gc/heartbeats/AGENT.json, where whoever watches the
agent looks. It needs no controller, asks for nothing, and may be called often. In
the file's name "/" is "_s", "." is "_d" and "_" is "__".`,
		Example:           "  gc heartbeat --cycle 42 --last-action health-scan --healthy-agents 3 --unhealthy-agents 0",
		ValidArgsFunction: a.complete(kindAgent),
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.readOnly {
				return refusedReadOnly("heartbeat")
			}
			if cycle < 0 {
				return exit.Usage("--cycle counts from 0: %d is none", cycle)
			}
			if healthy < 0 || ill < 0 {
				return exit.Usage("--healthy-agents and --unhealthy-agents must be 0 or more")
			}
			dir, err := a.cityDir()
			if err != nil {
				return err
			}
			name, err := a.self(args)
			if err != nil {
				return err
			}
			if len(args) > 0 { // an agent knows its own name
				if name, err = a.named(cmd.Context(), name); err != nil {
					return err
				}
			}
			b := heartbeat{Agent: name, Timestamp: a.Now().UTC(), Cycle: cycle, Last: output.SafeLine(last), Message: output.SafeLine(message)}
			if name == a.Getenv("GC_AGENT") {
				b.Session = a.Getenv("GC_SESSION_ID")
			}
			if cmd.Flags().Changed("healthy-agents") {
				b.Healthy = &healthy
			}
			if cmd.Flags().Changed("unhealthy-agents") {
				b.Unhealthy = &ill
			}
			return a.beat(dir, b)
		},
	}
	c.Flags().StringVarP(&message, "message", "m", "", "what it is doing")
	c.Flags().IntVar(&cycle, "cycle", 0, "which round of its patrol this is")
	c.Flags().StringVar(&last, "last-action", "", "what it did last")
	c.Flags().IntVar(&healthy, "healthy-agents", 0, "number of agents that it found healthy")
	c.Flags().IntVar(&ill, "unhealthy-agents", 0, "number of agents that it found unhealthy")
	return c
}

// named is the qualified name of an agent.
func (a *app) named(ctx context.Context, name string) (string, error) {
	l, err := a.open(ctx)
	if err != nil {
		return "", err
	}
	defer l.close()
	_, g, err := l.find(ctx, name)
	if err != nil {
		return "", err
	}
	return g.Name, nil
}

// beat writes a heartbeat in one step.
func (a *app) beat(dir string, b heartbeat) error {
	data, err := json.Marshal(b)
	if err != nil {
		return err
	}
	file := heartbeatFile(dir, b.Agent)
	for _, folder := range []string{gcDir(dir), filepath.Dir(file)} {
		if err := disk.MakePrivate(folder); err != nil {
			return fmt.Errorf("the heartbeat of %s cannot be written: %w", b.Agent, err)
		}
	}
	if err := disk.Replace(file, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("the heartbeat of %s cannot be written: %w", b.Agent, err)
	}
	if a.JSON {
		return a.WriteJSON(b)
	}
	return nil
}
