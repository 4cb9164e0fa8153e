package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"gcity/internal/disk"
	"gcity/k8s/tunnel"
)

// terminating returns when the deletion of a pod began, when Kubernetes will kill the pod, and why. ok is false if the
// pod is not being deleted.
func terminating(pod *corev1.Pod) (since, until time.Time, why string, ok bool) {
	if pod.DeletionTimestamp == nil {
		return since, until, "", false
	}
	until = pod.DeletionTimestamp.Time
	since = until
	if s := pod.DeletionGracePeriodSeconds; s != nil {
		since = until.Add(-time.Duration(*s) * time.Second)
	}
	_, _, why = ended(pod)
	return since, until, why, true
}

// killTime returns the latest time at which Kubernetes will kill a pod that is being deleted. After a restart of this
// program, it is later than necessary, because the program then sees the deletion late. It does not use the API
// server's times, because the local clock may differ from the server's. The caller must hold mu.
func (e *entry) killTime() time.Time {
	grace := int64(graceSeconds)
	if s := e.pod.DeletionGracePeriodSeconds; s != nil {
		grace = *s
	}
	return e.deletionSeen.Add(time.Duration(grace) * time.Second)
}

// interruptTime returns when the agent in a pod that is being deleted is interrupted, at the latest. See killTime.
func (e *entry) interruptTime() time.Time {
	grace := int64(graceSeconds) // the pod does not know the grace period of its deletion
	if s := e.pod.Spec.TerminationGracePeriodSeconds; s != nil {
		grace = *s
	}
	after, _ := tunnel.EndOfPod(time.Duration(grace) * time.Second)
	at, end := e.deletionSeen.Add(after), e.killTime()
	if end.Before(at) {
		return end
	}
	return at
}

// reason describes the problem of a session, or returns "". A session is alive until the API server confirms that its
// pod is gone. The caller must hold mu.
func (e *entry) reason(now time.Time) string {
	node := "its node"
	if e.pod.Spec.NodeName != "" {
		node = "node " + e.pod.Spec.NodeName
	}
	since, until, why, ok := terminating(e.pod)
	switch {
	case ok && now.Before(e.killTime().Add(overdue)) && !now.Before(until):
		return fmt.Sprintf("its pod has been terminating since %s (%s); waiting until %s confirms "+
			"its end", since.Local().Format(time.TimeOnly), why, node)
	case ok && now.Before(e.killTime().Add(overdue)):
		return fmt.Sprintf("its pod has been terminating since %s and will be killed at %s: %s",
			since.Local().Format(time.TimeOnly), until.Local().Format(time.TimeOnly), why)
	case ok:
		return fmt.Sprintf("its pod has been terminating since %s (%s), and %s has not "+
			"confirmed its "+
			"end, so it might still be running; if the node is lost for good, run "+
			"`gcity agent kill --force %s`", since.Local().Format(time.TimeOnly), why, node,
			e.note.Agent)
	case e.link == nil && !e.silent.IsZero() && !e.starting:
		return fmt.Sprintf("its pod on %s has had no stream since %s%s; it counts as running "+
			"until its end is confirmed", node, e.silent.Format(time.TimeOnly), broken(e.broken))
	}
	return ""
}

func broken(err error) string {
	if err == nil {
		return ""
	}
	return " (" + err.Error() + ")"
}

// overdue is how long a terminating pod may exist after its grace period before it counts as overdue.
const overdue = 10 * time.Second

// askToFinish asks the controller to drain the agent in a pod that is being deleted. It does nothing if gcity itself is
// stopping the pod. The caller must hold mu.
func askToFinish(p *Provider, e *entry) {
	t := p.term
	_, _, why, ok := terminating(e.pod)
	if !ok || t == nil || e.asked || e.drained || e.exit != nil || e.starting || p.o.Observe {
		return
	}
	e.drained = true
	until := e.killTime()
	why = fmt.Sprintf("its pod is terminating: %s; interrupt at %s", why,
		e.interruptTime().Format(time.TimeOnly))
	t.wg.Go(func() { requestDrain(t.ctx, p, e, until, why) })
}

// drainRetry is the interval of the requests to drain an agent. The controller rejects them while it starts, and while
// the agent is not ready.
const drainRetry = time.Second

// requestDrain asks the controller to drain an agent. It repeats a rejected request until the pod's end. If the term
// ends earlier, the next term asks again.
func requestDrain(term context.Context, p *Provider, e *entry, until time.Time, why string) {
	ctx, cancel := context.WithDeadline(term, until)
	defer cancel()
	for last := ""; ; {
		err := drain(ctx, p.o.City, e.note.Agent, e.note.ID, why)
		if err == nil {
			return
		}
		if term.Err() == nil && err.Error() != last {
			last = err.Error()
			p.o.Logger.Warn("cannot ask an agent to finish before its pod ends",
				"agent", e.note.Agent, "error", err, "retry_in", drainRetry)
		}
		select {
		case <-time.After(drainRetry):
		case <-ctx.Done():
		}
		p.mu.Lock()
		e.drained = term.Err() == nil
		done := ctx.Err() != nil || e.exit != nil || e.asked
		p.mu.Unlock()
		if done {
			return
		}
	}
}

func drain(ctx context.Context, city, agent, id, why string) error {
	body, err := json.Marshal(map[string]string{"why": why})
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost,
		"http://city/v0/agent/"+url.PathEscape(agent)+"/drain", bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set(sessionHeader, id)
	transport := controller(city)
	defer transport.CloseIdleConnections()
	resp, err := transport.RoundTrip(r)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 4<<10))
	if err == nil && resp.StatusCode >= http.StatusBadRequest {
		err = errors.New(strings.TrimSpace(string(text)))
	}
	return err
}

func controller(city string) *http.Transport {
	return &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return disk.DialSocket(ctx, filepath.Join(city, ".gc", "controller.sock"))
		},
		DisableCompression: true,
	}
}

// giveUp deletes a pod immediately. It does not wait for the node, where the pod's processes might still be running.
func giveUp(ctx context.Context, p *Provider, pod *corev1.Pod) error {
	if err := p.mayChange(ctx); err != nil {
		return fmt.Errorf("cannot delete the pod %s: %w", pod.Name, err)
	}
	now := int64(0)
	return remove(ctx, p, pod, metav1.DeleteOptions{
		GracePeriodSeconds: &now, Preconditions: &metav1.Preconditions{UID: &pod.UID},
	})
}

// setEnvironment passes the city's path and the pod's grace period to gcity's programs in the pod.
func setEnvironment(pod *corev1.Pod, city string) {
	seconds := int64(graceSeconds)
	if s := pod.Spec.TerminationGracePeriodSeconds; s != nil {
		seconds = *s
	}
	for i := range pod.Spec.Containers {
		if c := &pod.Spec.Containers[i]; c.Name == container {
			c.Env = append(c.Env, corev1.EnvVar{Name: tunnel.Remote, Value: city},
				corev1.EnvVar{Name: tunnel.Grace, Value: strconv.FormatInt(seconds, 10)})
		}
	}
}
