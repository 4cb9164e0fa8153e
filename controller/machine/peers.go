package machine

import (
	"time"

	"gcity/controller/effect"
)

// peers are the peers of commands that came over TCP, so that the events that a command causes say where it came
// from.
type peers struct {
	now     string            // of the command that is being taken
	waiting map[uint64]string // by the id of a command that is not answered yet
}

// commandFrom takes a command, and notes where it came from.
func (m *Machine) commandFrom(now time.Time, in effect.Command) {
	if in.Peer.Remote {
		if m.peers.waiting == nil {
			m.peers.waiting = map[uint64]string{}
		}
		m.peers.now, m.peers.waiting[in.ID] = in.Peer.From, in.Peer.From
	}
	m.command(now, in.ID, in.Cmd)
	m.peers.now = ""
}

// stamp writes into an event where the command came from that caused it.
func (p *peers) stamp(f effect.Effect) effect.Effect {
	switch f := f.(type) {
	case effect.Record:
		f.Event.Peer = p.now
		for _, a := range f.Answers {
			if from, ok := p.waiting[a.ID]; ok {
				f.Event.Peer = from
				delete(p.waiting, a.ID)
			}
		}
		return f
	case effect.Emit:
		f.Event.Peer = p.waiting[f.ID]
		delete(p.waiting, f.ID)
		return f
	case effect.Reply:
		delete(p.waiting, f.Answer.ID)
	}
	return f
}
