package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"gcity/city"
	"gcity/events"
)

// eventFlags select events.
type eventFlags struct {
	types   []string
	subject string
	actor   string
	since   string
	after   uint64
	limit   int
	follow  bool
}

func (a *app) eventsCommand() *cobra.Command {
	var f eventFlags
	c := &cobra.Command{
		Use: "events", Short: "What happened: the newest events, or all after a cursor", Args: exactly(0),
		Example: "  gcity events --type 'agent.*' --since 1h\n  gcity events --after 1041 --follow --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.events(cmd.Context(), f, cmd.Flags().Changed("after"))
		},
	}
	c.Flags().StringSliceVar(&f.types, "type", nil, "only these types; a trailing * matches the rest")
	c.Flags().StringVar(&f.subject, "subject", "", "only about this agent or thing")
	c.Flags().StringVar(&f.actor, "actor", "", "only caused by this one")
	c.Flags().StringVar(&f.since, "since", "", "not before: a duration back (90s, 2h, 3d) or a time (RFC 3339)")
	c.Flags().Uint64Var(&f.after, "after", 0, "only events after this seq, oldest first")
	c.Flags().IntVarP(&f.limit, "limit", "n", events.DefaultLimit, "at most so many")
	c.Flags().BoolVarP(&f.follow, "follow", "f", false, "then those that come")
	return c
}

func (a *app) events(ctx context.Context, f eventFlags, forward bool) error {
	q := events.Query{Types: f.types, Actor: f.actor, Subject: f.subject, After: f.after, Forward: forward, Limit: f.limit}
	if f.limit < 1 {
		return usage("--limit needs a number above 0")
	}
	if f.since != "" {
		since, err := moment(f.since, a.now())
		if err != nil {
			return err
		}
		q.Since = since
	}
	l, err := a.open(ctx)
	if err != nil {
		return err
	}
	defer l.close()
	if f.follow {
		return a.followEvents(ctx, l, q)
	}
	found, err := l.History(ctx, q)
	if err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(listOf(found))
	}
	for _, e := range inOrder(found) {
		a.writeEvent(e)
	}
	if len(found) == 0 {
		a.sayf("no such events")
	}
	return nil
}

// followEvents writes the page, then what comes, until interrupted.
func (a *app) followEvents(ctx context.Context, l *link, q events.Query) error {
	ctx, quiet := interruptible(ctx)
	defer quiet()
	page, err := l.History(ctx, q)
	if err != nil {
		return err
	}
	newest, err := l.History(ctx, events.Query{Limit: 1})
	if err != nil {
		return err
	}
	at := q.After
	if !q.Forward && len(newest) > 0 { // an older match would have been on the page
		at = newest[len(newest)-1].Seq
	}
	for _, e := range inOrder(page) {
		if err := a.tellEvent(e); err != nil {
			return err
		}
		at = max(at, e.Seq)
	}
	for e, err := range l.Events(ctx, at) {
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if !q.Match(&e) {
			continue
		}
		if err := a.tellEvent(e); err != nil {
			return err
		}
	}
	return nil
}

// inOrder is a page as it is read by people: the oldest event first.
func inOrder(page []events.Event) []events.Event {
	page = slices.Clone(page)
	slices.SortFunc(page, func(x, y events.Event) int { return cmp.Compare(x.Seq, y.Seq) })
	return page
}

func (p *printer) tellEvent(e events.Event) error {
	if p.json {
		return p.writeJSONLine(e)
	}
	p.writeEvent(e)
	return nil
}

// writeEvent writes one event as a line for a person.
func (p *printer) writeEvent(e events.Event) {
	p.sayf("%s  %s  %s  %s", p.paint(dim, fmt.Sprintf("%6d", e.Seq)), p.paint(dim, e.TS.Local().Format("2006-01-02 15:04:05")),
		p.paint(eventColour(e.Type), safeLine(fmt.Sprintf("%-26s", e.Type))), eventText(e))
}

func eventColour(kind string) string {
	switch kind {
	case events.AgentCrashed, events.AgentQuarantined, events.AgentStartFailed, events.ConfigRejected, events.Gap:
		return red
	case events.AgentStarted, events.AgentReleased, events.ControllerStarted:
		return green
	default:
		return ""
	}
}

// writeEventLines writes events without their seqs, "15:04:05  agent.started  worker  pid 4711", with dates where not
// all are of today.
func (p *printer) writeEventLines(indent string, page []events.Event) {
	var times []time.Time
	for _, e := range page {
		times = append(times, e.TS)
	}
	stamp := p.stamps(times)
	for _, e := range page {
		p.sayf("%s%s", indent, safeLine(fmt.Sprintf("%s  %-19s %s", stamp(e.TS), e.Type, eventText(e))))
	}
}

// eventText is what an event says, in a line that is safe.
func eventText(e events.Event) string {
	text := e.Subject
	if e.Message != "" {
		if text != "" {
			text += "  "
		}
		text += safeLead(e.Message)
	}
	by := e.Actor
	if by == "controller" {
		by = ""
	}
	if e.Peer != "" {
		by = strings.TrimSpace(by + " " + e.Peer)
	}
	if by != "" {
		text += "  (" + by + ")"
	}
	return safeLine(text)
}

func (a *app) eventCommand() *cobra.Command {
	var subject, message, payload string
	emit := &cobra.Command{
		Use: "emit TYPE", Short: "Write an event of your own", Args: exactly(1),
		Example: `  gcity event emit build.done --subject api --message "green" --payload '{"commit":"3f2a91c"}'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := events.Reserved(args[0]); err != nil {
				return usage("%v", err)
			}
			e := events.Event{Type: args[0], Actor: a.actor(), Subject: subject, Message: message}
			if payload != "" {
				if !json.Valid([]byte(payload)) {
					return usage("--payload is not JSON: %s", payload)
				}
				e.Payload = json.RawMessage(payload)
			}
			e.Payload = deepened(e.Payload, a.depth())
			l, err := a.open(cmd.Context())
			if err != nil {
				return err
			}
			defer l.close()
			return a.do(cmd.Context(), l, city.Emit{Event: e})
		},
	}
	emit.Flags().StringVar(&subject, "subject", "", "what it is about")
	emit.Flags().StringVar(&message, "message", "", "one line for a person")
	emit.Flags().StringVar(&payload, "payload", "", "one JSON value")
	return group("event", "Write to the event log", emit)
}

// deepened adds to a payload, if it is an object or nothing, how deep within runs of automations it was written.
func deepened(payload json.RawMessage, depth int) json.RawMessage {
	fields := map[string]json.RawMessage{}
	if depth <= 0 || len(payload) > 0 && (json.Unmarshal(payload, &fields) != nil || fields == nil) {
		return payload
	}
	if _, there := fields["depth"]; there {
		return payload
	}
	fields["depth"] = json.RawMessage(strconv.Itoa(depth))
	out, err := json.Marshal(fields)
	if err != nil {
		return payload // what was JSON stays JSON
	}
	return out
}

// actor is who gives this command: the agent whose session it runs in, the automation whose run, or a person.
func (a *app) actor() string {
	return cmp.Or(a.getenv("GC_AGENT"), a.getenv("GC_AUTOMATION"), "operator")
}

// moment reads a time: a duration back from now, with days, or RFC 3339.
func moment(text string, now time.Time) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	if n := len(text); n > 1 && text[n-1] == 'd' {
		if days, err := strconv.ParseFloat(text[:n-1], 64); err == nil && days >= 0 && days < 36500 {
			return now.Add(-time.Duration(days * 24 * float64(time.Hour))), nil
		}
	}
	return time.Time{}, usage("%q is neither a duration back (90s, 2h, 3d) nor a time (2026-11-21T15:04:05Z)", text)
}
