package machine

import (
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/lifecycle"
	"gcity/events"
)

// shutdown starts the stop of the city. If leave is true, only the controller ends, and the agents continue.
func (m *Machine) shutdown(now time.Time, leave bool) {
	if m.ending != running {
		return
	}
	m.step.Changed = true
	m.commands.refuseAll(m.loader.asking, city.Unavailable, "the city is being stopped")
	m.commands.refuseAll(m.loader.waiting, city.Unavailable, "the city is being stopped")
	m.loader.asking, m.loader.waiting = nil, nil
	m.loader.refuseGroups(city.Unavailable, "the city is being stopped")
	for _, a := range m.order {
		m.commands.refuse(a, city.Unavailable, "the city is being stopped")
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

// quiet reports whether no effect on an agent or a run is in flight and no event is queued.
func (fn *cityStop) quiet() bool {
	if len(fn.m.journal.queue) > 0 {
		return false
	}
	for _, a := range fn.m.order {
		if a.phase.InFlight() {
			return false
		}
	}
	return fn.m.runs.Quiet()
}

func (fn *cityStop) lastOp() uint64 {
	var last uint64
	for _, a := range fn.m.order {
		last = max(last, a.phase.Turn())
	}
	return last
}

// seenEmpty completes the stop of the city if a list that is newer than all stops shows no running session.
func (fn *cityStop) seenEmpty(now time.Time, turn uint64) {
	if fn.m.ending != stopAgents {
		return
	}
	if !fn.quiet() {
		fn.early = true
		return
	}
	for _, a := range fn.m.order {
		if a.phase.State() != lifecycle.Absent || a.phase.Turn() > turn {
			return
		}
	}
	fn.end(now, "all agents have stopped")
}

// end answers the commands that stop the city. The loop ends after this step.
func (fn *cityStop) end(now time.Time, msg string) {
	fn.m.ending = ended
	fn.by, fn.waits, fn.m.step.Changed = now.Add(effect.ShutdownLimit),
		[]string{"waiting for the last operations to finish"}, true
	fn.m.texts.GiveUpAll(now)
	fn.m.journal.release(time.Time{})
	for i := range fn.leaving {
		if fn.gaveUp {
			fn.leaving[i].Err = &city.Error{Code: city.Unavailable,
				Message: "cannot stop the city: " + msg + "; " + LookFor}
			continue
		}
		fn.leaving[i].Receipt.Message = msg
	}
	fn.m.step.Do(effect.Record{Event: events.Event{Type: events.ControllerStopped,
		Actor: effect.ActorController, Message: msg}, Answers: fn.leaving})
	fn.leaving = nil
}

// OneShotDone reports whether a one-shot run is complete.
func (m *Machine) OneShotDone() bool {
	return m.lists.listed && m.cityStop.quiet() && !m.lists.listing && m.lists.lateAnswers == 0 &&
		!m.loader.loading &&
		!m.pools.Busy() && !m.drifts.checkingProvider()
}
