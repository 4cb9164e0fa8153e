package cluster

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
)

// eventsFrom is how long a start waits before it watches the pod's events. Most starts finish earlier.
const eventsFrom = time.Second

// followEvents records warnings that the pod's status does not contain. Without permission to watch events, it records
// none.
func followEvents(ctx context.Context, p *Provider, pod *corev1.Pod) {
	select {
	case <-ctx.Done():
		return
	case <-time.After(eventsFrom):
	}
	w, err := p.client.CoreV1().Events(pod.Namespace).Watch(ctx, metav1.ListOptions{
		FieldSelector: fields.Set{
			"involvedObject.uid": string(pod.UID), "type": corev1.EventTypeWarning,
		}.String(),
	})
	if err != nil {
		p.o.Logger.Warn("cannot watch the events for a pod", "pod", pod.Name, "error", err)
		return
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		// the pod's status already contains the scheduler's latest reason
		warning, ok := event.Object.(*corev1.Event)
		if !ok || warning.Reason == "FailedScheduling" {
			continue
		}
		p.mu.Lock()
		if e := p.pods[pod.Name]; e != nil && e.pod.UID == pod.UID {
			e.event = warning.Reason + ": " + warning.Message
			p.changed()
		}
		p.mu.Unlock()
	}
}
