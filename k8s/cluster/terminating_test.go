package cluster

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"gcity/internal/disk"
	"gcity/internal/eventually"
	"gcity/session"
)

// terminatingPod returns a provider in a term, and the entry of a pod that the cluster is deleting.
func terminatingPod(t *testing.T) (*Provider, *entry) {
	t.Helper()
	p, e := unreachable(t)
	p.o.City = t.TempDir()
	e.pod.DeletionTimestamp = &metav1.Time{Time: time.Now().Add(eventually.Timeout)}
	e.pod.DeletionGracePeriodSeconds = new(int64(eventually.Timeout.Seconds()))
	e.deletionSeen = time.Now()
	p.term = &leadership{}
	p.term.ctx, p.term.cancel = context.WithCancel(t.Context())
	t.Cleanup(p.endTerm)
	return p, e
}

// serveController serves the requests for a city's controller. Each request receives the next status code.
func serveController(t *testing.T, city string, codes <-chan int) {
	t.Helper()
	if err := os.Mkdir(filepath.Join(city, ".gc"), 0o700); err != nil {
		t.Fatal(err)
	}
	path, err := disk.SocketPath(filepath.Join(city, ".gc", "controller.sock"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v0/agent/a/drain" || r.Header.Get(sessionHeader) != "1" {
			t.Errorf("got the request %s of session %q", r.URL, r.Header.Get(sessionHeader))
		}
		w.WriteHeader(<-codes)
	})}
	go func() { _ = server.Serve(l) }() // runs until the server is closed
	t.Cleanup(func() { server.Close() })
}

// A rejected request to drain an agent is repeated until it succeeds.
func TestDrainIsRequestedAgain(t *testing.T) {
	p, e := terminatingPod(t)
	codes := make(chan int)
	serveController(t, p.o.City, codes)
	p.mu.Lock()
	askToFinish(p, e)
	p.mu.Unlock()
	for _, code := range []int{http.StatusConflict, http.StatusOK} {
		select {
		case codes <- code:
		case <-time.After(eventually.Timeout):
			t.Fatalf("the request that receives %d has not arrived", code)
		}
	}
	p.term.wg.Wait() // after the success, there is no request
	if !e.drained {
		t.Error("the agent does not count as drained")
	}
}

// The grace period of a pod is measured with the local clock, which may be ahead of the API server's clock.
func TestDrainWithAFastClock(t *testing.T) {
	p, e := terminatingPod(t)
	about, err := json.Marshal(note{Name: "a", Agent: "a", City: p.o.City, ID: "1"})
	if err != nil {
		t.Fatal(err)
	}
	pod := e.pod.DeepCopy()
	pod.Name, pod.Annotations = podName(p.o.City, "a"), map[string]string{noteSpec: string(about)}
	pod.DeletionTimestamp = &metav1.Time{Time: time.Now().Add(-time.Hour)}
	p.pods[pod.Name] = e
	e.deletionSeen, e.worker = time.Time{}, true
	codes := make(chan int)
	serveController(t, p.o.City, codes)
	p.mu.Lock()
	p.saw(pod)
	reason := e.reason(time.Now())
	p.mu.Unlock()
	// the kill time by the server's clock has passed, so the reason does not announce it
	if !strings.Contains(reason, "waiting until node n1 confirms its end") ||
		strings.Contains(reason, "--force") {
		t.Errorf("got the reason %q", reason)
	}
	select {
	case codes <- http.StatusOK:
	case <-time.After(eventually.Timeout):
		t.Fatal("the request has not arrived")
	}
	p.term.wg.Wait()
}

// A pod that still exists after its grace period might run on a lost node.
func TestReasonAfterTheGracePeriod(t *testing.T) {
	_, e := terminatingPod(t)
	late := time.Now().Add(eventually.Timeout + overdue)
	if reason := e.reason(late); !strings.Contains(reason, "--force a") {
		t.Errorf("got the reason %q", reason)
	}
}

// If a term ends before the controller accepts the request to drain an agent, the next term sends it again.
func TestDrainIsRequestedInNextTerm(t *testing.T) {
	p, e := terminatingPod(t)
	p.mu.Lock()
	askToFinish(p, e) // no controller is running
	p.mu.Unlock()
	p.endTerm()
	if e.drained {
		t.Error("the agent counts as drained")
	}
}

// If the cluster deletes a pod, the exit in the pod's list has the cluster's reason. After a stop, it counts as
// requested.
func TestReasonOfListedExit(t *testing.T) {
	for _, asked := range []bool{false, true} {
		p, e := terminatingPod(t)
		e.asked = asked
		e.pod.Status.Reason, e.pod.Status.Message = "Evicted", "the node is low on memory"
		st := &session.Status{ID: "1", Exit: &session.Exit{ID: "1", Asked: true}}
		p.mu.Lock()
		p.heard(e, st)
		p.mu.Unlock()
		want := session.Exit{ID: "1", Lost: true, Reason: "Evicted: the node is low on memory"}
		if asked {
			want = session.Exit{ID: "1", Asked: true}
		}
		if *e.exit != want {
			t.Errorf("asked %v: got %+v", asked, *e.exit)
		}
	}
}

// An agent is interrupted before the end of the pod's grace period, and at the latest when Kubernetes kills the pod.
func TestInterruptTime(t *testing.T) {
	seen := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		pod, deletion *int64
		want          time.Duration
	}{
		{nil, nil, 18 * time.Second},
		{new(int64(30)), new(int64(30)), 18 * time.Second},
		{new(int64(60)), new(int64(60)), 48 * time.Second},
		{new(int64(30)), new(int64(5)), 5 * time.Second},
	} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{TerminationGracePeriodSeconds: c.pod}}
		pod.DeletionGracePeriodSeconds = c.deletion
		e := &entry{pod: pod, deletionSeen: seen}
		if got := e.interruptTime().Sub(seen); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}

// A container that ended because its pod was deleted has no reason of its own.
func TestReasonOfDeletedPod(t *testing.T) {
	for reason, want := range map[string]string{
		"Completed": "the pod was deleted", "ContainerStatusUnknown": "the pod was deleted", "OOMKilled": "OOMKilled",
	} {
		pod := &corev1.Pod{}
		pod.DeletionTimestamp = &metav1.Time{}
		pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: container,
			State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: reason}}}}
		if _, _, got := ended(pod); got != want {
			t.Errorf("%s: got %q, want %q", reason, got, want)
		}
	}
}
