package city

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"gcity/events"
)

// Peer is the program that sends a command.
type Peer struct {
	// the name that its events carry: an agent, an automation, "operator", "api"; "" = it cannot be known
	Actor  string
	From   string // where it is: "pid 4242", "tcp 192.0.2.7:4711"
	Remote bool   // it is connected over TCP
	Agent  bool   // it belongs to an agent's session
	Tenant bool   // it acts for a tenant of the supervisor
}

// String returns the peer as events.Event.EmittedBy has it, "" for the zero one.
func (p Peer) String() string {
	if p.From == "" {
		return p.Actor
	}
	return strings.TrimSpace(fmt.Sprintf("%s (%s)", p.Actor, p.From))
}

// SessionHeader names the session that sent a request. Session helpers set it when they forward requests from agents on
// other machines. It adds no rights: a local process can claim a session through its environment.
const SessionHeader = "Gcity-Session"

// PeerOfSession returns the sender of a forwarded request. The agent is "" if the session is unknown.
func PeerOfSession(id, agent string) Peer {
	return Peer{Actor: agent, From: "session " + id, Agent: agent != ""}
}

type peerKey struct{}

// componentNames returns the actors of the events that gcity writes by itself. The environment of a process cannot
// give it such a name; an agent that has one in city.toml keeps it.
func componentNames() []string { return []string{"controller", "supervisor", "log"} }

// WithPeer returns a context that names the peer of the commands that are done with it.
func WithPeer(ctx context.Context, p Peer) context.Context {
	return context.WithValue(ctx, peerKey{}, p)
}

// PeerOf returns the peer of a context, the zero one if it names none: the command is the program's own.
func PeerOf(ctx context.Context) Peer {
	p, _ := ctx.Value(peerKey{}).(Peer)
	return p
}

// reports are the types that a command of gcity writes itself after it has changed a store or the configuration.
func reports(kind string) bool {
	return slices.Contains([]string{
		events.BeadCreated, events.BeadUpdated, events.BeadClosed, events.BeadImported,
		events.StoreRestored,
		events.RigAdded, events.RigRemoved,
	}, kind)
}

// Signed returns a command with the name of its peer in it. It refuses one that names another actor, and an event of a
// type that belongs to gcity itself.
func Signed(c Command, p Peer) (Command, error) {
	var err error
	switch c := c.(type) {
	case Emit:
		if err := c.Event.Check(); err != nil {
			return nil, &Error{Code: Invalid, Message: err.Error()}
		}
		if err := events.Reserved(c.Event.Type); err != nil &&
			(p.Remote || !reports(c.Event.Type)) {
			return nil, &Error{Code: Invalid, Message: err.Error()}
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
	}
	return c, nil
}

// signBy returns who a command says that it is by. A program outside of all sessions may say what made it ask; an
// agent is itself.
func (p Peer) signBy(name string) (string, error) {
	if p.Agent || name == "controller" {
		return p.sign(name)
	}
	if p.Remote && name == "" {
		return p.Actor, nil
	}
	return name, nil
}

// sign returns the name of the peer, or refuses another one that it gives itself.
func (p Peer) sign(name string) (string, error) {
	switch {
	case p == Peer{}:
		return name, nil
	case !p.Agent && slices.Contains(componentNames(), p.Actor):
		return "", &Error{Code: Forbidden, Message: fmt.Sprintf("only gcity itself acts as %q: "+
			"unset GC_AGENT and GC_AUTOMATION", p.Actor)}
	case p.Actor == "" && name != "controller":
		return cmp.Or(name, "operator"), nil
	case name != "" && name != p.Actor:
		return "", &Error{Code: Forbidden, Message: fmt.Sprintf("this command comes from %s and "+
			"cannot name %q: leave the name out", p, name)}
	}
	return p.Actor, nil
}
