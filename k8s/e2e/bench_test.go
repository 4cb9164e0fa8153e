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

// BenchmarkStart starts 30 bare pods and then 30 agents, and measures the time until the last one runs.
func BenchmarkStart(b *testing.B) {
	const n = 30
	for b.Loop() {
		c := newCity(b, strings.Replace(manyAgents(n), `"2s"`, `"30s"`, 1))
		began := time.Now()
		for i := range n {
			if _, err := c.client.CoreV1().Pods(c.namespace).Create(b.Context(), barePod(i), metav1.CreateOptions{}); err != nil {
				b.Fatal(err)
			}
		}
		eventually.True(b, "all pods run", func() bool {
			list, err := c.client.CoreV1().Pods(c.namespace).List(b.Context(), metav1.ListOptions{})
			if err != nil {
				b.Fatal(err)
			}
			running := 0
			for _, p := range list.Items {
				if p.Status.Phase == corev1.PodRunning {
					running++
				}
			}
			return running == n
		})
		bare := time.Since(began)
		now := int64(0)
		if err := c.client.CoreV1().Pods(c.namespace).DeleteCollection(b.Context(),
			metav1.DeleteOptions{GracePeriodSeconds: &now}, metav1.ListOptions{}); err != nil {
			b.Fatal(err)
		}
		eventually.True(b, "no pod runs", func() bool { return len(c.processes("sleep 1000000")) == 0 && c.pods() == 0 })
		began = time.Now()
		c.start()
		eventually.True(b, "all agents run", func() bool { return c.running() == n }, c.state)
		agents := time.Since(began)
		b.ReportMetric(bare.Seconds(), "bare-s")
		b.ReportMetric(agents.Seconds(), "agents-s")
		b.ReportMetric(agents.Seconds()/bare.Seconds(), "ratio")
	}
}

// barePod is a pod as small as that of an agent, without gcity: an init container and a container.
func barePod(i int) *corev1.Pod {
	no := false
	box := corev1.Container{Name: "install", Image: "docker.io/local/box:1",
		ImagePullPolicy: corev1.PullNever, Command: []string{"true"}}
	main := box
	main.Name, main.Command = "agent", []string{"sleep", "1000000"}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("bare-%d", i)},
		Spec: corev1.PodSpec{
			NodeName: "localhost", HostNetwork: true, RestartPolicy: corev1.RestartPolicyNever,
			AutomountServiceAccountToken: &no, InitContainers: []corev1.Container{box},
			Containers: []corev1.Container{main},
		},
	}
}

// BenchmarkExit kills an agent in a pod and measures the time until the controller's event.
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
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "median-ms")
	b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "max-ms")
}
