package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"gcity/beads"
	"gcity/city"
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
		if a.json {
			return a.writeJSON(listOf(found))
		}
		if len(found) == 0 {
			what := "no unread mail for "
			if all {
				what = "no mail for "
			}
			a.sayf("%s%s", what, safeLine(owner(who)))
			return nil
		}
		return a.writeMail(found)
	})
	c.Flags().BoolVarP(&all, "all", "a", false, "read ones too; archived ones are never listed")
	return c
}

func (a *app) writeMail(all []mail.Message) error {
	rows := make([][]cell, 0, len(all))
	for _, m := range all {
		rows = append(rows, []cell{{m.ID, bold}, mailState(m), plainCell(m.From), plainCell(m.To), plainCell(a.age(m.Sent)), plainCell(m.Subject)})
	}
	return a.table(a.out, a.columns(), []string{"ID", "STATE", "FROM", "TO", "SENT", "SUBJECT"}, rows)
}

func mailState(m mail.Message) cell {
	switch {
	case m.Archived:
		return cell{"archived", dim}
	case m.Read:
		return cell{"read", dim}
	}
	return cell{"unread", green}
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
		me := a.getenv("GC_AGENT")
		if s.MayRead(m, me) {
			if m, err = city.TakeMail(ctx, l, m.ID, me); hasCode(err, city.Conflict) {
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
	if a.json {
		return a.writeJSON(m)
	}
	a.sayf("%s %s", a.paint(bold, safeLine(m.ID)), safeLine(m.Subject))
	a.fact("from", m.From)
	a.fact("to", m.To)
	a.fact("sent", fmt.Sprintf("%s (%s ago)", a.clock(m.Sent), a.age(m.Sent)))
	a.fact("state", mailState(m).text)
	a.fact("answers", m.ReplyTo)
	a.fact("thread", m.Thread)
	if m.Text != "" {
		a.sayf("\n%s", safeText(m.Text))
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
			if a.json {
				return a.writeJSON(listOf(all))
			}
			for i, m := range all {
				if i > 0 {
					a.sayf("")
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
	case !isNotFound(err): // it may have been removed
		return nil, err
	}
	for _, b := range slices.Backward(found) {
		if m, ok := mail.Of(b); ok {
			out = append(out, m)
		}
	}
	return out, nil
}

func isNotFound(err error) bool {
	return hasCode(err, city.NotFound) || errors.Is(err, beads.ErrNotFound)
}

// firstLine is how a text begins.
func firstLine(text string) (first, rest string) {
	first, rest, _ = strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(first), strings.TrimSpace(rest)
}
