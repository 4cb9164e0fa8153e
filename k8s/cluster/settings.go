// Package cluster implements a session provider that runs sessions as pods in a Kubernetes cluster. In each pod, a
// program owns the agent's terminal (package pod).
//
// # Concurrency
//
// A Provider is safe for concurrent use. Close stops its goroutines.
package cluster

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// Settings contains the [session.k8s] table of a city.
type Settings struct {
	Kubeconfig string `json:"kubeconfig"` // "" = the default of kubectl
	Context    string `json:"context"`    // "" = the current context
	Namespace  string `json:"namespace"`

	Image      string `json:"image"`       // must contain the agent's programs
	ToolsImage string `json:"tools_image"` // must contain gcity-pod
	PullPolicy string `json:"image_pull_policy"`

	CPURequest string `json:"cpu_request"`
	CPULimit   string `json:"cpu_limit"`
	MemRequest string `json:"mem_request"`
	MemLimit   string `json:"mem_limit"`

	NodeSelector   map[string]string `json:"node_selector"`
	ServiceAccount string            `json:"service_account"`
	Pod            string            `json:"pod"` // path of a file that is merged into each pod

	// position of each value in the configuration, by key; the method source uses it
	Origins map[string]string `json:"origins"`
}

// ReadSettings parses the settings. For missing settings, it uses the environment variables of Gas City.
func ReadSettings(data []byte) (Settings, error) {
	var s Settings
	if len(data) > 0 {
		if err := json.Unmarshal(data, &s); err != nil {
			return s, fmt.Errorf("cannot parse the settings in [session.k8s]: %w", err)
		}
	}
	s.Image = cmp.Or(s.Image, os.Getenv("GC_K8S_IMAGE"))
	s.Context = cmp.Or(s.Context, os.Getenv("GC_K8S_CONTEXT"))
	s.Namespace = cmp.Or(s.Namespace, os.Getenv("GC_K8S_NAMESPACE"), "gc")
	s.ServiceAccount = cmp.Or(s.ServiceAccount, os.Getenv("GC_K8S_SERVICE_ACCOUNT"))
	s.CPURequest = cmp.Or(s.CPURequest, os.Getenv("GC_K8S_CPU_REQUEST"), "500m")
	s.MemRequest = cmp.Or(s.MemRequest, os.Getenv("GC_K8S_MEM_REQUEST"), "1Gi")
	s.CPULimit = cmp.Or(s.CPULimit, os.Getenv("GC_K8S_CPU_LIMIT"), "2")
	s.MemLimit = cmp.Or(s.MemLimit, os.Getenv("GC_K8S_MEM_LIMIT"), "4Gi")
	s.PullPolicy = cmp.Or(s.PullPolicy, os.Getenv("GC_K8S_IMAGE_PULL_POLICY"))
	s.ToolsImage = cmp.Or(s.ToolsImage, os.Getenv("GC_K8S_TOOLS_IMAGE"))
	s.Pod = cmp.Or(s.Pod, os.Getenv("GC_K8S_POD"))
	switch {
	case s.Image == "":
		return s, errors.New("no image is set for the pods; set image in [session.k8s], or " +
			"GC_K8S_IMAGE")
	case s.ToolsImage == "":
		return s, errors.New(
			"no image that contains gcity-pod is set; set tools_image in [session.k8s], or " +
				"GC_K8S_TOOLS_IMAGE",
		)
	}
	return s, nil
}

// source returns where a key's value was set: its position in the configuration, or the environment variable.
func (s *Settings) source(key string) string {
	if at := s.Origins[key]; at != "" {
		return at + ": session.k8s." + key
	}
	return "GC_K8S_" + strings.ToUpper(key)
}

func (s *Settings) restConfig() (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = s.Kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: s.Context}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).
		ClientConfig()
	if err != nil {
		return nil, fmt.Errorf(
			"no cluster is configured: %w; set kubeconfig and context in [session.k8s], or "+
				"KUBECONFIG and GC_K8S_CONTEXT",
			err,
		)
	}
	config.QPS, config.Burst = 50, 100
	config.UserAgent = "gcity-session-k8s"
	return config, nil
}

// cityLabel returns the label of a city's pods. It depends only on the city's folder.
func cityLabel(city string) string {
	sum := sha256.Sum256([]byte(city))
	return hex.EncodeToString(sum[:8])
}

// podName returns the name of a session's pod. It depends only on the session, so that the API server rejects a second
// pod.
func podName(city, name string) string {
	sum := sha256.Sum256([]byte(city + "\x00" + name))
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return '-'
	}, name)
	return "gc-" + strings.Trim(
		clean[:min(len(clean), 40)],
		"-",
	) + "-" + hex.EncodeToString(
		sum[:5],
	)
}
