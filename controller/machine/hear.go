package machine

import (
	"slices"
	"time"

	"gcity/automation"
	"gcity/controller/effect"
)

// listen sees to it that the events somebody waits for are handed in.
func (m *Machine) listen() {
	w := &m.work
	from, ok := w.runs.From()
	if !ok {
		return
	}
	var on []string
	for _, d := range w.catalog.Automations {
		if d.Gate == automation.Event && !slices.Contains(on, d.On) {
			on = append(on, d.On)
		}
	}
	slices.Sort(on)
	if slices.Equal(on, w.listens) && from >= w.followed {
		return
	}
	w.listens, w.followed = on, from
	w.follow++
	m.do(effect.Follow{ID: w.follow, After: from, Types: on})
}

// deafened takes the end of what hands events in. The next patrol follows them anew, from where they were dealt with.
func (m *Machine) deafened(in effect.FollowEnded) {
	if in.Follow != m.work.follow {
		return
	}
	m.work.cut = true
	m.note(&m.work.deaf, "events for automations cannot be read: "+in.Err.Error())
}

// hear follows events anew after it came to an end. It is well again when it has lasted from one patrol to the next.
func (m *Machine) hear() {
	w := &m.work
	if !w.cut {
		m.note(&w.deaf, "")
		return
	}
	w.cut, w.listens = false, nil
	m.listen()
}

// happened takes events that automations wait for.
func (m *Machine) happened(now time.Time, in effect.Happened) {
	// later ones would come before earlier ones that the follower of now hands in
	if in.Follow != m.work.follow {
		return
	}
	for _, e := range in.Events {
		m.work.runs.See(e)
		m.work.followed = max(m.work.followed, e.Seq)
	}
	m.turnRuns(now)
}
