package cli

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/events"
)

func eventsCommand(e *env.Env) *cobra.Command {
	q := events.Query{Limit: events.DefaultLimit}
	var since string
	var follow bool
	c := &cobra.Command{
		Use: "events", Short: "Show the newest events, or those after a sequence number",
		Example: "  gcity events --type 'agent.*' --since 1h\n  gcity events --after 1041 " +
			"--follow --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			q.Forward = cmd.Flags().Changed("after")
			if since != "" {
				var err error
				if q.Since, err = moment(since, e.Now()); err != nil {
					return err
				}
			}
			return listEvents(cmd.Context(), e, q, follow)
		},
	}
	flags := c.Flags()
	flags.StringSliceVar(&q.Types, "type", nil,
		"only events of these types; a trailing * matches any suffix")
	flags.StringVar(&q.Subject, "subject", "", "only events about this agent or other subject")
	flags.StringVar(&q.Actor, "actor", "", "only events caused by this actor")
	flags.StringVar(&since, "since", "",
		"only events since a time (RFC 3339), or since a duration ago (90s, 2h, 3d)")
	flags.Var(env.Number(&q.After, 0), "after", "only events after this sequence number, "+
		"oldest first")
	flags.VarP(env.Number(&q.Limit, 1), "limit", "n", "print at most this many events")
	flags.BoolVarP(&follow, "follow", "f", false, "wait for new events and print them "+
		"until interrupted")
	return c
}

func listEvents(ctx context.Context, e *env.Env, q events.Query, follow bool) error {
	l, err := e.Open(ctx)
	if err != nil {
		return err
	}
	defer l.Close()
	if follow {
		return followEvents(ctx, e, l, q)
	}
	if e.JSON {
		list := output.JSONList[events.Event]{Printer: &e.Printer}
		whole, err := eachPage(ctx, l, q, list.Add)
		if err != nil {
			return err
		}
		return list.End(whole)
	}
	newest, err := printPast(ctx, e, l, q)
	if err == nil && newest == 0 {
		e.Sayf("no matching events")
	}
	return err
}

func oldestFirst(q events.Query) bool { return q.Forward || q.After > 0 }

// eachPage passes the events that a query selects to use, page by page. whole reports whether there are no more events.
func eachPage(ctx context.Context, l *env.Link, q events.Query,
	use func([]events.Event) error) (whole bool, err error) {
	for q.Limit > 0 {
		page, err := l.History(ctx, q)
		if err != nil || len(page) == 0 {
			return err == nil, err
		}
		if err := use(page); err != nil {
			return false, err
		}
		if q.Limit -= len(page); q.Limit > 0 && !events.Full(page) {
			return true, nil
		}
		last := page[len(page)-1].Seq
		if oldestFirst(q) {
			q.After = last
		} else {
			q.Before = last
		}
	}
	return false, nil
}

func followEvents(ctx context.Context, e *env.Env, l *env.Link, q events.Query) error {
	ctx, quiet := env.Interruptible(ctx)
	defer quiet()
	at, err := printUntilNow(ctx, e, l, &q)
	if err != nil {
		return err
	}
	return e.Follow(ctx, l, func(ctx context.Context, l *env.Link) error {
		for ev, err := range l.Events(ctx, at) {
			if ctx.Err() != nil {
				return nil
			}
			if err != nil {
				return err
			}
			at = ev.Seq
			switch {
			case city.IsInsertedGap(&ev):
				q.After = min(q.After, ev.Seq) // the city might have a new event log
			case !q.Match(&ev):
				continue
			}
			if err := e.PrintEvent(ev); err != nil {
				return err
			}
		}
		return nil
	})
}

// printUntilNow prints the events before the followed ones, and returns the number of the event to follow after.
func printUntilNow(ctx context.Context, e *env.Env, l *env.Link, q *events.Query) (uint64, error) {
	// Without --after, following starts after the newest event, even if that does not match. The event's number is read
	// before the page, so that an event appended between the two reads is on the page or is followed.
	newest, err := l.History(ctx, events.Query{Limit: 1})
	if err != nil {
		return 0, err
	}
	var last uint64
	if len(newest) > 0 {
		last = newest[0].Seq
	}
	at := q.After
	if !q.Forward {
		at = last
	}
	if at > last { // the city has a new event log
		if err := e.PrintEvent(city.BeyondLog(strconv.FormatUint(at, 10), last)); err != nil {
			return 0, err
		}
		at, q.After = last, last
	}
	newestPrinted, err := printPast(ctx, e, l, *q)
	return max(at, newestPrinted), err
}

// printPast prints the events that a query selects, oldest first. It returns the number of the last one, or 0. It holds
// at most two pages in memory.
func printPast(ctx context.Context, e *env.Env, l *env.Link, q events.Query) (newest uint64,
	err error) {
	if !oldestFirst(q) {
		var first []events.Event
		oldest, n := uint64(0), 0
		_, err := eachPage(ctx, l, q, func(page []events.Event) error {
			if n == 0 {
				first = page
			}
			oldest, n = page[len(page)-1].Seq, n+len(page)
			return nil
		})
		if err != nil || n == 0 {
			return 0, err
		}
		if n == len(first) {
			return printPage(e, output.OldestFirst(first))
		}
		// the pages came newest first; read them again in the other order
		q.Forward, q.After, q.Before, q.Limit = true, oldest-1, first[0].Seq+1, n
	}
	_, err = eachPage(ctx, l, q, func(page []events.Event) (err error) {
		newest, err = printPage(e, page)
		return err
	})
	return newest, err
}

func printPage(e *env.Env, page []events.Event) (newest uint64, err error) {
	for _, ev := range page {
		if err := e.PrintEvent(ev); err != nil {
			return newest, err
		}
		newest = ev.Seq
	}
	return newest, nil
}

func eventCommand(e *env.Env) *cobra.Command {
	var subject, message, payload string
	emit := &cobra.Command{
		Use: "emit TYPE", Short: "Append your own event to the log",
		Example: `  gcity event emit build.done --subject api --payload '{"commit":"3f2a91c"}'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := events.Reserved(args[0]); err != nil {
				return exit.Usage("%v", err)
			}
			ev := events.Event{Type: args[0], Actor: e.Actor(), Subject: subject, Message: message}
			if payload != "" {
				if !json.Valid([]byte(payload)) {
					return exit.Usage("--payload is not valid JSON: %s", payload)
				}
				ev.Payload = json.RawMessage(payload)
			}
			var err error
			if ev.Payload, err = withDepth(ev.Payload, e.Depth()); err != nil {
				return err
			}
			if !events.KeepsPayload(ev) {
				return exit.Usage("--payload is too long (%d bytes): the limit for an event "+
					"is 64 KiB; write the data to a file, and put its path in the payload",
					len(payload))
			}
			l, err := e.Open(cmd.Context())
			if err != nil {
				return err
			}
			defer l.Close()
			return e.Do(cmd.Context(), l, city.Emit{Event: ev})
		},
	}
	flags := emit.Flags()
	flags.StringVar(&subject, "subject", "", "what the event is about")
	flags.StringVar(&message, "message", "", "a one-line message for the reader")
	flags.StringVar(&payload, "payload", "", "any JSON value; in a run of an "+
		"automation, a JSON object")
	return env.Group("event", "Append to the event log", emit)
}

// withDepth sets the depth in the payload of an event that an automation's run emits. It keeps a greater depth, but not
// a smaller one, which can come from the payload of the event that triggered the run.
func withDepth(payload json.RawMessage, depth int) (json.RawMessage, error) {
	if depth <= 0 {
		return payload, nil
	}
	fields := map[string]json.RawMessage{}
	if len(payload) > 0 && json.Unmarshal(payload, &fields) != nil {
		return nil, exit.Usage("--payload must be a JSON object in a run of an automation, "+
			"because gcity sets the field depth in it: %s", payload)
	}
	var given int
	if json.Unmarshal(fields["depth"], &given) == nil && given >= depth {
		return payload, nil
	}
	if fields == nil { // the payload is null
		fields = map[string]json.RawMessage{}
	}
	fields["depth"] = json.RawMessage(strconv.Itoa(depth))
	return json.Marshal(fields)
}

func moment(text string, now time.Time) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	if n := len(text); n > 1 && text[n-1] == 'd' {
		if days, err := strconv.ParseFloat(text[:n-1], 64); err == nil && days >= 0 &&
			days < 36500 {
			return now.Add(-time.Duration(days * 24 * float64(time.Hour))), nil
		}
	}
	return time.Time{}, exit.Usage("invalid time %q: use a duration before now (90s, 2h, 3d) or "+
		"a time (2026-11-21T15:04:05Z)", text)
}
