package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"gcity/internal/eventually"
)

const endsCity = `[workspace]
name = "ends"
[daemon]
patrol_interval = "500ms"
[session]
provider = "k8s"
[[agents]]
name = "a"
restart = "never"
start_command = '''`

func (c *city) pod() string {
	c.Helper()
	list, err := c.client.CoreV1().Pods(c.namespace).List(c.Context(), metav1.ListOptions{})
	if err != nil || len(list.Items) != 1 {
		c.Fatalf("%d pods, want one: %v", len(list.Items), err)
	}
	return list.Items[0].Name
}

func (c *city) awaitEvent(kind string) string {
	c.Helper()
	var message string
	eventually.True(c, "the event "+kind, func() bool {
		for _, e := range c.events() {
			if e.Type == kind {
				message = e.Message
				return true
			}
		}
		return false
	}, c.state)
	return message
}

// The agent of an evicted pod is asked to finish, and is restarted.
func TestEviction(t *testing.T) {
	c := newCity(t, strings.Replace(endsCity, `"never"`, `"on-failure"`, 1)+
		`until gc agent drain-check; do sleep 1; done; gc agent drain-ack; exec cat'''`+"\n")
	c.start()
	eventually.True(t, "the agent runs", func() bool { return c.running() == 1 }, c.state)
	before := c.agents()["a"].Session.ID
	pod := c.pod()
	if err := c.client.CoreV1().Pods(c.namespace).EvictV1(t.Context(), &policyv1.Eviction{
		ObjectMeta: metav1.ObjectMeta{Name: pod, Namespace: c.namespace},
	}); err != nil {
		t.Fatal(err)
	}
	if got := c.awaitEvent("agent.draining"); !strings.Contains(got, "its pod is terminating: EvictionByEvictionAPI") {
		t.Errorf("draining: %s", got)
	}
	if got := c.awaitEvent("agent.stopped"); got != "drained: reported done" {
		t.Errorf("stopped: %s", got)
	}
	eventually.True(t, "the agent runs in a new pod", func() bool {
		a := c.agents()["a"]
		return a.State == "running" && a.Session != nil && a.Session.ID != before
	}, c.state)
}

// If an agent exceeds its pod's memory limit, gcity shows the reason OOMKilled.
func TestOOM(t *testing.T) {
	c := newCity(t, endsCity+`read -r line; x=0123456789; while :; do x=$x$x; done'''`+"\n")
	c.rewrite(`mem_request = "1Mi"`, "mem_request = \"1Mi\"\nmem_limit = \"64Mi\"")
	c.start()
	eventually.True(t, "the agent runs", func() bool { return c.running() == 1 }, c.state)
	c.must("agent", "nudge", "a", "go")
	if got := c.awaitEvent("agent.stopped"); !strings.Contains(got, "OOMKilled") {
		t.Errorf("stopped: %s", got)
	}
	if why := c.must("why", "a"); !strings.Contains(why, "OOMKilled") {
		t.Errorf("why: %s", why)
	}
}

// If an agent in a deleted pod ignores interrupts, it counts as running until a user kills it with force.
func TestTerminatingPod(t *testing.T) {
	c := newCity(t, strings.Replace(endsCity, `"never"`, `"always"`, 1)+`trap "" INT; exec cat'''`+"\n")
	c.start()
	eventually.True(t, "the agent runs", func() bool { return c.running() == 1 }, c.state)
	before := c.agents()["a"].Session.ID
	pod := c.pod()
	pods := c.client.CoreV1().Pods(c.namespace)
	grace := int64(40)
	if err := pods.Delete(t.Context(), pod, metav1.DeleteOptions{GracePeriodSeconds: &grace}); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the reason is shown", func() bool {
		a := c.agents()["a"]
		return a.Running && a.Session.ID == before && a.State == "draining" &&
			strings.Contains(a.Reason, "its pod is terminating")
	}, c.state)
	c.must("agent", "kill", "--force", "a")
	eventually.True(t, "the agent runs in a new pod", func() bool {
		a := c.agents()["a"]
		return a.State == "running" && a.Session != nil && a.Session.ID != before
	}, c.state)
}

// A city that is stopped during a start waits until the pod no longer exists.
func TestStopDuringStart(t *testing.T) {
	c := newCity(t, endsCity+`exec cat'''`+"\n")
	data, err := os.ReadFile(filepath.Join(c.dir, "pod.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	c.write("pod.yaml", "spec:\n  nodeName: localhost\n  hostNetwork: true\n"+
		"  volumes: [{name: key, secret: {secretName: missing}}]\n"+
		"  containers: [{name: agent, volumeMounts: [{name: key, mountPath: /key}]}]\n")
	c.start()
	eventually.True(t, "the pod waits for its volume", func() bool {
		return strings.Contains(c.agents()["a"].Reason, "FailedMount")
	}, c.state)
	c.must("stop")
	pods, err := c.client.CoreV1().Pods(c.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(pods.Items) > 0 {
		t.Errorf("%d pods after the stop: %v", len(pods.Items), err)
	}
	c.write("pod.yaml", string(data))
	c.start()
	eventually.True(t, "the agent runs", func() bool { return c.running() == 1 }, c.state)
	for _, e := range c.events() {
		if e.Type == "agent.start_failed" {
			t.Errorf("got the event %s: %s", e.Type, e.Message)
		}
	}
}

// A controller that starts with a different image restarts the agents in new pods.
func TestImageChange(t *testing.T) {
	c := newCity(t, endsCity+`exec cat'''`+"\n")
	c.start()
	eventually.True(t, "the agent runs", func() bool { return c.running() == 1 }, c.state)
	before := c.agents()["a"].Session.ID
	c.kill()
	c.rewrite(`image = "docker.io/local/box:1"`, `image = "docker.io/library/busybox:1"`)
	c.start()
	eventually.True(t, "the agent runs in a pod with the new image", func() bool {
		a := c.agents()["a"]
		return a.State == "running" && a.Session != nil && a.Session.ID != before &&
			slices.Contains(a.Session.Details, "image docker.io/library/busybox:1")
	}, c.state)
	if got := c.awaitEvent("agent.stopped"); got != "configuration changed: session.k8s.image changed" {
		t.Errorf("stopped: %s", got)
	}
}
