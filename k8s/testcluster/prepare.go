package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// kubernetes is the version of the cluster. The staging modules have v0 instead of v1.
const kubernetes = "v1.34.4"

func programs() []string {
	return []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet",
		"kubectl"}
}

// packages maps each required program that is not part of Kubernetes to its Debian package.
func packages() map[string]string {
	return map[string]string{
		"etcd": "etcd-server", "containerd": "containerd", "ctr": "containerd", "runc": "runc",
		"ip":      "iproute2",
		"busybox": "busybox-static", "/usr/lib/cni/bridge": "containernetworking-plugins",
	}
}

func prepare(ctx context.Context) error {
	if os.Getuid() != 0 {
		return errors.New("a kubelet needs root")
	}
	try := exec.CommandContext(ctx, "unshare", "--mount", "--pid", "--fork", "mount", "-t", "tmpfs",
		"none", "/mnt")
	if out, err := try.CombinedOutput(); err != nil {
		return fmt.Errorf("this machine cannot run containers: %w: %s", err,
			strings.TrimSpace(string(out)))
	}
	if _, err := os.Stat("/sys/fs/cgroup"); err != nil {
		return errors.New("this machine cannot run containers: it has no /sys/fs/cgroup")
	}
	if err := install(ctx); err != nil {
		return err
	}
	if os.Getenv("GCITY_TESTCLUSTER_BUILD") == "no" && !built(cacheDir()) {
		return fmt.Errorf("the Kubernetes programs are not in %s, and "+
			"GCITY_TESTCLUSTER_BUILD=no: run `make testcluster` once, which takes about "+
			"fifteen minutes", cacheDir())
	}
	return build(ctx, cacheDir())
}

func install(ctx context.Context) error {
	var missing []string
	for program, pkg := range packages() {
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, pkg)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	if _, err := exec.LookPath("apt-get"); err != nil {
		return fmt.Errorf("not installed: %s", strings.Join(missing, ", "))
	}
	for _, args := range [][]string{
		{"update", "-qq"},
		append([]string{"install", "-y", "-qq", "--no-install-recommends"}, missing...),
	} {
		cmd := exec.CommandContext(ctx, "apt-get", args...)
		cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("apt-get %s failed: %w: %s", args[0], err, tail(out))
		}
	}
	return nil
}

func tail(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}

func built(cache string) bool {
	for _, name := range programs() {
		if _, err := os.Stat(filepath.Join(cache, name)); err != nil {
			return false
		}
	}
	return true
}

func build(ctx context.Context, cache string) error {
	if built(cache) {
		return nil
	}
	fmt.Fprintf(os.Stderr, "testcluster: building Kubernetes %s, and keeping it in %s\n",
		kubernetes, cache)
	if err := os.MkdirAll(cache, 0o755); err != nil {
		return err
	}
	src, err := os.MkdirTemp("", "gcity-kube-src-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(src)
	if err := source(ctx, src); err != nil {
		return fmt.Errorf("cannot prepare the source code of Kubernetes %s: %w", kubernetes, err)
	}
	for _, name := range programs() {
		to := filepath.Join(cache, name)
		if _, err := os.Stat(to); err == nil {
			continue
		}
		cmd := goCommand(ctx, src, "build", "-mod=mod", "-trimpath", "-ldflags", "-s -w", "-o",
			to+".new", "./cmd/"+name)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("cannot build %s: %w: %s", name, err, tail(out))
		}
		if err := os.Rename(to+".new", to); err != nil {
			return err
		}
	}
	return nil
}

// source copies the Kubernetes module to src. The module's archive lacks the staging modules, so source adds their
// published versions.
func source(ctx context.Context, src string) error {
	download := goCommand(ctx, src, "mod", "download", "-json", "k8s.io/kubernetes@"+kubernetes)
	out, err := download.Output()
	if err != nil {
		return fmt.Errorf("%w: %s", err, tail(out))
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		return err
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		data, err := os.ReadFile(filepath.Join(module.Dir, name))
		if err != nil {
			return err
		}
		if name == "go.mod" {
			data = published(data)
		}
		if err := os.WriteFile(filepath.Join(src, name), data, 0o600); err != nil {
			return err
		}
	}
	for _, name := range []string{"api", "cmd", "pkg", "plugin", "third_party"} {
		// copy the files, because embedding does not follow links
		if err := os.CopyFS(filepath.Join(src, name),
			os.DirFS(filepath.Join(module.Dir, name))); err != nil {
			return err
		}
	}
	return nil
}

func published(mod []byte) []byte {
	version := "v0" + strings.TrimPrefix(kubernetes, "v1")
	samples := regexp.MustCompile(`(?m)^.*k8s\.io/sample-.*$`)
	staging := regexp.MustCompile(`(k8s\.io/\S+) => \./staging/\S+`)
	return staging.ReplaceAll(samples.ReplaceAll(mod, nil), []byte("$1 => $1 "+version))
}

func goCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "CGO_ENABLED=0", "GOFLAGS=")
	return cmd
}
