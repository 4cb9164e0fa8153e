package work

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"gcity/beads"
	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/internal/suggest"
	"gcity/mail"
)

type beadPatch = beads.Patch

func mailInbox(e *env.Env) *cobra.Command {
	var all bool
	c := withMail(e, &cobra.Command{
		Use: "inbox [MAILBOX]", Short: "List unread messages, newest first",
		Aliases:           []string{"list", "ls"},
		Example:           "  gc mail inbox\n  gcity mail inbox builder --all",
		ValidArgsFunction: env.Complete(e, suggest.Agent, suggest.Pool),
	}, false, func(ctx context.Context, l *env.Link, args []string) error {
		who := mailOf(e, args)
		found, err := city.Mail(ctx, l, who, all)
		if err != nil {
			return err
		}
		if e.JSON {
			return e.WriteJSON(output.ListOf(found))
		}
		if len(found) == 0 {
			what := "no unread mail for "
			if all {
				what = "no mail for "
			}
			e.Sayf("%s%s", what, output.SafeLine(owner(who)))
			return nil
		}
		return writeMail(e, found)
	})
	c.Flags().BoolVarP(&all, "all", "a", false, "also list read messages; archived messages "+
		"are never listed")
	return c
}

func writeMail(e *env.Env, all []mail.Message) error {
	table := output.NewTable("ID", "STATE", "FROM", "TO", "SENT", "SUBJECT")
	for _, m := range all {
		table.Add(output.Tinted(m.ID, output.Bold), mailState(m), m.From, m.To, e.Age(m.Sent),
			m.Subject)
	}
	return e.Table(table)
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

func mailRead(e *env.Env) *cobra.Command {
	return withMail(e, &cobra.Command{
		Use: "read ID", Short: "Show a message and mark it as read",
		Long: `read prints a message. If the message is in the reader's own mailbox, read marks it
as read. The reader is the agent in GC_AGENT. Outside a session, the reader's mailbox
is the one that all users share. If a pool member reads a message to its pool, replies
to it or archives it, the message belongs to that member: the other members no longer
see it, and these commands exit with 4 for them. Messages in other mailboxes are not
marked.`,
	}, true, func(ctx context.Context, l *env.Link, args []string) error {
		m, _, err := city.GetMail(ctx, l, args[0])
		if err != nil {
			return err
		}
		s, err := l.Snapshot(ctx)
		if err != nil {
			return err
		}
		if me := e.Getenv("GC_AGENT"); s.MayRead(m, me) || s.InPoolMail(m, me) {
			if m, err = city.TakeMail(ctx, l, m.ID, me); err != nil {
				return err
			}
		}
		return printMail(e, m)
	})
}

func mailPeek(e *env.Env) *cobra.Command {
	return withMail(e, &cobra.Command{Use: "peek ID", Short: "Show a message without " +
		"marking it as read"}, false,
		func(ctx context.Context, l *env.Link, args []string) error {
			m, _, err := city.GetMail(ctx, l, args[0])
			if err != nil {
				return err
			}
			return printMail(e, m)
		})
}

func printMail(e *env.Env, m mail.Message) error {
	if e.JSON {
		return e.WriteJSON(m)
	}
	e.Sayf("%s %s", e.Bold(m.ID), output.SafeLine(m.Subject))
	e.Fact("from", m.From)
	e.Fact("to", m.To)
	e.Fact("sent", fmt.Sprintf("%s (%s ago)", e.Clock(m.Sent), e.Age(m.Sent)))
	e.Fact("state", mailState(m).Text)
	e.Fact("reply to", m.ReplyTo)
	e.Fact("thread", m.Thread)
	if m.Text != "" {
		e.Sayf("\n%s", output.SafeText(m.Text))
	}
	return nil
}

func mailThread(e *env.Env) *cobra.Command {
	return withMail(e, &cobra.Command{Use: "thread ID",
		Short: "Show all messages in a message's thread, oldest first"}, false,
		func(ctx context.Context, l *env.Link, args []string) error {
			m, _, err := city.GetMail(ctx, l, args[0])
			if err != nil {
				return err
			}
			all, err := thread(ctx, l, m)
			if err != nil {
				return err
			}
			if e.JSON {
				return e.WriteJSON(output.ListOf(all))
			}
			for i, m := range all {
				if i > 0 {
					e.Sayf("")
				}
				if err := printMail(e, m); err != nil {
					return err
				}
			}
			return nil
		})
}

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
	case !exit.IsNotFound(err):
		return nil, err
	}
	for _, b := range slices.Backward(found) {
		if m, ok := mail.FromBead(b); ok {
			out = append(out, m)
		}
	}
	return out, nil
}
