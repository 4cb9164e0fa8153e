package work

import (
	"cmp"
	"context"
	"errors"
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
	"gcity/mail"
)

// mailLimit is how long a command about mail may take.
const mailLimit = 30 * time.Second

// MailCommand returns the command mail.
func MailCommand(e *env.Env) *cobra.Command {
	c := env.Group("mail", "Messages between agents, pools and people",
		mailSend(e), mailInbox(e), mailRead(e), mailPeek(e), mailReply(e), mailThread(e),
		mailCheck(e), mailCount(e),
		mailArchive(e), mailMark(e, "mark-read", "Mark messages as read, whosever they are",
			mail.ReadPatch()),
		mailMark(e, "mark-unread", "Take that mark away", mail.UnreadPatch()))
	c.Long = `mail carries messages. Each is a bead of the type message in the city's own work,
so it outlives whoever wrote it and whoever is to read it, and needs no
controller. A message is for an agent, for a pool (any member may take it: who
reads it first has it), or for a person, which is every name that is neither.
"human" is whoever runs the city, and gets what is for nobody else.

Whose mail is meant: the argument, else GC_AGENT, else people's.`
	return c
}

// withMail gives a command its deed on an open city.
func withMail(e *env.Env, c *cobra.Command, changes bool,
	run func(ctx context.Context, l *env.Link, args []string) error) *cobra.Command {
	c.RunE = func(cmd *cobra.Command, args []string) error {
		if changes && e.ReadOnly {
			return env.RefusedReadOnly(strings.TrimPrefix(cmd.CommandPath(), "gcity "))
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), mailLimit)
		defer cancel()
		l, err := e.Open(ctx)
		if err != nil {
			return err
		}
		defer l.Close()
		if l.Known != nil {
			env.TellKnown(e)
			l.Control = folder.Letterbox{Control: l.Control, As: l.Known.Snapshot(l.Dir)}
		}
		return folder.NeedsFile(run(ctx, l, args), folder.UnknownWork)
	}
	return c
}

// writer is who sends: an agent, an automation, or a person.
func writer(e *env.Env) string {
	return cmp.Or(e.Getenv("GC_AGENT"), e.Getenv("GC_AUTOMATION"), mail.Person)
}

// draftFlags are a message as it is written on a command line.
type draftFlags struct {
	subject, text, from string
	notify              bool
}

func (f *draftFlags) flags(c *cobra.Command) {
	c.Flags().StringVarP(&f.subject, "subject", "s", "",
		"one line for lists; without it, how the text begins")
	c.Flags().StringVarP(&f.text, "message", "m", "", "the text; - is standard input")
	c.Flags().StringVar(&f.from, "from", "", "who sends it (else GC_AGENT, else human)")
	c.Flags().BoolVar(&f.notify, "notify", false,
		"and type a line into the terminal of the agent who gets it")
}

// fill takes what the arguments say besides the flags: TEXT, or SUBJECT TEXT.
func (f *draftFlags) fill(a *env.Env, args []string) error {
	switch {
	case len(args) == 2 && f.subject == "" && f.text == "":
		f.subject, f.text = args[0], args[1]
	case len(args) == 1 && f.text != "" && f.subject == "":
		f.subject = args[0]
	case len(args) > 0 && f.text == "":
		f.text = strings.Join(args, " ")
	case len(args) > 0:
		return exit.Usage("%q and -m both say the text: leave one out", args[0])
	}
	if f.text == "-" {
		data, err := io.ReadAll(io.LimitReader(a.In, mail.MaxText+2))
		if err != nil {
			return fmt.Errorf("the text cannot be read: %w", err)
		}
		f.text = strings.TrimSuffix(string(data), "\n")
	}
	f.from = cmp.Or(f.from, writer(a))
	return nil
}

func mailSend(e *env.Env) *cobra.Command {
	var f draftFlags
	c := withMail(e, &cobra.Command{
		Use: "send TO [SUBJECT] [TEXT]", Short: "Send a message to an agent, a pool or a person",
		Args: env.Between(1, 3),
		Example: `  gc mail send builder -s 'the tests fail' -m 'see gc-41'
  gc mail send pool:worker 'who knows the parser?'
  make test 2>&1 | tail -20 | gc mail send human -s 'red' -m -`,
		ValidArgsFunction: env.Complete(e, env.KindAgent, env.KindPool),
	}, true, func(ctx context.Context, l *env.Link, args []string) error {
		if err := f.fill(e, args[1:]); err != nil {
			return err
		}
		return send(ctx, e, l, mail.Message{From: f.from, To: args[0], Subject: f.subject,
			Text: f.text}, f.notify)
	})
	f.flags(c)
	return c
}

// send sends a message, and tells of it in the terminal of whoever gets it if that is wanted.
func send(ctx context.Context, e *env.Env, l *env.Link, m mail.Message, notify bool) error {
	m.Depth = e.Depth()
	r, err := city.SendMail(ctx, l, m)
	if err != nil {
		return err
	}
	if notify && r.Bead != nil {
		sent, _ := mail.Of(*r.Bead)
		r.Message += "; " + notified(ctx, l, sent)
	}
	return e.Receipt(r)
}

// notified tells whoever a message is for that it is there, of a pool all members that run, and says who has been told.
func notified(ctx context.Context, l *env.Link, m mail.Message) string {
	whom := []string{m.To}
	if pool, ok := strings.CutPrefix(m.To, mail.PoolPrefix); ok {
		s, err := l.Snapshot(ctx)
		if err != nil {
			return "nobody could be told: " + err.Error()
		}
		whom = nil
		for i := range s.Agents {
			if s.Agents[i].Pool == pool && s.Agents[i].Running {
				whom = append(whom, s.Agents[i].Name)
			}
		}
		if len(whom) == 0 {
			return "nobody could be told: no member of the pool runs"
		}
	}
	var out []string
	for _, name := range whom {
		told, err := l.Do(ctx, city.Nudge{Agent: name,
			Text: fmt.Sprintf("There is mail for you: gc mail read %s (from %s: %s)", m.ID, m.From,
				m.Subject)})
		if err != nil {
			out = append(out, name+" could not be told: "+err.Error())
		} else {
			out = append(out, told.Message)
		}
	}
	return strings.Join(out, "; ")
}

func mailReply(e *env.Env) *cobra.Command {
	var f draftFlags
	c := withMail(e, &cobra.Command{
		Use: "reply ID [TEXT]", Short: "Answer a message in its thread: whoever sent it, or, of " +
			"one's own, whom it went to", Args: env.Between(1, 2),
		Example: `  gc mail reply gc-12 'done in gc-41'`,
	}, true, func(ctx context.Context, l *env.Link, args []string) error {
		if err := f.fill(e, args[1:]); err != nil {
			return err
		}
		to, _, err := city.GetMail(ctx, l, args[0])
		if err != nil {
			return err
		}
		m := mail.Reply(to, f.from, f.text)
		m.Subject = cmp.Or(f.subject, m.Subject)
		return send(ctx, e, l, m, f.notify)
	})
	f.flags(c)
	return c
}

func mailArchive(e *env.Env) *cobra.Command {
	return withMail(e, &cobra.Command{
		Use: "archive ID…", Short: "Put messages away, read or not; archiving again is harmless",
		Args: env.Between(1, 1000), Aliases: []string{"delete"},
	}, true, func(ctx context.Context, l *env.Link, args []string) error {
		var all []city.Receipt
		for _, id := range args {
			r, err := city.ArchiveMail(ctx, l, id)
			if err != nil {
				return err
			}
			all = append(all, r)
		}
		return receipts(e, all)
	})
}

func mailMark(e *env.Env, name, short string, p beadPatch) *cobra.Command {
	return withMail(e, &cobra.Command{Use: name + " ID…", Short: short, Args: env.Between(1, 1000)},
		true,
		func(ctx context.Context, l *env.Link, args []string) error {
			var all []city.Receipt
			for _, id := range args {
				if _, _, err := city.GetMail(ctx, l, id); err != nil {
					return err
				}
				r, err := l.Do(ctx, city.UpdateBead{ID: id, Patch: p})
				if err != nil {
					return err
				}
				all = append(all, r)
			}
			return receipts(e, all)
		})
}

// receipts says how several commands ended; of one as receipt does.
func receipts(e *env.Env, all []city.Receipt) error {
	if len(all) == 1 {
		return e.Receipt(all[0])
	}
	if e.JSON {
		return e.WriteJSON(output.ListOf(all))
	}
	for _, r := range all {
		e.Sayf("%s", output.SafeLine(r.Message))
	}
	return nil
}

// mailOf is whose mail a command is about: the argument, else GC_AGENT, else "", which is people.
func mailOf(e *env.Env, args []string) string {
	if len(args) > 0 {
		return args[0]
	}
	return e.Getenv("GC_AGENT")
}

// owner is the name that people read for whose mail it is.
func owner(who string) string { return cmp.Or(who, "people") }

func mailCheck(e *env.Env) *cobra.Command {
	var inject bool
	c := &cobra.Command{
		Use: "check [WHO]", Short: "Is there unread mail? Exit 0 if so, 1 if not",
		Args: env.Between(0, 1),
		Long: `check says how many messages are unread, and exits 0; with none it says nothing,
and exits 1. With --inject it prints what is unread in a form for the agent's
model, nothing if there is none, marks nothing as read, and exits 0 whatever
happens: it is for hooks, which must not keep an agent from its work.`,
		Example:           "  gc mail check && gc mail inbox\n  gc mail check --inject",
		ValidArgsFunction: env.Complete(e, env.KindAgent, env.KindPool),
	}
	c = withMail(e, c, false, func(ctx context.Context, l *env.Link, args []string) error {
		who := mailOf(e, args)
		unread, err := city.Mail(ctx, l, who, false)
		switch {
		case err != nil:
			return err
		case inject:
			_, err := io.WriteString(e.Out, mail.Reminder(unread))
			return err
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
		return &exit.Failure{Code: exit.CodeDone,
			Err: errors.New("mail cannot be looked for: " + text)}
	}
	c.Flags().BoolVar(&inject, "inject", false,
		"print it for the agent's model; exit 0 in any case")
	return c
}

// countShape is how much mail somebody has.
type countShape struct {
	Recipient string `json:"recipient"` // "" = people
	city.MailCount
}

func mailCount(e *env.Env) *cobra.Command {
	return withMail(e, &cobra.Command{
		Use: "count [WHO]", Short: "How much mail there is, read or not", Args: env.Between(0, 1),
		ValidArgsFunction: env.Complete(e, env.KindAgent, env.KindPool),
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
		if e.JSON {
			return e.WriteJSON(s)
		}
		e.Sayf("%s for %s, %d of them unread", describe.Count(s.Total, "message"),
			output.SafeLine(owner(s.Recipient)), s.Unread)
		return nil
	})
}
