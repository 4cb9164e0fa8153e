package cluster

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
)

// eventsFrom is the delay between the beginning of a start and the watch for its events. Most starts take less time.
const eventsFrom = time.Second

// followEvents watches the warnings about a new pod until ctx ends. The pod's status does not contain these
// warnings, for example that a volume cannot be mounted. Without permission to watch events, it records no warnings.
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
		// the pod's status contains the newest reason of the scheduler
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
