package controller

import (
	"strings"
	"time"

	"gcity/city"
	"gcity/events"
)

// beadCommand makes or changes a piece of work.
func (m *machine) beadCommand(id uint64, c city.Command) { m.do(fxBead{id: id, cmd: c}) }

// beadDone takes the result.
func (m *machine) beadDone(in inBead) {
	if in.err != nil {
		m.do(fxAnswer{answer{id: in.id, err: in.err}})
		return
	}
	m.do(fxRecord{
		event: events.Event{Type: in.kind, Actor: operator, Subject: in.bead.ID, Message: in.bead.Title, Payload: payload(map[string]any{"status": in.bead.Status})},
		answers: []answer{{id: in.id, receipt: city.Receipt{
			Message: strings.TrimPrefix(in.kind, "bead.") + " " + in.bead.ID, Bead: &in.bead,
		}}},
	})
	m.count()
}

// count orders the open work to be counted: of all, and of each pool that has no check.
func (m *machine) count() {
	w := &m.work
	if m.conf == nil || m.conf.nowork || w.counting || m.ending != alive {
		return
	}
	var pools []string
	for _, p := range m.poolOrder {
		if p.want.Check == "" && p.want.Max > 0 {
			pools = append(pools, p.name())
		}
	}
	w.counting = true
	m.do(fxCount{pools: pools})
}

func (m *machine) countedWork(now time.Time, in inCounted) {
	w := &m.work
	w.counting = false
	if in.err != nil {
		m.note(&w.lost, "work cannot be counted: "+in.err.Error())
		return
	}
	if in.unchanged {
		return
	}
	if w.counts.Open != in.work.Open || w.counts.InProgress != in.work.InProgress {
		m.changed = true
	}
	w.counts, w.counted = in.work, true
	for _, p := range m.poolOrder {
		if p.want.Check == "" {
			m.size(now, p)
		}
	}
}

// purge removes wisps that have been closed for long enough.
func (m *machine) purge(now time.Time) {
	w := &m.work
	if m.conf.wispEvery == 0 || w.purging || now.Sub(w.purged) < m.conf.wispEvery {
		return
	}
	w.purging, w.purged = true, now
	m.do(fxPurge{older: m.conf.wispTTL})
}
