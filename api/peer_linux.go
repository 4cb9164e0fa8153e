package api

import (
	"context"
	"fmt"
	"net"
	"net/http"

	"gcity/api/socket"
	"gcity/city"
	"gcity/internal/proc"
)

// withPeer returns the context for the commands of a request.
func (s *server) withPeer(r *http.Request) context.Context {
	if city.PeerOf(r.Context()) != (city.Peer{}) {
		return r.Context()
	}
	return city.WithPeer(r.Context(), s.local(r))
}

// execute executes a command for the client of a request.
func (s *server) execute(r *http.Request, c city.Command) (city.Receipt, error) {
	ctx := s.withPeer(r)
	c, err := city.Signed(c, city.PeerOf(ctx))
	if err != nil {
		return city.Receipt{}, err
	}
	return s.city.Do(ctx, c)
}

func (s *server) local(r *http.Request) city.Peer {
	conn, _ := r.Context().Value(connKey{}).(net.Conn)
	cred, err := socket.Credentials(conn)
	if err != nil {
		return city.Peer{}
	}
	if cred.Pid <= 0 { // the process is in another PID namespace
		return city.Peer{From: "a process in another container"}
	}
	sessions := map[string]string{}
	if snap, err := s.city.Snapshot(r.Context()); err == nil {
		for i := range snap.Agents {
			if one := &snap.Agents[i]; one.Session != nil {
				sessions[one.Session.ID] = one.Name
			}
		}
	}
	id := r.Header.Get(city.SessionHeader)
	if id != "" && s.o.Forwards != nil && s.o.Forwards(int(cred.Pid)) {
		return city.PeerOfSession(id, sessions[id])
	}
	actor, agent := proc.Actor(int(cred.Pid),
		func(session string) string { return sessions[session] })
	return city.Peer{Actor: actor, From: fmt.Sprintf("pid %d", cred.Pid), Agent: agent}
}
