package cluster

import (
	"cmp"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"gcity/session"
)

// waiting returns why a pod is not running yet, or "". final is true if the pod will never run.
func waiting(pod *corev1.Pod) (why string, final bool) {
	st := &pod.Status
	for _, all := range [][]corev1.ContainerStatus{st.InitContainerStatuses, st.ContainerStatuses} {
		for i := range all {
			c := &all[i]
			if t := c.State.Terminated; t != nil && (t.ExitCode != 0 || c.Name == container) {
				return fmt.Sprintf(
					"container %s: %s (exit %d) %s",
					c.Name,
					t.Reason,
					t.ExitCode,
					t.Message,
				), true
			}
			w := c.State.Waiting
			if w == nil {
				continue
			}
			switch w.Reason {
			case "ErrImagePull",
				"ImagePullBackOff",
				"InvalidImageName",
				"ErrImageNeverPull",
				"CreateContainerConfigError",
				"CreateContainerError",
				"RunContainerError":
				return strings.TrimSpace(w.Reason + ": " + w.Message), true
			case "", "PodInitializing", "ContainerCreating":
			default:
				why = strings.TrimSpace(w.Reason + ": " + w.Message)
			}
		}
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return c.Reason + ": " + c.Message, false
		}
	}
	return why, false
}

// waiting returns why a session has not started yet, or "". final is true if the start can never succeed.
func (e *entry) waiting() (why string, final bool) {
	if e.broken != nil {
		why = "cannot open the stream to it: " + e.broken.Error()
		return why, errors.Is(e.broken, session.ErrMissing)
	}
	why, final = waiting(e.pod)
	return cmp.Or(why, e.event), final
}

func progress(pod *corev1.Pod) string {
	switch {
	case pod.Spec.NodeName == "":
		return "the pod is waiting for a node"
	case runs(pod):
		return "the stream to the pod is being opened"
	}
	return "the pod is being prepared (images, containers) on node " + pod.Spec.NodeName
}

func runs(pod *corev1.Pod) bool {
	for i := range pod.Status.ContainerStatuses {
		if c := &pod.Status.ContainerStatuses[i]; c.Name == container {
			return c.State.Running != nil
		}
	}
	return false
}

func over(pod *corev1.Pod) bool {
	return pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
}

// ended derives an exit from the status of a pod. It is for pods that did not report one, for example after an eviction
// or on a lost node.
func ended(pod *corev1.Pod) (code int, signal, reason string) {
	code = -1
	for i := range pod.Status.ContainerStatuses {
		c := &pod.Status.ContainerStatuses[i]
		if t := c.State.Terminated; c.Name == container && t != nil {
			reason = t.Reason
			if t.ExitCode == 137 || t.Signal == 9 {
				signal = "SIGKILL"
			}
		}
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue {
			reason = c.Reason + ": " + c.Message
		}
	}
	if pod.Status.Reason != "" {
		reason = strings.TrimSpace(pod.Status.Reason + ": " + pod.Status.Message)
	}
	vague := []string{"", "Completed", "Error", "ContainerStatusUnknown"}
	if pod.DeletionTimestamp != nil && slices.Contains(vague, reason) {
		reason = "the pod was deleted"
	}
	return code, signal, cmp.Or(reason, "the pod has ended")
}

func isAbout(err error, kind string) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	return details != nil && details.Kind == kind
}

// explain adds advice for users. verb is the API verb of the request.
func (p *Provider) explain(err error, verb string) error {
	return explain(err, verb, p.o.Settings.Namespace, func() []right { return lacking(p.life, p) })
}

// explain adds advice for users to an error of the API server. The function lacking returns the missing permissions.
func explain(err error, verb, namespace string, lacking func() []right) error {
	switch {
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "exceeded quota"):
		return session.Missing(
			fmt.Errorf("the quota of namespace %s is exhausted: %w", namespace, err),
		)
	case apierrors.IsTooManyRequests(err):
		return fmt.Errorf("%w: the API server is overloaded: %w", session.ErrExhausted, err)
	case apierrors.IsInternalError(err) && strings.Contains(err.Error(), "database space exceeded"):
		return fmt.Errorf("%w: the cluster's database is full: %w", session.ErrExhausted, err)
	case apierrors.IsForbidden(err) && strings.Contains(err.Error(),
		"error looking up service account"):
		return session.Missing(fmt.Errorf("the service account of the pods does not "+
			"exist (%w); correct service_account in [session.k8s], or create it", err))
	case apierrors.IsForbidden(err) || denial().MatchString(err.Error()):
		first := denied(err, verb)
		rest := slices.DeleteFunc(lacking(), func(r right) bool { return r == first })
		return notAllowed(namespace, append([]right{first}, rest...), err)
	case apierrors.IsUnauthorized(err):
		return session.Missing(fmt.Errorf("the cluster rejected the credentials (%w); they may "+
			"have expired, so log in again", err))
	case apierrors.IsNotFound(err) && isAbout(err, "namespaces"):
		return session.Missing(fmt.Errorf("namespace %s does not exist; run `kubectl create "+
			"namespace %s`", namespace, namespace))
	case apierrors.IsInvalid(err) || apierrors.IsBadRequest(err):
		return session.Unfit("the cluster rejected the pod: %w", err)
	case unsent(err):
		return session.Missing(fmt.Errorf("cannot reach the cluster: %w; check the kubeconfig "+
			"and the network", err))
	}
	return err
}

// unsent reports whether a request failed before it was sent. Such a request cannot have changed anything.
func unsent(err error) bool {
	var op *net.OpError
	var name *net.DNSError
	var cert *tls.CertificateVerificationError
	return errors.As(err, &op) && op.Op == "dial" || errors.As(err, &name) || errors.As(err, &cert)
}

// since returns the start time of the container, or the pod's creation time if the container is not running.
func since(pod *corev1.Pod) metav1.Time {
	for i := range pod.Status.ContainerStatuses {
		if c := &pod.Status.ContainerStatuses[i]; c.Name == container && c.State.Running != nil {
			return c.State.Running.StartedAt
		}
	}
	return pod.CreationTimestamp
}
