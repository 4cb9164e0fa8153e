package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"gcity/internal/eventually"
)

// BenchmarkStart measures the start of 30 bare pods, 30 bare pods with an init container, and 30 agents. An agent's pod
// has an init container too.
func BenchmarkStart(b *testing.B) {
	const n = 30
	var plain, bare, agents time.Duration
	for b.Loop() {
		c := newCity(b, strings.Replace(manyAgents(n), `"2s"`, `"30s"`, 1))
		plain += c.startBare(n, false)
		bare += c.startBare(n, true)
		began := time.Now()
		c.start()
		eventually.True(b, "all agents run", func() bool { return c.asked().running() == n }, c.state)
		agents += time.Since(began)
	}
	b.ReportMetric(plain.Seconds()/float64(b.N), "plain-s")
	b.ReportMetric(bare.Seconds()/float64(b.N), "bare-s")
	b.ReportMetric(agents.Seconds()/float64(b.N), "agents-s")
	b.ReportMetric(agents.Seconds()/bare.Seconds(), "ratio")
}

func (c *city) startBare(n int, init bool) time.Duration {
	c.Helper()
	pods := c.client.CoreV1().Pods(c.namespace)
	began := time.Now()
	for i := range n {
		if _, err := pods.Create(c.Context(), barePod(i, init), metav1.CreateOptions{}); err != nil {
			c.Fatal(err)
		}
	}
	eventually.True(c, "all pods run", func() bool {
		list, err := pods.List(c.Context(), metav1.ListOptions{FieldSelector: "status.phase=Running"})
		if err != nil {
			c.Fatal(err)
		}
		return len(list.Items) == n
	})
	took := time.Since(began)
	now := int64(0)
	if err := pods.DeleteCollection(c.Context(), metav1.DeleteOptions{GracePeriodSeconds: &now},
		metav1.ListOptions{}); err != nil {
		c.Fatal(err)
	}
	eventually.True(c, "no pod runs", func() bool {
		return len(c.processes("sleep 1000000")) == 0 && c.pods() == 0
	})
	return took
}

func barePod(i int, init bool) *corev1.Pod {
	no := false
	box := corev1.Container{Name: "install", Image: "docker.io/local/box:1",
		ImagePullPolicy: corev1.PullNever, Command: []string{"true"}}
	main := box
	main.Name, main.Command = "agent", []string{"sleep", "1000000"}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("bare-%d", i)},
		Spec: corev1.PodSpec{
			NodeName: "localhost", HostNetwork: true, RestartPolicy: corev1.RestartPolicyNever,
			AutomountServiceAccountToken: &no, Containers: []corev1.Container{main},
		},
	}
	if init {
		pod.Spec.InitContainers = []corev1.Container{box}
	}
	return pod
}

// BenchmarkExit kills an agent in a pod and measures the time until the controller's event reports it.
func BenchmarkExit(b *testing.B) {
	c := newCity(b, manyAgents(1))
	c.start()
	var took []time.Duration
	last := ""
	for b.Loop() {
		var p process
		eventually.True(b, "the agent runs", func() bool {
			all := c.processes("cat")
			if len(all) == 1 && all[0].session != last && c.running() == 1 {
				p = all[0]
				return true
			}
			return false
		}, c.state)
		began := time.Now()
		kill9(b, p.pid)
		eventually.True(b, "the exit is in the log", func() bool {
			for _, e := range c.events() {
				if e.Type == "agent.crashed" && e.Payload.Session == p.session {
					took = append(took, e.TS.Sub(began))
					return true
				}
			}
			return false
		}, c.state)
		last = p.session
	}
	reportTimes(b, took)
}

// BenchmarkReason measures how long it takes until an agent shows why its pod cannot start.
func BenchmarkReason(b *testing.B) {
	b.Run("Unschedulable", func(b *testing.B) {
		measureReason(b, "Insufficient memory", func(c *city) {
			c.rewrite(`mem_request = "1Mi"`, "mem_request = \"900Gi\"\nmem_limit = \"900Gi\"")
			c.write("pod.yaml", "spec: {hostNetwork: true}\n")
		}, func(pod *corev1.Pod) bool {
			return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
				return c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse
			})
		})
	})
	b.Run("ErrImagePull", func(b *testing.B) {
		measureReason(b, "ErrImagePull", func(c *city) {
			c.rewrite(`image = "docker.io/local/box:1"`, `image = "127.0.0.1:1/nothing:1"`)
			c.rewrite(`"Never"`, `"IfNotPresent"`)
		}, func(pod *corev1.Pod) bool {
			return slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool {
				return c.State.Waiting != nil && c.State.Waiting.Reason == "ErrImagePull"
			})
		})
	})
}

func measureReason(b *testing.B, reason string, change func(*city), failed func(*corev1.Pod) bool) {
	var took []time.Duration
	for b.Loop() {
		c := newCity(b, manyAgents(1))
		change(c)
		pods := c.client.CoreV1().Pods(c.namespace)
		list, err := pods.List(b.Context(), metav1.ListOptions{})
		if err != nil {
			b.Fatal(err)
		}
		w, err := pods.Watch(b.Context(), metav1.ListOptions{ResourceVersion: list.ResourceVersion})
		if err != nil {
			b.Fatal(err)
		}
		c.start()
		for {
			event := eventually.Receive(b, "an event about the pod", w.ResultChan(), c.state)
			pod, ok := event.Object.(*corev1.Pod)
			if !ok {
				b.Fatalf("the watch ended: %+v", event.Object)
			}
			if failed(pod) {
				break
			}
		}
		began := time.Now()
		w.Stop()
		eventually.True(b, "the agent has the reason", func() bool {
			return strings.Contains(c.asked()["a-0"].Reason, reason)
		}, c.state)
		took = append(took, time.Since(began))
		if why := c.must("why", "a-0"); !strings.Contains(why, reason) {
			b.Errorf("want %q in the output of gcity why: %s", reason, why)
		}
	}
	reportTimes(b, took)
}

func reportTimes(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "median-ms")
	b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "max-ms")
}
