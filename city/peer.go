package city

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"gcity/events"
	"gcity/mail"
)

// Peer is the program that sends a command.
type Peer struct {
	// "" = unknown
	Actor  string
	From   string // "pid 4242", "tcp 192.0.2.7:4711"
	Remote bool   // connected over TCP
	Agent  bool   // the peer belongs to an agent's session
	Tenant bool   // the peer acts for a tenant of the supervisor
}

// String returns the peer in the form of events.Event.EmittedBy, or "" for the zero value.
func (p Peer) String() string {
	if p.From == "" {
		return p.Actor
	}
	return strings.TrimSpace(fmt.Sprintf("%s (%s)", p.Actor, p.From))
}

// Name returns the peer's name as the actor of events and in reasons. It is "operator" if the peer is unknown, or if
// the name in its environment is invalid or is that of a component of gcity.
func (p Peer) Name() string {
	if !p.Agent && (slices.Contains(componentNames(), p.Actor) || CheckBy(p.Actor) != nil) {
		return "operator"
	}
	return cmp.Or(p.Actor, "operator")
}

// Address returns the TCP address in the form of events.Event.Peer, or "" for a local peer.
func (p Peer) Address() string {
	if p.Remote {
		return p.From
	}
	return ""
}

// AsActor returns the event with the peer as its actor.
func (p Peer) AsActor(e events.Event) events.Event {
	e.Actor, e.Peer = p.Name(), p.Address()
	return e
}

// SessionHeader names the session that a request comes from. Only a session helper may set it, because the helper
// forwards the requests of its sessions (session.Forwarder). From other processes, the header is ignored.
const SessionHeader = "Gcity-Session"

// PeerOfSession returns the sender of a forwarded request. agent is "" if the session is unknown.
func PeerOfSession(id, agent string) Peer {
	return Peer{Actor: agent, From: "session " + id, Agent: agent != ""}
}

type peerKey struct{}

// A process cannot claim one of these names through its environment.
func componentNames() []string { return []string{"controller", "supervisor", "log"} }

// WithPeer returns a context for commands that p sends.
func WithPeer(ctx context.Context, p Peer) context.Context {
	return context.WithValue(ctx, peerKey{}, p)
}

// PeerOf returns the peer that sends the commands of a context. The zero value means gcity itself.
func PeerOf(ctx context.Context) Peer {
	p, _ := ctx.Value(peerKey{}).(Peer)
	return p
}

func isReportedBySelf(kind string) bool {
	return slices.Contains([]string{
		events.BeadCreated, events.BeadUpdated, events.BeadClosed, events.BeadImported,
		events.StoreRestored,
		events.RigAdded, events.RigRemoved,
	}, kind)
}

// Signed returns a command with a checked author. It can fill in a missing author. It rejects an author that the peer
// must not name, and events of types that only gcity writes.
func Signed(c Command, p Peer) (Command, error) {
	var err error
	switch c := c.(type) {
	case Emit:
		if err := c.Event.Check(); err != nil {
			return nil, Errorf(Invalid, "%v", err)
		}
		if err := events.Reserved(c.Event.Type); err != nil &&
			(p.Remote || !isReportedBySelf(c.Event.Type)) {
			return nil, Errorf(Invalid, "%v", err)
		}
		c.Event.Actor, err = p.sign(c.Event.Actor)
		c.Event.Actor = cmp.Or(c.Event.Actor, "operator")
		c.Event.EmittedBy, c.Event.Peer = cmp.Or(p.String(), c.Event.Actor), ""
		return c, err
	case Fire:
		c.By, err = p.signBy(c.By)
		return c, err
	case EndRun:
		c.By, err = p.signBy(c.By)
		return c, err
	case Acknowledge:
		c.By, err = p.signBy(c.By)
		return c, err
	case Decide:
		c.By, err = p.signAgent(c.By)
		return c, err
	case SlingWork:
		c.By, err = p.signAgent(c.By)
		return c, err
	case CreateBead:
		switch from := c.Sender(); {
		case p.Agent && from == mail.Person:
			c.Bead = mail.WithSender(c.Bead, p.Actor)
		case p.Remote && slices.Contains(componentNames(), from):
			return nil, Errorf(Forbidden, "this request comes from %s, so it cannot send mail as "+
				"%q, which is a component of gcity", p, from)
		}
		return c, nil
	case DrainAck:
		if p.Agent && c.Agent != p.Actor {
			return nil, Errorf(Forbidden, "this command comes from %s, so it cannot report that "+
				"agent %q has finished", p, c.Agent)
		}
	}
	return c, nil
}

// signAgent is like sign, but lets programs outside all sessions name anyone.
func (p Peer) signAgent(name string) (string, error) {
	if p.Agent {
		return p.sign(name)
	}
	return name, nil
}

// signBy is like sign, but lets programs outside all sessions name anyone except "controller".
func (p Peer) signBy(name string) (string, error) {
	if p.Agent || name == "controller" {
		return p.sign(name)
	}
	if p.Remote && name == "" {
		return p.Actor, nil
	}
	return name, nil
}

// sign returns the author's name, with a default for "". It returns an error if the peer must not use the name. gcity
// itself can use any name, even "".
func (p Peer) sign(name string) (string, error) {
	switch {
	case p == Peer{}:
		return name, nil
	case !p.Agent && slices.Contains(componentNames(), p.Actor):
		return "", Errorf(Forbidden, "only gcity itself can act as "+
			"%q: unset GC_AGENT and GC_AUTOMATION", p.Actor)
	case p.Actor == "" && name != "controller":
		return cmp.Or(name, "operator"), nil
	case name != "" && name != p.Actor:
		return "", Errorf(Forbidden, "this command comes from %s, so "+
			"it cannot name %q as its author; omit the name", p, name)
	}
	return p.Actor, nil
}
