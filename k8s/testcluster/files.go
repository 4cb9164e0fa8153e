package main

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"gcity/k8s/image"
)

const (
	// the API server uses it as the kubelet's address, and would reject a loopback IP address
	node       = "localhost"
	adminToken = "admin"
)

type object = map[string]any

func (c *cluster) writeFiles() error {
	for _, dir := range []string{"logs", "certs", "cni"} {
		if err := os.MkdirAll(c.path(dir), 0o700); err != nil {
			return err
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return err
	}
	files := map[string]any{
		"ports.json": c.ports,
		"sa.key":     pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}),
		// the user gcity has only the rights that a test grants in a Role
		"tokens.csv":        "admin,admin,admin,system:masters\ngcity,gcity,gcity,\n",
		"kubeconfig":        c.kubeconfig(),
		"kubelet.json":      c.kubelet(),
		"containerd.toml":   c.containerd(),
		"audit.json":        c.audit(),
		"cni/pods.conflist": c.cni(),
	}
	for name, content := range files {
		var data []byte
		switch content := content.(type) {
		case string:
			data = []byte(content)
		case []byte:
			data = content
		default:
			if data, err = json.MarshalIndent(content, "", "  "); err != nil {
				return err
			}
		}
		if err := os.WriteFile(c.path(name), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// kubeconfig returns the kubeconfig of the cluster. Each user (admin, gcity, expired) has a context with the same name.
func (c *cluster) kubeconfig() object {
	users := []object{}
	contexts := []object{}
	for _, name := range []string{"admin", "gcity", "expired"} {
		users = append(users, object{"name": name, "user": object{"token": name}})
		context := object{"cluster": "test", "user": name}
		contexts = append(contexts, object{"name": name, "context": context})
	}
	return object{
		"apiVersion": "v1", "kind": "Config", "current-context": "admin",
		"clusters": []object{{"name": "test", "cluster": object{
			"server": c.api(), "certificate-authority": c.path("certs", "apiserver.crt"),
		}}},
		"users": users, "contexts": contexts,
	}
}

func (c *cluster) kubelet() object {
	return object{
		"apiVersion": "kubelet.config.k8s.io/v1beta1", "kind": "KubeletConfiguration",
		"authentication": object{
			"anonymous": object{"enabled": true}, "webhook": object{"enabled": false},
		},
		"authorization":            object{"mode": "AlwaysAllow"},
		"containerRuntimeEndpoint": "unix://" + c.path("containerd.sock"),
		"address":                  "127.0.0.1", "port": c.ports.Kubelet, "readOnlyPort": 0,
		"healthzPort": 0, "podLogsDir": c.path("podlogs"), "maxPods": 200,
		"cgroupDriver": "cgroupfs", "cgroupsPerQOS": false, "enforceNodeAllocatable": []string{},
		"failSwapOn": false, "failCgroupV1": false,
		// a full disk on this machine must not cause evictions
		"evictionHard":                object{"memory.available": "50Mi"},
		"imageGCHighThresholdPercent": 100,
		"nodeStatusUpdateFrequency":   "2s",
		// kubelet 1.34 can crash in doPodResizeAction if a container ends while its pod starts
		"featureGates": object{"InPlacePodVerticalScaling": false},
	}
}

func (c *cluster) containerd() string {
	const text = `version = 2
root = %[1]q
state = %[2]q
[grpc]
address = %[3]q
[plugins."io.containerd.grpc.v1.cri"]
sandbox_image = "docker.io/local/pause:1"
restrict_oom_score_adj = true # not every machine lets runc lower it
netns_mounts_under_state_dir = true # so that down removes them
[plugins."io.containerd.grpc.v1.cri".cni]
bin_dir = "/usr/lib/cni"
conf_dir = %[4]q
[plugins."io.containerd.grpc.v1.cri".containerd]
snapshotter = %[5]q
`
	return fmt.Sprintf(text, c.path("containerd", "root"), c.path("containerd", "state"),
		c.path("containerd.sock"), c.path("cni"), "overlayfs")
}

// audit returns the audit policy. It logs all requests by the user gcity, and requests by system:masters about pods and
// leases, without bodies.
func (c *cluster) audit() object {
	return object{
		"apiVersion": "audit.k8s.io/v1", "kind": "Policy",
		"omitStages": []string{"RequestReceived"},
		"rules": []object{
			{"level": "Metadata", "users": []string{"gcity"}},
			{"level": "Metadata", "userGroups": []string{"system:masters"}, "resources": []object{
				{"group": "", "resources": []string{"pods", "pods/exec", "pods/log"}},
				{"group": "coordination.k8s.io", "resources": []string{"leases"}},
			}},
			{"level": "None"},
		},
	}
}

func (c *cluster) images(ctx context.Context) ([]image.Image, error) {
	box, err := busybox(ctx)
	if err != nil {
		return nil, err
	}
	pod, helper, err := podFiles(ctx, c.path("build"))
	if err != nil {
		return nil, err
	}
	return []image.Image{
		{Name: "docker.io/local/pause:1", Cmd: []string{"sleep", "2147483647"}, Files: box},
		{Name: "docker.io/local/box:1", Cmd: []string{"sh"}, Files: box},
		{Name: "docker.io/local/gcity-pod:1", Files: pod},
		// the images in k8s/deploy/controller
		{Name: "docker.io/library/busybox:1", Cmd: []string{"sh"}, Files: box},
		{Name: "registry.example/gcity-pod:1", Files: pod},
		{Name: "registry.example/gcity-controller:1", Files: append(pod, helper)},
	}, nil
}

func (c *cluster) load(ctx context.Context, images []image.Image) error {
	for i := range images {
		var archive bytes.Buffer
		if err := image.Write(&archive, &images[i]); err != nil {
			return err
		}
		if err := c.ctr(ctx, &archive, "images", "import", "-"); err != nil {
			return err
		}
	}
	return nil
}

func busybox(ctx context.Context) ([]image.File, error) {
	program, err := exec.LookPath("busybox")
	if err != nil {
		return nil, err
	}
	out := []image.File{{Path: "tmp", Dir: true, Mode: 0o1777}}
	for _, dir := range []string{"bin", "etc", "root", "proc", "sys", "dev"} {
		out = append(out, image.File{Path: dir, Dir: true, Mode: 0o755})
	}
	box, err := image.FromDisk("bin/busybox", program)
	if err != nil {
		return nil, err
	}
	list, err := exec.CommandContext(ctx, program, "--list").Output()
	if err != nil {
		return nil, err
	}
	for name := range strings.FieldsSeq(string(list)) {
		if name != "busybox" {
			out = append(out, image.File{Path: "bin/" + name, Link: "busybox", Mode: 0o777})
		}
	}
	return append(out, box), nil
}

func podFiles(ctx context.Context, dir string) (pod []image.File, helper image.File, err error) {
	module, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return nil, helper, fmt.Errorf("cannot build; run this program in the folder k8s: %w", err)
	}
	root := strings.TrimSpace(string(module))
	pod = []image.File{{Path: "bin", Dir: true, Mode: 0o755}}
	for _, p := range []struct{ name, module, pkg string }{
		{"gcity-pod", root, "./cmd/gcity-pod"},
		{"bin/gcity", filepath.Dir(root), "."},
		{"bin/gcity-session-k8s", root, "./cmd/gcity-session-k8s"},
	} {
		f, err := program(ctx, filepath.Join(dir, p.name), p.module, p.pkg)
		if err != nil {
			return nil, helper, err
		}
		if f.Path = p.name; f.Path == "bin/gcity-session-k8s" {
			helper = f
		} else {
			pod = append(pod, f)
		}
	}
	return pod, helper, nil
}

func program(ctx context.Context, to, module, pkg string) (image.File, error) {
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags", "-s -w", "-o", to, pkg)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return image.File{}, fmt.Errorf("cannot build %s: %w: %s", pkg, err, tail(out))
	}
	return image.FromDisk("", to)
}
