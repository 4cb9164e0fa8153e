package work

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/describe"
	"gcity/hooks"
	"gcity/internal/suggest"
	"gcity/mail"
)

const mailLimit = 30 * time.Second

// MailCommand returns the mail command.
func MailCommand(e *env.Env) *cobra.Command {
	c := env.Group("mail", "Send and read messages between agents, pools and users",
		mailSend(e), mailInbox(e), mailRead(e), mailPeek(e), mailReply(e), mailThread(e),
		mailCheck(e), mailCount(e),
		mailArchive(e), mailMark(e, "mark-read", "Mark messages as read, in any mailbox",
			mail.ReadPatch()),
		mailMark(e, "mark-unread", "Mark messages as unread", mail.UnreadPatch()))
	c.Long = `mail sends and reads messages, with or without a controller. Each message is a bead of
type message in the city's own store, and stays there even if its sender or recipient is
removed. A message to a pool belongs to the first member that reads it. Any name that
is neither an agent nor a pool is the name of a user; "human" is the city's user.

The default MAILBOX is that of GC_AGENT inside a session, otherwise the one that all
users share, which contains the messages to all users.`
	return c
}

func withMail(e *env.Env, c *cobra.Command, changes bool,
	run func(ctx context.Context, l *env.Link, args []string) error) *cobra.Command {
	c.RunE = func(cmd *cobra.Command, args []string) error {
		ctx, cancel := context.WithTimeout(cmd.Context(), mailLimit)
		defer cancel()
		l, err := e.Open(ctx)
		if err != nil {
			return err
		}
		defer l.Close()
		if l.ConfigCache != nil {
			env.WarnConfigCache(e)
			l.Control = folder.MailResolver{Control: l.Control, As: l.ConfigCache.Snapshot(l.Dir)}
		}
		return folder.NeedsFile(run(ctx, l, args), folder.UnknownWork)
	}
	if changes {
		env.Changes(e, c)
	}
	return c
}

func writer(e *env.Env) string {
	return cmp.Or(e.Getenv("GC_AGENT"), e.Getenv("GC_AUTOMATION"), mail.Person)
}

type draftFlags struct {
	mail.Message
	notify bool
}

func (f *draftFlags) flags(c *cobra.Command) {
	flags := c.Flags()
	flags.StringVarP(&f.Subject, "subject", "s", "",
		"a one-line subject, shown in lists (default: the beginning of the text)")
	flags.StringVarP(&f.Text, "message", "m", "", "the text; - is standard input")
	flags.StringVar(&f.From, "from", "", "the sender (default: GC_AGENT, or human)")
	flags.BoolVar(&f.notify, "notify", false,
		"also notify the recipient in its terminal")
}

func (f *draftFlags) fill(a *env.Env, args []string) error {
	switch {
	case len(args) == 2 && f.Subject == "" && f.Text == "":
		f.Subject, f.Text = args[0], args[1]
	case len(args) == 1 && f.Text != "" && f.Subject == "":
		f.Subject = args[0]
	case len(args) > 0 && f.Text == "":
		f.Text = strings.Join(args, " ")
	case len(args) > 0:
		return exit.Usage("the text is given twice: use either the argument %q or -m", args[0])
	}
	if f.Text == "-" {
		data, err := io.ReadAll(io.LimitReader(a.In, mail.MaxText+2))
		if err != nil {
			return fmt.Errorf("cannot read the text: %w", err)
		}
		if f.Text = strings.TrimSuffix(string(data), "\n"); strings.TrimSpace(f.Text) == "" {
			return exit.Usage("standard input is empty; pipe the text into this command")
		}
	}
	f.From = cmp.Or(f.From, writer(a))
	return nil
}

func mailSend(e *env.Env) *cobra.Command {
	var f draftFlags
	c := withMail(e, &cobra.Command{
		Use: "send TO [SUBJECT] [TEXT]", Short: "Send a message to an agent, a pool or a user",
		Example: `  gc mail send builder -s 'the tests fail' -m 'see gc-41'
  gc mail send pool:worker 'does anyone know the parser?'
  make test 2>&1 | tail -20 | gc mail send human -s 'red' -m -`,
		ValidArgsFunction: env.Complete(e, suggest.Agent, suggest.Pool),
	}, true, func(ctx context.Context, l *env.Link, args []string) error {
		if err := f.fill(e, args[1:]); err != nil {
			return err
		}
		f.To = args[0]
		return send(ctx, e, l, f.Message, f.notify)
	})
	f.flags(c)
	return c
}

func send(ctx context.Context, e *env.Env, l *env.Link, m mail.Message, notify bool) error {
	m.Depth = e.Depth()
	r, err := city.SendMail(ctx, l, m)
	if err != nil {
		return err
	}
	if m.From != writer(e) && m.From != mail.Person {
		if s, err := l.Snapshot(ctx); err == nil && unknownSender(s, m.From) {
			r.Message += fmt.Sprintf("; no agent or pool has the name %q, so a reply will wait "+
				"for a user with that name", m.From)
		}
	}
	if notify && r.Bead != nil {
		sent, _ := mail.FromBead(*r.Bead)
		r.Message += "; " + notified(ctx, l, sent)
	}
	return e.Receipt(r)
}

func unknownSender(s *city.Snapshot, from string) bool {
	to, err := s.Address(from)
	return err == nil && s.IsUserAddress(to)
}

func notified(ctx context.Context, l *env.Link, m mail.Message) string {
	whom := []string{m.To}
	if pool, ok := strings.CutPrefix(m.To, mail.PoolPrefix); ok {
		s, err := l.Snapshot(ctx)
		if err != nil {
			return "no agent was notified: " + err.Error()
		}
		whom = nil
		for i := range s.Agents {
			if s.Agents[i].Pool == pool && s.Agents[i].Running {
				whom = append(whom, s.Agents[i].Name)
			}
		}
		if len(whom) == 0 {
			return "no agent was notified: no member of the pool is running"
		}
	}
	var out []string
	for _, name := range whom {
		receipt, err := l.Do(ctx, city.Nudge{Agent: name,
			Text: fmt.Sprintf("There is mail for you; run gc mail read %s to read it (from %s: %s)",
				m.ID, m.From, m.Subject), Depth: m.Depth})
		if err != nil {
			out = append(out, name+" was not notified: "+err.Error())
		} else {
			out = append(out, receipt.Message)
		}
	}
	return strings.Join(out, "; ")
}

func mailReply(e *env.Env) *cobra.Command {
	var f draftFlags
	c := withMail(e, &cobra.Command{
		Use: "reply ID [TEXT]", Short: "Reply to a message in its thread; a reply to your own " +
			"message goes to the recipient of that message",
		Example: `  gc mail reply gc-12 'done in gc-41'`,
	}, true, func(ctx context.Context, l *env.Link, args []string) error {
		if err := f.fill(e, args[1:]); err != nil {
			return err
		}
		if strings.TrimSpace(f.Subject+f.Text) == "" {
			return exit.Usage("the reply is empty; run `gcity mail reply ID TEXT`")
		}
		to, err := city.TakePoolMail(ctx, l, args[0], e.Getenv("GC_AGENT"))
		if err != nil {
			return err
		}
		m := mail.Reply(to, f.From, f.Text)
		m.Subject = cmp.Or(f.Subject, m.Subject)
		return send(ctx, e, l, m, f.notify)
	})
	f.flags(c)
	return c
}

func mailArchive(e *env.Env) *cobra.Command {
	return withMail(e, &cobra.Command{
		Use: "archive ID…", Short: "Archive messages, read or unread; archiving one again has " +
			"no effect",
		Args: env.Between(1, 1000), Aliases: []string{"delete"},
	}, true, func(ctx context.Context, l *env.Link, args []string) error {
		return changeMail(ctx, e, l, args, func(id string) (city.Receipt, error) {
			return city.ArchiveMail(ctx, l, id, e.Getenv("GC_AGENT"))
		})
	})
}

func mailMark(e *env.Env, name, short string, p beadPatch) *cobra.Command {
	return withMail(e, &cobra.Command{Use: name + " ID…", Short: short, Args: env.Between(1, 1000)},
		true,
		func(ctx context.Context, l *env.Link, args []string) error {
			return changeMail(ctx, e, l, args, func(id string) (city.Receipt, error) {
				return l.Do(ctx, city.UpdateBead{ID: id, Patch: p})
			})
		})
}

// changeMail changes messages and prints the receipts. If one of the IDs is invalid, it changes nothing.
func changeMail(ctx context.Context, e *env.Env, l *env.Link, ids []string,
	change func(id string) (city.Receipt, error)) error {
	for _, id := range ids {
		if _, _, err := city.GetMail(ctx, l, id); err != nil {
			return err
		}
	}
	var all []city.Receipt
	for _, id := range ids {
		r, err := change(id)
		if err != nil {
			return err
		}
		all = append(all, r)
	}
	return e.Receipts(all)
}

// mailOf returns the mailbox for a command; "" is the one that all users share.
func mailOf(e *env.Env, args []string) string {
	if len(args) > 0 {
		return args[0]
	}
	return e.Getenv("GC_AGENT")
}

func owner(who string) string { return cmp.Or(who, "users") }

func mailCheck(e *env.Env) *cobra.Command {
	var inject bool
	var format string
	c := &cobra.Command{
		Use: "check [MAILBOX]", Short: "Check for unread mail; exit 0 if there is some, 1 if not",
		Long: `check prints the number of unread messages and exits 0. If all messages are read,
it prints nothing and exits 1. With --inject it prints the unread messages as text for
the agent's model, or nothing, and always exits 0, because a failing hook could block
the agent. It does not mark messages as read.`,
		Example:           "  gc mail check && gc mail inbox\n  gc mail check --inject",
		ValidArgsFunction: env.Complete(e, suggest.Agent, suggest.Pool),
	}
	c = withMail(e, c, false, func(ctx context.Context, l *env.Link, args []string) error {
		who := mailOf(e, args)
		unread, err := city.Mail(ctx, l, who, false)
		switch {
		case err != nil:
			return err
		case inject:
			return printForModel(e, format, hooks.Mail, mail.Reminder(unread))
		case e.JSON:
			err = e.WriteJSON(output.ListOf(unread))
		case len(unread) > 0:
			e.Sayf("%s for %s", describe.Count(len(unread), "unread message"),
				output.SafeLine(owner(who)))
		}
		if err == nil && len(unread) == 0 {
			return exit.Quietly(exit.CodeFailed)
		}
		return err
	})
	run := c.RunE
	c.RunE = func(cmd *cobra.Command, args []string) error {
		err := run(cmd, args)
		if !inject || err == nil {
			return err
		}
		_, text := exit.Verdict(err)
		return exit.Errorf(exit.CodeDone, "cannot check the mail: %s", text)
	}
	c.Flags().BoolVar(&inject, "inject", false,
		"print the messages as text for the agent's model; always exit 0")
	hookFormat(c, &format)
	return c
}

type countShape struct {
	Recipient string `json:"recipient"` // "" for the mailbox that all users share
	city.MailCount
}

func mailCount(e *env.Env) *cobra.Command {
	return withMail(e, &cobra.Command{
		Use: "count [MAILBOX]", Short: "Show the number of messages and of unread messages",
		ValidArgsFunction: env.Complete(e, suggest.Agent, suggest.Pool),
	}, false, func(ctx context.Context, l *env.Link, args []string) error {
		s := countShape{Recipient: mailOf(e, args)}
		all, err := city.Mail(ctx, l, s.Recipient, true)
		if err != nil {
			return err
		}
		for _, m := range all {
			s.Total++
			if !m.Read {
				s.Unread++
			}
		}
		return e.Result(s, "%s for %s, %d of them unread", describe.Count(s.Total, "message"),
			output.SafeLine(owner(s.Recipient)), s.Unread)
	})
}
