package work

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gcity/beads"
	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/internal/disk"
	"gcity/internal/suggest"
	"gcity/mail"
	"gcity/session"
)

// HandoffCommand returns the handoff command.
func HandoffCommand(e *env.Env) *cobra.Command {
	var (
		f    draftFlags
		auto bool
	)
	c := withMail(e, &cobra.Command{
		Use:   "handoff [SUBJECT] [MESSAGE]",
		Short: "In a session: leave a message for the next session, and restart",
		Long: `handoff sends a message from the agent to itself, and requests a restart. The new
session finds the message in its mail, and gc prime prints it. If all steps of one of
the agent's wisps are closed, handoff squashes the wisp: it closes the wisp and records
the result in a closed bead of type digest. A wisp with open steps stays open and
assigned to the agent, and the message lists the wisp's progress. With --auto it only
sends the message, for hooks in programs that compact their own context; the message may
then be empty. A single argument that has several lines or over 500 bytes is the
message. Without a controller it does everything except the restart and exits with 3.`,
		Example: `  gc handoff 'parser half done' 'gc-41: lexer works, see NOTES.md; next: errors'`,
	}, true, func(ctx context.Context, l *env.Link, args []string) error {
		me := e.Getenv("GC_AGENT")
		if len(args) == 1 && f.Subject == "" && isSubject(args[0]) {
			f.Subject, args = args[0], nil
		}
		if err := f.fill(e, args); err != nil {
			return err
		}
		if err := mayHandOff(ctx, l, me, f.Subject+f.Text, auto); err != nil {
			return err
		}
		var over []city.Wisp
		text := f.Text
		if !auto {
			over, text = finishedWisps(ctx, e, l, me, text)
		}
		// send the message first, so that it is not lost if a later step fails
		r, err := city.SendMail(ctx, l, mail.Message{
			From: me, To: me, Subject: cmp.Or(f.Subject, "handoff"), Text: text, Depth: e.Depth(),
		})
		if err != nil {
			return err
		}
		if !auto {
			said, failed := squash(ctx, l, me, over, cmp.Or(f.Text, f.Subject))
			_, _ = io.WriteString(e.Err, failed)
			r.Message += said
			again, err := l.Do(ctx, city.RequestRestart{Agent: me})
			if err != nil {
				return notRestarted(r.Bead.ID, me, err)
			}
			r.Message += "; " + again.Message
		}
		return e.Receipt(r)
	})
	flags := c.Flags()
	flags.StringVarP(&f.Subject, "subject", "s", "", "a one-line subject, shown in lists")
	flags.StringVarP(&f.Text, "message", "m", "", "the text; - is standard input")
	flags.BoolVar(&auto, "auto", false, "do not restart")
	return c
}

func notRestarted(message, agent string, err error) error {
	code, why := exit.Verdict(err)
	err = fmt.Errorf("%s was sent, but %s was not restarted: %s; `gcity agent request-restart "+
		"%s` requests the restart without another message", message, agent, why, agent)
	return &exit.Failure{Code: code, Err: err}
}

func isSubject(text string) bool {
	return len(text) <= beads.MaxTitle && !strings.Contains(strings.TrimSpace(text), "\n")
}

func mayHandOff(ctx context.Context, l *env.Link, agent, message string, auto bool) error {
	if agent == "" {
		return exit.Usage("no agent given: run this inside a session, which sets GC_AGENT")
	}
	if !auto && strings.TrimSpace(message) == "" {
		return exit.Usage("the message for the next session is empty; run `gc handoff SUBJECT " +
			"[MESSAGE]`")
	}
	_, _, err := l.Find(ctx, agent)
	return err
}

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

// HeartbeatCommand returns the heartbeat command.
func HeartbeatCommand(e *env.Env) *cobra.Command {
	var b heartbeat
	var healthy, unhealthy int
	c := &cobra.Command{
		Use: "heartbeat [AGENT]", Short: "In a session: report that the agent is working",
		Long: `heartbeat writes the current time to .gc/heartbeats/AGENT.json, which the agent's
watchdog reads. It does not need a controller, and may be called often. In the file
name "/" is written as "_s", "." as "_d" and "_" as "__".`,
		Example:           "  gc heartbeat --cycle 42 --last-action health-scan --healthy-agents 3",
		ValidArgsFunction: env.Complete(e, suggest.Agent),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := e.CityDir()
			if err != nil {
				return err
			}
			name, err := e.Self(args)
			if err != nil {
				return err
			}
			if len(args) > 0 { // GC_AGENT is always a qualified name
				if name, err = env.Named(cmd.Context(), e, name); err != nil {
					return err
				}
			}
			b.Agent, b.Timestamp = name, e.Now().UTC()
			b.Last, b.Message = output.SafeLine(b.Last), output.SafeLine(b.Message)
			if name == e.Getenv("GC_AGENT") {
				b.Session = e.Getenv("GC_SESSION_ID")
			}
			if cmd.Flags().Changed("healthy-agents") {
				b.Healthy = &healthy
			}
			if cmd.Flags().Changed("unhealthy-agents") {
				b.Unhealthy = &unhealthy
			}
			return writeHeartbeat(e, dir, b)
		},
	}
	flags := c.Flags()
	flags.StringVarP(&b.Message, "message", "m", "", "the agent's current activity")
	flags.Var(env.Number(&b.Cycle, 0), "cycle", "the number of the agent's current work cycle")
	flags.StringVar(&b.Last, "last-action", "", "the agent's last action")
	flags.Var(env.Number(&healthy, 0), "healthy-agents",
		"the number of agents that the agent found healthy")
	flags.Var(env.Number(&unhealthy, 0), "unhealthy-agents",
		"the number of agents that the agent found unhealthy")
	env.DefaultsToSelf(c)
	return env.Changes(e, c)
}

func writeHeartbeat(e *env.Env, dir string, b heartbeat) error {
	data, err := json.Marshal(b)
	if err != nil {
		return err
	}
	file := filepath.Join(folder.StateDir(dir), "heartbeats", session.Encode(b.Agent)+".json")
	for _, folder := range []string{folder.StateDir(dir), filepath.Dir(file)} {
		if err := disk.MakePrivate(folder); err != nil {
			return fmt.Errorf("cannot write the heartbeat for %s: %w", b.Agent, err)
		}
	}
	if err := disk.Replace(file, append(data, '\n'), 0o600); err != nil {
		return fmt.Errorf("cannot write the heartbeat for %s: %w", b.Agent, err)
	}
	if e.JSON {
		return e.WriteJSON(b)
	}
	return nil
}
