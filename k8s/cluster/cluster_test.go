package cluster

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"gcity/internal/eventually"
	"gcity/session"
	"gcity/session/sessiontest"
)

// settings are those of the test cluster, see k8s/testcluster. The tests are skipped without it.
func settings(t *testing.T) Settings {
	t.Helper()
	kubeconfig := os.Getenv("GCITY_TEST_KUBECONFIG")
	if kubeconfig == "" {
		t.Skip("GCITY_TEST_KUBECONFIG names no cluster: run make test-k8s")
	}
	file := filepath.Join(t.TempDir(), "pod.yaml")
	text := "spec: {nodeName: localhost, hostNetwork: true}\n" // it has no scheduler, and no pod network
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
	p, err := New(Options{City: city, Settings: s, Logger: testLogger(t)})
	if err != nil {
		t.Fatal(err)
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Namespace}}
	if _, err := p.client.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.life.Err() != nil {
			return // the next one has adopted all
		}
		ctx, cancel := context.WithTimeout(context.Background(), eventually.Timeout)
		defer cancel()
		now := int64(1)
		err := p.client.CoreV1().Pods(s.Namespace).DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &now}, metav1.ListOptions{LabelSelector: p.selector()})
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
	send := func(t *testing.T, p session.Provider, name, text string) {
		if err := p.Send(t.Context(), name, text); err != nil {
			t.Fatal(err)
		}
	}
	sessiontest.Run(t, sessiontest.Harness{
		Remote: true,
		New:    func(t *testing.T) session.Provider { return open(t, t.TempDir(), s) },
		Spec: func(_ *testing.T, p session.Provider, name string) session.Spec {
			return spec(p.(*Provider).o.City, name, `while read -r line; do case $line in
				crash) exit 7 ;;
				work) (while :; do :; done) & ;;
				*) printf '%s\n' "$line" ;;
			esac; done`)
		},
		Crash: func(t *testing.T, p session.Provider, name string) { send(t, p, name, "crash") },
		Work:  func(t *testing.T, p session.Provider, name string) { send(t, p, name, "work") },
		Adopt: func(t *testing.T, p session.Provider) session.Provider {
			old := p.(*Provider)
			old.Close()
			return open(t, old.o.City, s)
		},
	})
}

// The files of the working folder are in the pod, and so is the city's folder by its path.
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

// What a cluster refuses is said in words of the user's settings.
func TestRefusals(t *testing.T) {
	for _, c := range []struct {
		change func(*Settings)
		want   string
	}{
		{func(s *Settings) { s.Namespace = "nowhere" }, "kubectl create namespace nowhere"},
		{func(s *Settings) { s.Image = "docker.io/local/nothing:1" }, "ErrImageNeverPull"},
		{func(s *Settings) { s.MemLimit = "lots" }, "GC_K8S_MEM_LIMIT"},
		{func(s *Settings) { s.Context = "gcity" }, "verbs: ["},
		{func(s *Settings) { s.Pod = write(t, "spec: {restartPolicy: Always}\n") }, "spec.restartPolicy"},
	} {
		s := settings(t)
		open(t, t.TempDir(), s) // makes the namespace
		c.change(&s)
		p, err := New(Options{City: t.TempDir(), Settings: s, Logger: testLogger(t)})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		_, err = p.Start(ctx, spec(p.o.City, "a", "cat"))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
		cancel()
		p.Close()
	}
}

func write(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// A pod that is deleted behind gcity's back is an end with a reason, and it is told once.
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
	x := eventually.Receive(t, "the end is told", p.Exits())
	if x.ID != st.ID || !x.Lost || x.Reason == "" {
		t.Errorf("%+v", x)
	}
}

// A pod whose controller died before it started the agent is an end, and makes room for the next start.
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
	if x := eventually.Receive(t, "the end is told", p.Exits()); x.ID != sp.ID || !x.Lost {
		t.Errorf("%+v", x)
	}
	next, err := p.Start(t.Context(), spec(p.o.City, "a", "exec cat"))
	if err != nil || !next.Alive {
		t.Errorf("%+v, %v", next, err)
	}
}

// An agent that ends at once has been started, and its end is told once.
func TestEndsAtOnce(t *testing.T) {
	p := open(t, t.TempDir(), settings(t))
	st, err := p.Start(t.Context(), spec(p.o.City, "a", "exit 5"))
	if err != nil {
		t.Fatal(err)
	}
	if x := eventually.Receive(t, "the end is told", p.Exits()); x.ID != st.ID || x.Code != 5 {
		t.Errorf("%+v", x)
	}
	select {
	case x := <-p.Exits():
		t.Errorf("told again: %+v", x)
	default:
	}
}
