package cluster

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"gcity/internal/eventually"
	"gcity/session"
	"gcity/session/sessiontest"
)

func settings(t *testing.T) Settings {
	t.Helper()
	kubeconfig := os.Getenv("GCITY_TEST_KUBECONFIG")
	if kubeconfig == "" {
		t.Skip(cmp.Or(os.Getenv("GCITY_TEST_NO_CLUSTER"), "there is no cluster: run make test-k8s"))
	}
	file := filepath.Join(t.TempDir(), "pod.yaml")
	text := "spec: {nodeName: localhost, hostNetwork: true}\n" // a pod without its own network starts faster
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return Settings{
		Kubeconfig: kubeconfig, Namespace: "gcity-test", PullPolicy: "Never", Pod: file,
		Image: "docker.io/local/box:1", ToolsImage: "docker.io/local/gcity-pod:1",
	}
}

func open(t *testing.T, city string, s Settings) *Provider {
	t.Helper()
	return openAs(t, Options{City: city, Settings: s})
}

func admin(t *testing.T, s Settings) kubernetes.Interface {
	t.Helper()
	s.Context = ""
	config, err := s.restConfig()
	if err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func openAs(t *testing.T, o Options) *Provider {
	t.Helper()
	o.Logger = testLogger(t)
	p, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	s, client := o.Settings, admin(t, o.Settings)
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}}
	if _, err := client.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	eventually.True(t, "the namespace has a service account", func() bool {
		_, err := client.CoreV1().ServiceAccounts(s.Namespace).Get(t.Context(), "default", metav1.GetOptions{})
		return err == nil
	})
	t.Cleanup(func() {
		if p.life.Err() != nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), eventually.Timeout)
		defer cancel()
		now := int64(1)
		err := client.CoreV1().Pods(s.Namespace).DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &now}, metav1.ListOptions{LabelSelector: p.selector()})
		if err != nil {
			t.Error(err)
		}
		p.Close()
	})
	return p
}

var ids atomic.Int64

func spec(city, name, command string) session.Spec {
	id := fmt.Sprintf("%s-%d-%d", name, os.Getpid(), ids.Add(1))
	return session.Spec{
		Name: name, Agent: name, City: city, ID: id, Command: command, Dir: city,
		Env:  []string{"PATH=/usr/local/bin:/usr/bin:/bin", "TERM=xterm-256color", "GC_SESSION_ID=" + id},
		Cols: 80, Rows: 24,
	}
}

func TestConformance(t *testing.T) {
	s := settings(t)
	net := throughNetwork(t, &s)
	sessiontest.Run(t, sessiontest.Harness{
		Remote: true,
		New:    func(t *testing.T) session.Provider { return open(t, t.TempDir(), s) },
		Spec: func(_ *testing.T, p session.Provider, name string) session.Spec {
			return spec(p.(*Provider).o.City, name, sessiontest.Agent)
		},
		Lose: func(*testing.T, session.Provider) func() {
			net.set(true)
			return func() { net.set(false) }
		},
		Adopt: func(t *testing.T, p session.Provider) session.Provider {
			old := p.(*Provider)
			old.Close()
			next := open(t, old.o.City, s)
			// On a busy machine, List stops waiting for the streams.
			eventually.True(t, "all pods have a stream", func() bool {
				all, err := next.List(t.Context())
				return err == nil && !slices.ContainsFunc(all, func(st session.Status) bool { return !st.Silent.IsZero() })
			})
			return next
		},
	})
}

// The pod contains the files of the working folder. The city's folder exists at the same path.
func TestFiles(t *testing.T) {
	city := t.TempDir()
	p := open(t, city, settings(t))
	dir := filepath.Join(city, "work")
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "sub", "prompt.md"), []byte("do it\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := spec(city, "a", "cat sub/prompt.md; exec cat")
	s.Dir = dir
	if _, err := p.Start(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the agent reads its prompt", func() bool {
		text, err := p.Output(t.Context(), "a", 0)
		return err == nil && strings.Contains(text, "do it")
	})
}

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// If a pod is deleted with kubectl, exactly one exit is reported, with a reason.
func TestPodIsDeleted(t *testing.T) {
	p := open(t, t.TempDir(), settings(t))
	st, err := p.Start(t.Context(), spec(p.o.City, "a", "exec cat"))
	if err != nil {
		t.Fatal(err)
	}
	now := int64(1)
	pod := podName(p.o.City, "a")
	if err := p.client.CoreV1().Pods(p.o.Settings.Namespace).Delete(t.Context(), pod, metav1.DeleteOptions{GracePeriodSeconds: &now}); err != nil {
		t.Fatal(err)
	}
	x := eventually.Receive(t, "the end is reported", p.Exits())
	if x.ID != st.ID || !x.Lost || x.Reason == "" {
		t.Errorf("%+v", x)
	}
}

// If a controller dies before it starts the agent of a pod, the next start replaces the pod.
func TestPodWithoutAgent(t *testing.T) {
	s := settings(t)
	p := open(t, t.TempDir(), s)
	sp := spec(p.o.City, "a", "exec cat")
	pod, err := s.manifest(&sp)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.client.CoreV1().Pods(s.Namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if x := eventually.Receive(t, "the end is reported", p.Exits()); x.ID != sp.ID || !x.Lost {
		t.Errorf("%+v", x)
	}
	next, err := p.Start(t.Context(), spec(p.o.City, "a", "exec cat"))
	if err != nil || !next.Alive {
		t.Errorf("%+v, %v", next, err)
	}
}

// If an agent exits immediately, the start succeeds.
func TestEndsAtOnce(t *testing.T) {
	p := open(t, t.TempDir(), settings(t))
	st, err := p.Start(t.Context(), spec(p.o.City, "a", "exit 5"))
	if err != nil {
		t.Fatal(err)
	}
	if x := eventually.Receive(t, "the end is reported", p.Exits()); x.ID != st.ID || x.Code != 5 {
		t.Errorf("%+v", x)
	}
	select {
	case x := <-p.Exits():
		t.Errorf("told again: %+v", x)
	default:
	}
}

// Commands of an agent in a pod reach the controller on behalf of its session.
func TestCommandsOfAgents(t *testing.T) {
	p := open(t, t.TempDir(), settings(t))
	if err := os.MkdirAll(filepath.Join(p.o.City, ".gc"), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(p.o.City, ".gc", "controller.sock"))
	if err != nil {
		t.Fatal(err)
	}
	requests := make(chan *http.Request, 100)
	controller := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests <- r
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("{}"))
	})}
	go func() { _ = controller.Serve(l) }()
	defer controller.Close()
	s := spec(p.o.City, "a", "gc stop; gc event emit it.works; exec cat")
	s.Env = append(s.Env, "GC_CITY_PATH="+p.o.City, "GC_AGENT=a")
	if _, err := p.Start(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	for {
		r := eventually.Receive(t, "the event arrives", requests)
		if got := r.Header.Get(sessionHeader); got != s.ID {
			t.Errorf("%s %s is of session %q, want %q", r.Method, r.URL, got, s.ID)
		}
		if r.URL.Path == "/v0/stop" {
			t.Errorf("%s %s reached the controller", r.Method, r.URL)
		}
		if r.Method == http.MethodPost && r.URL.Path == "/v0/events" {
			return
		}
	}
}

// A start without a suitable node shows the reason.
func TestUnschedulable(t *testing.T) {
	s := settings(t)
	s.Pod = write(t, "spec: {hostNetwork: true}\n")
	s.MemRequest = "900Gi"
	p := open(t, t.TempDir(), s)
	waits := make(chan string, 100)
	ctx, cancel := context.WithCancel(session.WithProgress(t.Context(), func(why string) { waits <- why }))
	ended := make(chan error, 1)
	go func() {
		_, err := p.Start(ctx, spec(p.o.City, "a", "exec cat"))
		ended <- err
	}()
	for {
		why := eventually.Receive(t, "the scheduler's reason is reported", waits)
		if strings.Contains(why, "Unschedulable: ") && strings.Contains(why, "Insufficient memory") {
			break
		}
	}
	cancel()
	if err := eventually.Receive(t, "the start ends", ended); err == nil || !strings.Contains(err.Error(), "Insufficient memory") {
		t.Errorf("%v", err)
	}
}
