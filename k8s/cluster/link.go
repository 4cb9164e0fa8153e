package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/yamux"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/remotecommand"

	"gcity/k8s/tunnel"
	"gcity/session"
	"gcity/session/protocol"
)

type link struct {
	*protocol.Client
	mux *yamux.Session
}

// typed adds to the error of a call that types a text that the stream was lost, if so.
func (l *link) typed(err error) error {
	if err == nil || !l.mux.IsClosed() {
		return err
	}
	return fmt.Errorf("the connection to the pod was lost, so the text may have been typed "+
		"completely, partly or not at all (%w)", err)
}

func (p *Provider) keep(ctx context.Context, e *entry) {
	defer func() { // the next term starts another worker
		p.mu.Lock()
		e.worker = e.worker && ctx.Err() == nil
		p.mu.Unlock()
	}()
	wait, lost := retryFirst, false
	for ctx.Err() == nil {
		began := time.Now()
		l, err := p.connect(ctx, e)
		if err == nil {
			p.serveLink(ctx, e, l, lost)
			lost = false
		} else if ctx.Err() == nil {
			err = p.explain(err, "get")
		}
		p.mu.Lock()
		e.link, e.broken = nil, err
		if e.silent.IsZero() {
			e.silent = time.Now()
		}
		done := e.gone || over(e.pod) || !runs(e.pod)
		e.worker = !done
		if !done && !lost {
			lost = true
			signal(p)
		}
		p.changed()
		p.mu.Unlock()
		if done || ctx.Err() != nil {
			return
		}
		p.o.Logger.Warn("the stream to a pod was lost",
			"pod", podName(p.o.City, e.note.Name), "error", err, "retry_in", wait)
		if time.Since(began) > time.Minute {
			wait = retryFirst
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
		}
		wait = min(2*wait, retryLast)
	}
}

func (p *Provider) connect(ctx context.Context, e *entry) (*link, error) {
	stream, err := p.exec(ctx, podName(p.o.City, e.note.Name))
	if err != nil {
		return nil, err
	}
	mux, err := tunnel.Client(stream)
	if err != nil {
		stream.Close()
		return nil, err
	}
	limit, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	client, err := protocol.NewClient(limit, protocol.ClientOptions{
		Dial: func(context.Context) (net.Conn, error) { return mux.Open() },
		Open: protocol.OpenRequest{City: p.o.City}, Logger: p.o.Logger,
	})
	if err != nil {
		mux.Close()
		return nil, refusal(cmp.Or(stream.err(),
			fmt.Errorf("the program in the pod does not respond: %w", err)))
	}
	return &link{Client: client, mux: mux}, nil
}

// refusal returns the error of a stream that cannot be opened. A gcity-pod of an earlier version does not know the
// command of observers.
func refusal(err error) error {
	if strings.Contains(err.Error(), tunnel.Usage) {
		return errors.New("the gcity-pod in the pod is too old for commands that only observe " +
			"the city; restart the agent with a newer tools_image")
	}
	return err
}

// serveLink serves a stream to a pod until the stream ends. If reopened is true, the stream replaces a lost stream.
func (p *Provider) serveLink(ctx context.Context, e *entry, l *link, reopened bool) {
	defer l.mux.Close()
	defer l.Client.Close()
	stop := context.AfterFunc(ctx, func() { l.mux.Close() })
	defer stop()
	p.mu.Lock()
	e.link, e.broken, e.silent = l, nil, time.Time{}
	p.changed()
	name := e.pod.Name
	p.mu.Unlock()
	p.refresh(ctx, name, l)
	if reopened {
		signal(p)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case x := <-l.Exits():
				p.ended(ctx, e, l, x)
			case <-l.mux.CloseChan():
				return
			}
		}
	})
	if !p.o.Observe { // the pod sends the agent's commands to the controller's helper
		p.serveAgent(l, e.note.ID)
	}
	wg.Wait()
}

// ended records an exit that the pod has reported. Before that, it reads the last output from the pod.
func (p *Provider) ended(ctx context.Context, e *entry, l *link, x session.Exit) {
	if x.ID != e.note.ID {
		return
	}
	limit, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	data, err := l.Capture(limit, x.Name, x.ID)
	p.mu.Lock()
	defer p.mu.Unlock()
	if err == nil {
		p.keepOutput(x.Name, output{x.ID, data})
	}
	p.end(e, e.reported(x))
}

// reported returns an exit that the pod has reported. If gcity did not request a stop, and the cluster is deleting the
// pod, the exit has the cluster's reason. The caller must hold mu.
func (e *entry) reported(x session.Exit) session.Exit {
	if e.pod.DeletionTimestamp != nil && !e.asked {
		_, _, why := ended(e.pod)
		x.Asked, x.Lost, x.Reason = false, true, why
	}
	return x
}

// keepOutput keeps the two newest outputs of each name. The caller must hold mu.
func (p *Provider) keepOutput(name string, o output) {
	all := p.kept[name]
	for _, k := range all {
		if k.id == o.id {
			return
		}
	}
	all = append(all, o)
	p.kept[name] = all[max(0, len(all)-2):]
}

// keptOf returns the kept outputs of a name, or only the newest one while a new session is running. The caller must
// hold mu.
func (p *Provider) keptOf(name string, e *entry) []output {
	all := p.kept[name]
	if e != nil && len(all) > 0 && all[len(all)-1].id != e.note.ID {
		all = all[len(all)-1:]
	}
	return all
}

// stream is a connection through an exec in a pod.
type stream struct {
	io.Reader
	io.WriteCloser
	stop context.CancelFunc

	mu     sync.Mutex
	reason error
	said   strings.Builder
}

func (s *stream) Close() error {
	s.stop()
	return s.WriteCloser.Close()
}

// err returns why the exec has ended. It returns nil while the exec is running, or if the reason is unknown.
func (s *stream) err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if said := strings.TrimSpace(s.said.String()); said != "" {
		return errors.New(said)
	}
	return s.reason
}

func (s *stream) note(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.said.Len() < 4<<10 {
		s.said.Write(b)
	}
	return len(b), nil
}

type writer func([]byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

// exec opens the stream to a pod. In the pod, it executes a program that connects the stream to the holder of the
// agent's terminal. The stream of an observer does not replace the controller's stream. A gcity-pod without the command
// observe rejects an observer.
func (p *Provider) exec(ctx context.Context, name string) (*stream, error) {
	command := "connect"
	if p.o.Observe {
		command = "observe"
	}
	r := p.client.CoreV1().
		RESTClient().
		Post().
		Resource("pods").
		Namespace(p.o.Settings.Namespace).
		Name(name).
		SubResource("exec").
		VersionedParams(&corev1.PodExecOptions{
			Container: container, Command: []string{tunnel.Binary, command},
			Stdin: true, Stdout: true, Stderr: true,
		}, scheme.ParameterCodec)
	e, err := remotecommand.NewWebSocketExecutor(p.config, http.MethodGet, r.URL().String())
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	fromPod, out := io.Pipe()
	in, toPod := io.Pipe()
	s := &stream{Reader: fromPod, WriteCloser: toPod, stop: stop}
	go func() {
		defer stop()
		err := e.StreamWithContext(
			ctx,
			remotecommand.StreamOptions{Stdin: in, Stdout: out, Stderr: writer(s.note)},
		)
		s.mu.Lock()
		s.reason = err
		s.mu.Unlock()
		out.CloseWithError(io.EOF)
		in.CloseWithError(io.ErrClosedPipe)
	}()
	return s, nil
}
