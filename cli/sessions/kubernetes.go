package sessions

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"gcity/cli/folder"
	"gcity/config"
	"gcity/session"
)

const helperName = "gcity-session-k8s"

func (h *opener) kubernetes() (session.Provider, func(), error) {
	c := folder.SourceOf(h.Dir).LoadPartial()
	if c == nil {
		return nil, nil, errors.New("cannot read [session.k8s]: the configuration is invalid")
	}
	settings, err := kubernetesSettings(c)
	if err != nil {
		return nil, nil, err
	}
	p, closeIt, err := h.external("k8s",
		externalProgram{session.Plugin, helperPath(), helperName}, settings)
	if errors.Is(err, exec.ErrNotFound) {
		err = fmt.Errorf("%w; `gcity help kubernetes` describes how to install %s", err, helperName)
	}
	return p, closeIt, err
}

func helperPath() string {
	exe, err := os.Executable()
	if err != nil {
		return helperName
	}
	next := filepath.Join(filepath.Dir(exe), helperName)
	if info, err := os.Stat(next); err != nil || !info.Mode().IsRegular() {
		return helperName
	}
	return next
}

// kubernetesSettings omits keys that are not set, because the helper reads those from its environment.
func kubernetesSettings(c *config.City) (json.RawMessage, error) {
	k := c.Session.Kubernetes
	all, origins := map[string]any{}, map[string]string{}
	for name, value := range map[string]string{
		"kubeconfig": k.Kubeconfig, "context": k.Context, "namespace": k.Namespace,
		"image": k.Image, "tools_image": k.ToolsImage, "image_pull_policy": k.ImagePullPolicy,
		"service_account": k.ServiceAccount, "cpu_request": k.CPURequest,
		"mem_request": k.MemRequest, "cpu_limit": k.CPULimit, "mem_limit": k.MemLimit,
		"pod": k.Pod,
	} {
		at, set := c.Origins["session.k8s."+name]
		if set {
			all[name] = value
		}
		if value != "" && set {
			origins[name] = at.String()
		}
	}
	if len(k.NodeSelector) > 0 {
		all["node_selector"] = k.NodeSelector
	}
	if len(origins) > 0 {
		all["origins"] = origins
	}
	settings, err := json.Marshal(all)
	if err != nil {
		return nil, fmt.Errorf("cannot encode [session.k8s]: %w", err)
	}
	return settings, nil
}
