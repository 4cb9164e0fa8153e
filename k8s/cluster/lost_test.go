package cluster

import (
	"errors"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/tools/clientcmd"

	"gcity/internal/eventually"
	"gcity/k8s/tunnel"
)

type network struct {
	l net.Listener

	mu   sync.Mutex
	cut  bool
	open []net.Conn
}

func throughNetwork(t *testing.T, s *Settings) *network {
	t.Helper()
	config, err := clientcmd.LoadFromFile(s.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	n := &network{}
	if n.l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.l.Close(); n.set(true) })
	for _, c := range config.Clusters {
		server, err := url.Parse(c.Server)
		if err != nil {
			t.Fatal(err)
		}
		go n.serve(server.Host) // runs until the listener is closed
		c.TLSServerName = server.Hostname()
		server.Host = n.l.Addr().String()
		c.Server = server.String()
	}
	s.Kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, s.Kubeconfig); err != nil {
		t.Fatal(err)
	}
	return n
}

func (n *network) serve(server string) {
	for {
		in, err := n.l.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", server)
		n.mu.Lock()
		if err != nil || n.cut {
			in.Close()
			n.mu.Unlock()
			continue
		}
		n.open = append(n.open, in, out)
		n.mu.Unlock()
		go func() { _, _ = io.Copy(in, out); in.Close() }()
		go func() { _, _ = io.Copy(out, in); out.Close() }()
	}
}

func (n *network) set(cut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut = cut
	for _, c := range n.open {
		c.Close()
	}
	n.open = nil
}

// While the cluster is unreachable, List returns an error. No agent counts as ended.
func TestLostCluster(t *testing.T) {
	s := settings(t)
	n := throughNetwork(t, &s)
	p := open(t, t.TempDir(), s)
	before, err := p.Start(t.Context(), spec(p.o.City, "a", "exec cat"))
	if err != nil {
		t.Fatal(err)
	}
	n.set(true)
	var first error
	eventually.True(t, "the cluster is lost", func() bool {
		_, first = p.List(t.Context())
		return first != nil
	})
	want := regexp.MustCompile(`^the state of the city's pods has been unknown since \d\d:\d\d:\d\d; retry at \d\d:\d\d:\d\d: `)
	if !want.MatchString(first.Error()) {
		t.Error(first)
	}
	var broken error
	eventually.True(t, "the stream cannot be opened", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		broken = p.find("a").broken
		return broken != nil
	})
	if strings.Contains(broken.Error(), "program in the pod") {
		t.Errorf("reason of the stream: got %v", broken)
	}
	n.set(false)
	eventually.True(t, "the session is alive", func() bool {
		all, err := p.List(t.Context())
		return err == nil && len(all) == 1 && all[0].ID == before.ID && all[0].Alive && all[0].Silent.IsZero()
	})
	select {
	case x := <-p.Exits():
		t.Errorf("got an exit: %+v", x)
	default:
	}
}

// If the stream is lost while a text is being typed, the error says so.
func TestLostWhileTyping(t *testing.T) {
	near, far := net.Pipe()
	defer far.Close()
	mux, err := tunnel.Client(near)
	if err != nil {
		t.Fatal(err)
	}
	l := &link{mux: mux}
	if got := l.typed(io.EOF); got != io.EOF {
		t.Errorf("with a stream: %v", got)
	}
	mux.Close()
	if got := l.typed(io.EOF); !errors.Is(got, io.EOF) || !strings.Contains(got.Error(), "connection to the pod was lost") {
		t.Errorf("without a stream: %v", got)
	}
	if got := l.typed(nil); got != nil {
		t.Errorf("after success: %v", got)
	}
}
