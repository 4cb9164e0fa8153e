package machine

import (
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/lifecycle"
	"gcity/events"
)

// shutdown starts to stop the city. If leave is true, only the controller exits, and the agents keep running.
func (m *Machine) shutdown(now time.Time, leave bool) {
	if m.ending != running {
		return
	}
	m.step.Changed = true
	m.commands.rejectAll(m.loader.asking, city.Unavailable, "the city is being stopped")
	m.commands.rejectAll(m.loader.waiting, city.Unavailable, "the city is being stopped")
	m.loader.asking, m.loader.waiting = nil, nil
	m.loader.rejectGroups(city.Unavailable, "the city is being stopped")
	for _, a := range m.order {
		m.commands.reject(a, city.Unavailable, "the city is being stopped")
	}
	if leave {
		m.ending = leaveAgents
		return
	}
	m.ending = stopAgents
	m.cityStop.begin(now, now.Add(m.StopLimit()))
	m.runs.Stop()
	m.decideAll(now)
	m.lists.request()
}

// nothingInFlight reports whether no effect for an agent or a run is in flight, and no event is queued.
func (cs *cityStop) nothingInFlight() bool {
	if len(cs.m.journal.queue) > 0 {
		return false
	}
	for _, a := range cs.m.order {
		if a.phase.InFlight() {
			return false
		}
	}
	return cs.m.runs.Quiet()
}

func (cs *cityStop) lastStop() uint64 {
	var last uint64
	for _, a := range cs.m.order {
		last = max(last, a.phase.Step())
	}
	return last
}

// seenEmpty completes the city's stop if a list that is newer than all stops shows no running session.
func (cs *cityStop) seenEmpty(now time.Time, step uint64) {
	if cs.m.ending != stopAgents {
		return
	}
	if !cs.nothingInFlight() {
		cs.early = true
		return
	}
	for _, a := range cs.m.order {
		if a.phase.State() != lifecycle.Absent || a.phase.Step() > step {
			return
		}
	}
	cs.end(now, "all agents have stopped")
}

// end completes the city's stop and replies to the commands that requested it. The loop ends after this step.
func (cs *cityStop) end(now time.Time, msg string) {
	cs.m.ending = ended
	cs.by, cs.waits, cs.m.step.Changed = now.Add(effect.ShutdownLimit),
		[]string{"waiting for the last operations to finish"}, true
	cs.m.messages.GiveUpAll(now)
	cs.m.journal.release(time.Time{})
	for i := range cs.leaving {
		if cs.gaveUp {
			cs.leaving[i].Err = &city.Error{Code: city.Unavailable,
				Message: "cannot stop the city: " + msg + "; " + StillRunningAdvice}
			continue
		}
		cs.leaving[i].Receipt.Message = msg
	}
	cs.m.step.Do(effect.Record{Event: events.Event{Type: events.ControllerStopped,
		Actor: effect.ActorController, Message: msg}, Replies: cs.leaving})
	cs.leaving = nil
}

// OneShotDone reports whether a one-shot run is complete.
func (m *Machine) OneShotDone() bool {
	return m.lists.listed && m.cityStop.nothingInFlight() && !m.lists.listing &&
		m.lists.lateResponses == 0 &&
		!m.loader.loading &&
		!m.pools.Busy() && !m.drifts.checkingProvider()
}
