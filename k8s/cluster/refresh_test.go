package cluster

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"gcity/internal/eventually"
	"gcity/session"
	"gcity/session/protocol"
)

// The List of a slowPod blocks until answer is closed.
type slowPod struct {
	session.Provider
	asked  chan struct{}
	answer chan struct{}
}

func (s *slowPod) List(context.Context) ([]session.Status, error) {
	s.asked <- struct{}{}
	<-s.answer
	return nil, nil
}

// A session does not end because of an outdated List response.
func TestListDuringStart(t *testing.T) {
	pod := &slowPod{asked: make(chan struct{}, 10), answer: make(chan struct{})}
	socket, err := net.Listen("unix", filepath.Join(t.TempDir(), "pod.sock"))
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: protocol.NewServer(
		func(context.Context, protocol.OpenRequest) (protocol.Opened, error) {
			return protocol.Opened{Name: "pod", Provider: pod}, nil
		})}
	go func() { _ = server.Serve(socket) }() // runs until the test closes the server
	defer server.Close()
	client, err := protocol.NewClient(t.Context(), protocol.ClientOptions{
		Dial: func(context.Context) (net.Conn, error) {
			return net.Dial("unix", socket.Addr().String())
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	eventually.Receive(t, "the list of the new stream", pod.asked)
	e := &entry{note: note{Name: "a", ID: "1"}, pod: &corev1.Pod{}, starting: true}
	e.link = &link{Client: client}
	p := &Provider{pods: map[string]*entry{"pod": e}, moved: make(chan struct{})}
	refreshed := make(chan struct{})
	go func() {
		p.refresh(t.Context(), "pod", e.link)
		close(refreshed)
	}()
	eventually.Receive(t, "a list", pod.asked)
	p.mu.Lock()
	e.starting = false // the agent has been started in the meantime
	p.mu.Unlock()
	close(pod.answer)
	eventually.Receive(t, "the end of the refresh", refreshed)
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.exit != nil {
		t.Errorf("got an exit of the session: %+v", e.exit)
	}
}
