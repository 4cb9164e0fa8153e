package cluster

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"gcity/internal/eventually"
	"gcity/k8s/tunnel"
	"gcity/session"
)

// The cluster of this provider refuses each connection.
func unreachable(t *testing.T) (*Provider, *entry) {
	t.Helper()
	config := &rest.Config{Host: "http://127.0.0.1:1"}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	p := &Provider{
		o:      Options{City: "/city", Settings: Settings{Namespace: "gc"}, Logger: testLogger(t)},
		config: config, client: client, life: t.Context(),
		pods: map[string]*entry{}, moved: make(chan struct{}),
	}
	e := &entry{note: note{Name: "a", Agent: "a", City: "/city", ID: "1"}, silent: time.Now()}
	e.pod = &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: podName("/city", "a"), UID: "u"}}
	e.pod.Spec.NodeName = "n1"
	e.pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: container,
		State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	p.pods[e.pod.Name] = e
	return p, e
}

// If a term ends between two attempts to open a stream, the next term opens the stream.
func TestTermEndsBetweenAttempts(t *testing.T) {
	p, e := unreachable(t)
	ctx, cancel := context.WithCancel(t.Context())
	e.worker = true
	done := make(chan struct{})
	go func() { p.keep(ctx, e); close(done) }()
	eventually.True(t, "an attempt has failed", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return e.broken != nil
	})
	cancel()
	<-done
	if e.worker {
		t.Error("the entry still has a worker")
	}
	e.worker = true
	if p.keep(ctx, e); e.worker {
		t.Error("a worker that began after its term is still running")
	}
}

// A provider that only observes asks the pod not to replace the controller's stream.
func TestStreamOfObserver(t *testing.T) {
	commands := make(chan []string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		commands <- r.URL.Query()["command"]
		w.WriteHeader(http.StatusForbidden)
	}))
	defer server.Close()
	for observe, want := range map[bool]string{false: "connect", true: "observe"} {
		p, e := unreachable(t)
		p.o.Observe, p.config = observe, &rest.Config{Host: server.URL}
		client, err := kubernetes.NewForConfig(p.config)
		if err != nil {
			t.Fatal(err)
		}
		p.client = client
		if _, err := p.connect(t.Context(), e); err == nil {
			t.Error("got no error")
		}
		got := eventually.Receive(t, "the request arrives", commands)
		if !slices.Equal(got, []string{tunnel.Binary, want}) {
			t.Errorf("observe %v: got the command %q, want %s", observe, got, want)
		}
	}
}

// The gcity-pod of an earlier version rejects an observer with its usage.
func TestObserverOfOlderPod(t *testing.T) {
	said := "gcity-pod: this program runs in gcity's pods; its commands are serve, connect and install"
	if err := refusal(errors.New(said)); !strings.Contains(err.Error(), "too old") {
		t.Error(err)
	}
	other := errors.New("no route to host")
	if err := refusal(other); !errors.Is(err, other) {
		t.Error(err)
	}
}

// Before the first list of the pods, the provider does not report that a session does not exist.
func TestCallsBeforeFirstList(t *testing.T) {
	p, e := unreachable(t)
	delete(p.pods, e.pod.Name)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	calls := map[string]func(context.Context) error{
		"Stop":        func(ctx context.Context) error { return p.Stop(ctx, "a", time.Second) },
		"Acknowledge": func(ctx context.Context) error { return p.Acknowledge(ctx, "a", "1") },
		"Look":        func(ctx context.Context) error { _, err := p.Look(ctx, "a"); return err },
		"Send":        func(ctx context.Context) error { return p.Send(ctx, "a", "text") },
		"Output":      func(ctx context.Context) error { _, err := p.Output(ctx, "a", 0); return err },
		"Capture":     func(ctx context.Context) error { _, err := p.Capture(ctx, "a", "1"); return err },
	}
	for name, call := range calls {
		if err := call(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("%s without a response: %v", name, err)
		}
	}
	p.down = errors.New("no route to host")
	for name, call := range calls {
		if err := call(t.Context()); !errors.Is(err, p.down) {
			t.Errorf("%s without the cluster: %v", name, err)
		}
	}
	p.down, p.synced = nil, true
	for name, call := range calls {
		err := call(t.Context())
		if idempotent := name == "Stop" || name == "Acknowledge"; idempotent && err != nil ||
			!idempotent && !errors.Is(err, session.ErrNotFound) {
			t.Errorf("%s without a pod: %v", name, err)
		}
	}
}

// Even with force, a controller without the Lease deletes no pod.
func TestForceWithoutLease(t *testing.T) {
	p, e := unreachable(t)
	p.down = errors.New("another controller runs this city")
	if err := giveUp(t.Context(), p, e.pod); err == nil || !strings.Contains(err.Error(), p.down.Error()) {
		t.Error(err)
	}
}

// If a new controller finds a pod and cannot open its stream, it reports the reason.
func TestReasonOfFoundPod(t *testing.T) {
	_, e := unreachable(t)
	e.broken = errors.New("no route to host")
	got := e.reason(time.Now())
	if !strings.Contains(got, "its pod on node n1 has had no stream since ") || !strings.Contains(got, "(no route to host)") {
		t.Errorf("reason %q", got)
	}
	if e.starting = true; e.reason(time.Now()) != "" {
		t.Errorf("while it starts: got %q", e.reason(time.Now()))
	}
}

// While the stream to a pod cannot be opened, calls that show the terminal return the reason immediately.
func TestTerminalWithoutStream(t *testing.T) {
	p, e := unreachable(t)
	p.synced, e.broken = true, errors.New("no route to host")
	wantTerminalError(t, p, e.reason(time.Now()))
	e.broken = nil
	p.synced, p.down = false, errors.New("another controller runs this city")
	wantTerminalError(t, p, unavailable(p).Error())
}

func wantTerminalError(t *testing.T, p *Provider, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), eventually.Timeout)
	defer cancel()
	for name, call := range map[string]func() error{
		"Attach": func() error { _, err := p.Attach(ctx, "a", 80, 24); return err },
		"Output": func() error { _, err := p.Output(ctx, "a", 0); return err },
		"Watch": func() (err error) {
			for _, err = range p.Watch(ctx, "a") {
				break
			}
			return err
		},
	} {
		if err := call(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
}

// The cluster of this provider accepts each request. requests receives the methods.
func accepting(t *testing.T) (p *Provider, e *entry, requests chan string) {
	t.Helper()
	requests = make(chan string, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests <- r.Method
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"Status","apiVersion":"v1","status":"Success"}`))
	}))
	t.Cleanup(server.Close)
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	p, e = unreachable(t)
	p.client, p.synced, p.until = client, true, time.Now().Add(time.Hour)
	return p, e, requests
}

// A stop of a failed start ends when the pod no longer exists, although Start has not returned yet.
func TestStopOfFailedStart(t *testing.T) {
	p, e, requests := accepting(t)
	// the stream is still open, but the pod is being deleted
	e.starting, e.exit, e.link = true, &session.Exit{}, &link{}
	stopped := make(chan error, 1)
	go func() { stopped <- p.Stop(t.Context(), "a", time.Second) }()
	if got := eventually.Receive(t, "the request to delete the pod", requests); got != http.MethodDelete {
		t.Errorf("got the request %s", got)
	}
	p.mu.Lock()
	p.removed(e)
	p.mu.Unlock()
	if err := eventually.Receive(t, "the end of the stop", stopped); err != nil {
		t.Error(err)
	}
	if all, err := p.List(t.Context()); err != nil || len(all) > 0 {
		t.Errorf("got %+v, %v", all, err)
	}
}

// A start that waits for the end of the previous session's pod shows that reason.
func TestStartWaitsForPreviousPod(t *testing.T) {
	p, e, _ := accepting(t)
	e.exit = &session.Exit{}
	e.pod.DeletionTimestamp = &metav1.Time{Time: time.Now()}
	waits, cleared := make(chan string, 10), make(chan error, 1)
	ctx := session.WithProgress(t.Context(), func(why string) { waits <- why })
	go func() { cleared <- p.clear(ctx, "a") }()
	want := "waiting until the pod " + e.pod.Name + " of its previous session has ended; " +
		"it has been terminating since " + e.pod.DeletionTimestamp.Format(time.TimeOnly)
	if why := eventually.Receive(t, "the reason", waits); why != want {
		t.Errorf("got %q, want %q", why, want)
	}
	p.mu.Lock()
	p.removed(e)
	p.mu.Unlock()
	if err := eventually.Receive(t, "the end of the wait", cleared); err != nil {
		t.Error(err)
	}
}

// If the pod of a failed start cannot be deleted, List shows its session, so that the controller acknowledges it.
func TestUndeletedPodOfFailedStart(t *testing.T) {
	p, e := unreachable(t)
	p.synced, e.starting = true, true
	p.down = errors.New("no route to host")
	p.deletePod(e.pod)
	all, err := p.List(t.Context())
	if err != nil || len(all) != 1 {
		t.Fatalf("got %+v, %v", all, err)
	}
	if x := all[0].Exit; all[0].Alive || x == nil || !x.Asked || x.ID != "1" {
		t.Errorf("got %+v with the exit %+v", all[0], x)
	}
	if err := p.Acknowledge(t.Context(), "a", "1"); err == nil {
		t.Error("Acknowledge: got no error, although the cluster is unavailable")
	}
}

// A session whose start has failed counts as running until its pod no longer exists.
func TestPodOfFailedStart(t *testing.T) {
	s := settings(t)
	p := open(t, t.TempDir(), s)
	pods, name := p.client.CoreV1().Pods(s.Namespace), podName(p.o.City, "a")
	sp := spec(p.o.City, "a", "exec cat")
	sp.Dir = filepath.Join(p.o.City, "missing") // its files cannot be copied, so the start fails
	ended := make(chan error, 2)
	go func() {
		_, err := p.Start(t.Context(), sp)
		ended <- err
	}()
	finalizers := func(names string) func() bool {
		return func() bool {
			_, err := pods.Patch(t.Context(), name, types.MergePatchType,
				[]byte(`{"metadata":{"finalizers":`+names+`}}`), metav1.PatchOptions{})
			return err == nil
		}
	}
	// the API server does not remove a pod that has a finalizer
	eventually.True(t, "the pod has a finalizer", finalizers(`["gcity.test/hold"]`))
	eventually.True(t, "the pod is being deleted", func() bool {
		pod, err := pods.Get(t.Context(), name, metav1.GetOptions{})
		return err == nil && pod.DeletionTimestamp != nil
	})
	if all, err := p.List(t.Context()); err != nil || len(all) != 1 || !all[0].Alive || all[0].Exit != nil {
		t.Errorf("while the pod is being deleted: got %+v, %v", all, err)
	}
	go func() {
		err := p.Stop(t.Context(), "a", time.Second)
		if _, found := pods.Get(t.Context(), name, metav1.GetOptions{}); err == nil && !apierrors.IsNotFound(found) {
			err = errors.New("the pod still exists after Stop")
		}
		ended <- err
	}()
	eventually.True(t, "the pod has no finalizer", finalizers("null"))
	for range 2 {
		if err := eventually.Receive(t, "Start or Stop ends", ended); err != nil && !errors.Is(err, session.ErrCommand) {
			t.Error(err)
		}
	}
	if all, err := p.List(t.Context()); err != nil || len(all) > 0 {
		t.Errorf("after Stop: got %+v, %v", all, err)
	}
}

// The session of a pod on a lost node counts as running until it is killed with force.
func TestForceOnLostNode(t *testing.T) {
	s := settings(t)
	p := open(t, t.TempDir(), s)
	sp := spec(p.o.City, "a", "exec cat")
	pod, err := p.o.Settings.manifest(&sp)
	if err != nil {
		t.Fatal(err)
	}
	pod.Spec.NodeName = "lost" // without a kubelet, nothing confirms the end of the pod
	pods := p.client.CoreV1().Pods(s.Namespace)
	if _, err := pods.Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the session is found", func() bool {
		all, err := p.List(t.Context())
		return err == nil && len(all) == 1 && all[0].Alive && strings.Contains(all[0].Reason, "node lost")
	})
	soon, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	if err := p.Stop(soon, "a", time.Second); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Stop: %v", err)
	}
	if all, err := p.List(t.Context()); err != nil || len(all) != 1 || !all[0].Alive ||
		!strings.Contains(all[0].Reason, "terminating") {
		t.Errorf("after Stop: got %+v, %v", all, err)
	}
	if err := p.Stop(session.WithForce(t.Context(), true), "a", 0); err != nil {
		t.Errorf("Stop with force: %v", err)
	}
	if all, err := p.List(t.Context()); err != nil || len(all) != 1 || all[0].Alive {
		t.Errorf("after Stop by force: got %+v, %v", all, err)
	}
}
