package offline

import (
	"context"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/events"
	"gcity/session"
)

func (b *City) setDrain(ctx context.Context, c city.Command) (city.Receipt, error) {
	st, err := b.Session(ctx, c.Target())
	if err != nil {
		return city.Receipt{}, err
	}
	m, ok := b.Sessions.(session.Marker)
	if !ok {
		return city.Receipt{}, Cannot("mark", st.Agent)
	}
	to, e, done, err := b.changeDrain(c, st.Agent, st.Drain)
	if err != nil || e.Type == "" {
		return city.Receipt{Message: st.Agent + " " + done}, err
	}
	if err := session.SetDrain(ctx, m, st.Name, to); err != nil {
		return city.Receipt{}, AsProblem(err)
	}
	e.Subject = st.Agent
	return b.recordOf(ctx, e, done)
}

func (b *City) changeDrain(c city.Command, agent string, is session.Drain) (to session.Drain,
	e events.Event, done string, err error) {
	draining := is.On()
	switch c.(type) {
	case city.Drain:
		if draining {
			return is, e, "is already draining", nil
		}
		return session.Drain{Since: b.now(), By: effect.ActorOperator},
			events.Event{Type: events.AgentDraining},
			"has been asked to finish, but no controller is running to stop it", nil
	case city.Undrain:
		if !draining {
			return is, e, "is not draining", nil
		}
		if is.By == "pool" {
			return is, e, "", city.Errorf(city.Conflict, "%s is draining because its pool wants "+
				"fewer members; use `gcity pool scale` instead", agent)
		}
		return session.Drain{}, events.Event{Type: events.AgentUndrained},
			"is no longer draining", nil
	default:
		if !draining {
			return is, e, "", city.Errorf(city.Conflict, "%s is not draining", agent)
		}
		is.Acked = true
		return is, events.Event{Type: events.AgentDraining, Actor: agent},
			"has reported done, but no controller is running to stop it", nil
	}
}
