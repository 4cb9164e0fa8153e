package cli

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"gcity/beads"
	"gcity/city"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/mail"
)

// beadPatch is what is to change about a message.
type beadPatch = beads.Patch

func (a *app) mailInbox() *cobra.Command {
	var all bool
	c := a.withMail(&cobra.Command{
		Use: "inbox [WHO]", Short: "Unread messages, the newest first", Args: between(0, 1), Aliases: []string{"list", "ls"},
		Example: "  gc mail inbox\n  gcity mail inbox builder --all", ValidArgsFunction: a.complete(kindAgent, kindPool),
	}, false, func(ctx context.Context, l *link, args []string) error {
		who := a.mailOf(args)
		found, err := city.Mail(ctx, l, who, all)
		if err != nil {
			return err
		}
		if a.JSON {
			return a.WriteJSON(output.ListOf(found))
		}
		if len(found) == 0 {
			what := "no unread mail for "
			if all {
				what = "no mail for "
			}
			a.Sayf("%s%s", what, output.SafeLine(owner(who)))
			return nil
		}
		return a.writeMail(found)
	})
	c.Flags().BoolVarP(&all, "all", "a", false, "read ones too; archived ones are never listed")
	return c
}

func (a *app) writeMail(all []mail.Message) error {
	rows := make([][]output.Cell, 0, len(all))
	for _, m := range all {
		rows = append(rows, []output.Cell{output.Tinted(m.ID, output.Bold), mailState(m), output.Plain(m.From), output.Plain(m.To), output.Plain(a.Age(m.Sent)), output.Plain(m.Subject)})
	}
	return a.Table(a.Out, a.Columns(), []string{"ID", "STATE", "FROM", "TO", "SENT", "SUBJECT"}, rows)
}

func mailState(m mail.Message) output.Cell {
	switch {
	case m.Archived:
		return output.Tinted("archived", output.Dim)
	case m.Read:
		return output.Tinted("read", output.Dim)
	}
	return output.Tinted("unread", output.Green)
}

func (a *app) mailRead() *cobra.Command {
	return a.withMail(&cobra.Command{
		Use: "read ID", Short: "Show a message and mark it as read", Args: exactly(1),
		Long: `read shows a message, and marks it as read if it is the reader's: one of an
agent's if GC_AGENT is that agent, one of people's if there is none. A message to
a pool is taken by the member that reads it; nobody else has it then. Whoever
reads what is somebody else's leaves no trace.`,
	}, true, func(ctx context.Context, l *link, args []string) error {
		m, _, err := city.GetMail(ctx, l, args[0])
		if err != nil {
			return err
		}
		s, err := l.Snapshot(ctx)
		if err != nil {
			return err
		}
		me := a.Getenv("GC_AGENT")
		if s.MayRead(m, me) {
			if m, err = city.TakeMail(ctx, l, m.ID, me); exit.HasCode(err, city.Conflict) {
				return &city.Error{Code: city.Conflict, Message: fmt.Sprintf("another member of the pool was faster: %s is theirs", args[0])}
			}
			if err != nil {
				return err
			}
		}
		return a.tellMail(m)
	})
}

func (a *app) mailPeek() *cobra.Command {
	return a.withMail(&cobra.Command{Use: "peek ID", Short: "Show a message, and mark nothing", Args: exactly(1)}, false,
		func(ctx context.Context, l *link, args []string) error {
			m, _, err := city.GetMail(ctx, l, args[0])
			if err != nil {
				return err
			}
			return a.tellMail(m)
		})
}

// tellMail writes one message.
func (a *app) tellMail(m mail.Message) error {
	if a.JSON {
		return a.WriteJSON(m)
	}
	a.Sayf("%s %s", a.Paint(output.Bold, output.SafeLine(m.ID)), output.SafeLine(m.Subject))
	a.Fact("from", m.From)
	a.Fact("to", m.To)
	a.Fact("sent", fmt.Sprintf("%s (%s ago)", a.Clock(m.Sent), a.Age(m.Sent)))
	a.Fact("state", mailState(m).Text)
	a.Fact("answers", m.ReplyTo)
	a.Fact("thread", m.Thread)
	if m.Text != "" {
		a.Sayf("\n%s", output.SafeText(m.Text))
	}
	return nil
}

func (a *app) mailThread() *cobra.Command {
	return a.withMail(&cobra.Command{Use: "thread ID", Short: "All messages of the thread that a message is in, the oldest first", Args: exactly(1)}, false,
		func(ctx context.Context, l *link, args []string) error {
			m, _, err := city.GetMail(ctx, l, args[0])
			if err != nil {
				return err
			}
			all, err := thread(ctx, l, m)
			if err != nil {
				return err
			}
			if a.JSON {
				return a.WriteJSON(output.ListOf(all))
			}
			for i, m := range all {
				if i > 0 {
					a.Sayf("")
				}
				if err := a.tellMail(m); err != nil {
					return err
				}
			}
			return nil
		})
}

// thread is every message of the thread that one is in, the oldest first.
func thread(ctx context.Context, c city.Control, m mail.Message) ([]mail.Message, error) {
	root := m.Thread
	if root == "" {
		root = m.ID
	}
	found, err := c.Beads(ctx, mail.ThreadQuery(root))
	if err != nil {
		return nil, err
	}
	out := []mail.Message{}
	first, _, err := city.GetMail(ctx, c, root)
	switch {
	case err == nil:
		out = append(out, first)
	case !exit.IsNotFound(err): // it may have been removed
		return nil, err
	}
	for _, b := range slices.Backward(found) {
		if m, ok := mail.Of(b); ok {
			out = append(out, m)
		}
	}
	return out, nil
}
