package cli

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"gcity/city"
	"gcity/events"
	"gcity/session"
)

// mark writes or takes back the marks of a drain. They stay with the session: a controller that comes later finds them
// and acts on them.
func (b *aside) mark(ctx context.Context, c city.Command) (city.Receipt, error) {
	st, err := b.session(ctx, c.Target())
	if err != nil {
		return city.Receipt{}, err
	}
	m, ok := b.sessions.(session.Marker)
	if !ok {
		return city.Receipt{}, cannot("mark", st.Agent)
	}
	is, err := drainMarks(ctx, m, st.Name)
	if err != nil {
		return city.Receipt{}, asProblem(err)
	}
	to, e, done, err := b.remark(c, st.Agent, is)
	if err != nil || e.Type == "" {
		return city.Receipt{Message: done}, err
	}
	if err := setDrainMarks(ctx, m, st.Name, to); err != nil {
		return city.Receipt{}, asProblem(err)
	}
	e.Subject = st.Agent
	return b.record(e, done)
}

// remark decides what a drain command makes of a drain. An event without a type says that nothing has to be done.
func (b *aside) remark(c city.Command, agent string, is session.Drain) (to session.Drain, e events.Event, done string, err error) {
	told := !is.Since.IsZero()
	switch c.(type) {
	case city.Drain:
		if told {
			return is, e, agent + " has been told to finish already", nil
		}
		return session.Drain{Since: b.now(), By: "operator"}, events.Event{Type: events.AgentDraining, Actor: "operator"},
			agent + " is told to finish; no controller runs that would end it", nil
	case city.Undrain:
		if !told {
			return is, e, agent + " is not draining", nil
		}
		if is.By == "pool" {
			return is, e, "", &city.Error{Code: city.Conflict, Message: agent + " is drained because its pool wants fewer: scale the pool"}
		}
		return session.Drain{}, events.Event{Type: events.AgentUndrained, Actor: "operator"}, agent + " goes on", nil
	default:
		if !told {
			return is, e, "", &city.Error{Code: city.Conflict, Message: agent + " has not been told to finish"}
		}
		is.Acked = true
		return is, events.Event{Type: events.AgentDraining, Actor: agent},
			agent + " says that it has finished; no controller runs that would end it", nil
	}
}

// drainMarks reads what a session's marks say. A mark that is none counts as no drain: anybody may have written it.
func drainMarks(ctx context.Context, m session.Marker, name string) (session.Drain, error) {
	var text [3]string
	for i, key := range []string{session.DrainMark, session.DrainByMark, session.DrainAckMark} {
		value, err := m.Meta(ctx, name, key)
		if err != nil {
			return session.Drain{}, err
		}
		if text[i] = value; i == 0 && value == "" {
			return session.Drain{}, nil
		}
	}
	since, err := strconv.ParseInt(text[0], 10, 64)
	if err != nil || since <= 0 {
		return session.Drain{}, nil
	}
	return session.Drain{Since: time.Unix(since, 0), By: text[1], Acked: text[2] == "1"}, nil
}

// setDrainMarks writes a drain, the mark that counts last; the zero value takes it back, that mark first.
func setDrainMarks(ctx context.Context, m session.Marker, name string, d session.Drain) error {
	since, acked := "", ""
	if !d.Since.IsZero() {
		since = fmt.Sprint(d.Since.Unix())
	}
	if d.Acked {
		acked = "1"
	}
	marks := [][2]string{{session.DrainAckMark, acked}, {session.DrainByMark, d.By}, {session.DrainMark, since}}
	if since == "" {
		marks[0], marks[2] = marks[2], marks[0]
	}
	for _, mark := range marks {
		if err := m.SetMeta(ctx, name, mark[0], mark[1]); err != nil {
			return fmt.Errorf("the mark %s could not be set: %w", mark[0], err)
		}
	}
	return nil
}
