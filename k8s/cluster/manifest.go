package cluster

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"sigs.k8s.io/yaml"

	"gcity/k8s/tunnel"
	"gcity/session"
)

// Labels, annotations and fixed values in the manifests of gcity's pods.
const (
	labelCity    = "gcity.dev/city"    // hash of the city's folder
	labelSession = "gcity.dev/session" // hash of the session's name
	noteSpec     = "gcity.dev/spec"    // a note as JSON
	container    = "agent"
	graceSeconds = 30
)

type note struct {
	Name        string              `json:"name"`
	Agent       string              `json:"agent"`
	City        string              `json:"city"`
	ID          string              `json:"id"`
	Fingerprint session.Fingerprint `json:"fingerprint"`
	// as configured; the cluster may change the image in the manifest. "" = unknown
	Image string `json:"image,omitempty"`
}

// manifest returns the pod for a session. The pod does not contain the agent's command and environment, which are sent
// through the stream.
func (s *Settings) manifest(spec *session.Spec) (*corev1.Pod, error) {
	data, err := json.Marshal(note{spec.Name, spec.Agent, spec.City, spec.ID, spec.Fingerprint,
		s.Image})
	if err != nil {
		return nil, err
	}
	resources, err := s.resources()
	if err != nil {
		return nil, err
	}
	name := podName(spec.City, spec.Name)
	mounts := []corev1.VolumeMount{
		{Name: "gcity", MountPath: tunnel.Folder},
		{Name: "city", MountPath: spec.City},
	}
	volumes := []corev1.Volume{empty("gcity"), empty("city")}
	if !within(spec.City, spec.Dir) {
		mounts = append(mounts, corev1.VolumeMount{Name: "work", MountPath: spec.Dir})
		volumes = append(volumes, empty("work"))
	}
	grace, no := int64(graceSeconds), false
	pod := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: s.Namespace,
			Labels: map[string]string{
				labelCity:                      cityLabel(spec.City),
				labelSession:                   name,
				"app.kubernetes.io/managed-by": "gcity",
			},
			Annotations: map[string]string{
				noteSpec: string(data),
				"cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
			},
		},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, TerminationGracePeriodSeconds: &grace,
			NodeSelector: s.NodeSelector, ServiceAccountName: s.ServiceAccount,
			AutomountServiceAccountToken: &no, EnableServiceLinks: &no,
			Volumes:        volumes,
			InitContainers: []corev1.Container{s.installer(mounts[:1])},
			Containers:     []corev1.Container{s.agent(mounts, resources)},
		},
	}
	if s.Pod != "" {
		if pod, err = s.merge(pod); err != nil {
			return nil, err
		}
	}
	setEnvironment(pod, spec.City)
	return pod, nil
}

func (s *Settings) installer(mounts []corev1.VolumeMount) corev1.Container {
	return corev1.Container{
		Name: "gcity", Image: s.ToolsImage,
		ImagePullPolicy: corev1.PullPolicy(s.PullPolicy),
		Command:         []string{"/gcity-pod", "install"},
		VolumeMounts:    mounts,
		// if the container fails, the pod's status contains its last output
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
}

func (s *Settings) agent(
	mounts []corev1.VolumeMount,
	resources corev1.ResourceRequirements,
) corev1.Container {
	return corev1.Container{
		Name: container, Image: s.Image, ImagePullPolicy: corev1.PullPolicy(s.PullPolicy),
		Command: []string{tunnel.Binary, "serve"}, Resources: resources, VolumeMounts: mounts,
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
	}
}

func empty(name string) corev1.Volume {
	return corev1.Volume{
		Name:         name,
		VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}},
	}
}

func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

func (s *Settings) resources() (corev1.ResourceRequirements, error) {
	out := corev1.ResourceRequirements{
		Requests: corev1.ResourceList{},
		Limits:   corev1.ResourceList{},
	}
	for _, q := range []struct {
		key, value string
		list       corev1.ResourceList
		name       corev1.ResourceName
	}{
		{"cpu_request", s.CPURequest, out.Requests, corev1.ResourceCPU},
		{"mem_request", s.MemRequest, out.Requests, corev1.ResourceMemory},
		{"cpu_limit", s.CPULimit, out.Limits, corev1.ResourceCPU},
		{"mem_limit", s.MemLimit, out.Limits, corev1.ResourceMemory},
	} {
		if q.value == "" {
			continue
		}
		amount, err := resource.ParseQuantity(q.value)
		if err != nil {
			return out, fmt.Errorf(
				"%s = %q is not a Kubernetes quantity, such as \"500m\" or \"1Gi\"",
				s.source(q.key),
				q.value,
			)
		}
		q.list[q.name] = amount
	}
	return out, nil
}

// merge merges the user's pod file into a pod. It returns an error if the file changes a field that gcity sets.
func (s *Settings) merge(pod *corev1.Pod) (*corev1.Pod, error) {
	text, err := os.ReadFile(s.Pod)
	if err != nil {
		return nil, fmt.Errorf("cannot read the pod file: %w; correct %s", err, s.source("pod"))
	}
	patch, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, fmt.Errorf("the pod file %s is not YAML: %w", s.Pod, err)
	}
	base, err := json.Marshal(pod)
	if err != nil {
		return nil, err
	}
	data, err := strategicpatch.StrategicMergePatch(base, patch, corev1.Pod{})
	if err != nil {
		return nil, fmt.Errorf("cannot merge the pod file %s: %w", s.Pod, err)
	}
	out := &corev1.Pod{}
	if err := json.Unmarshal(data, out); err != nil {
		return nil, fmt.Errorf("the pod file %s is not a pod: %w", s.Pod, err)
	}
	if what := conflict(pod, out); what != "" {
		return nil, fmt.Errorf(
			"the pod file %s sets %s; gcity sets this itself, so remove it from the file",
			s.Pod,
			what,
		)
	}
	return out, nil
}

func conflict(want, got *corev1.Pod) string {
	switch {
	case got.Name != want.Name || got.Namespace != want.Namespace:
		return "metadata.name or metadata.namespace"
	case got.Spec.RestartPolicy != want.Spec.RestartPolicy:
		return "spec.restartPolicy"
	}
	for k, v := range want.Labels {
		if got.Labels[k] != v {
			return "metadata.labels." + k
		}
	}
	if got.Annotations[noteSpec] != want.Annotations[noteSpec] {
		return "metadata.annotations." + noteSpec
	}
	for i := range got.Spec.Containers {
		c := &got.Spec.Containers[i]
		if c.Name != container {
			continue
		}
		if strings.Join(c.Command, " ") != strings.Join(want.Spec.Containers[0].Command, " ") ||
			len(c.Args) > 0 {
			return "the command of the container " + container
		}
		return ""
	}
	return "spec.containers, without the container " + container
}
