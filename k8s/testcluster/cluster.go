package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	upLimit   = 2 * time.Minute
	partLimit = 45 * time.Second
	pause     = 100 * time.Millisecond
)

type ports struct{ Etcd, EtcdPeer, Kubelet, Scheduler, Controllers, Net int }

type cluster struct {
	dir   string
	ports ports
}

func newCluster(dir string) (*cluster, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	c := &cluster{dir: dir}
	for _, port := range []*int{
		&c.ports.Etcd, &c.ports.EtcdPeer, &c.ports.Kubelet, &c.ports.Scheduler,
		&c.ports.Controllers,
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close()
		*port = l.Addr().(*net.TCPAddr).Port
	}
	c.ports.Net, err = freeNetwork()
	return c, err
}

func open(dir string) *cluster {
	dir, err := filepath.Abs(dir)
	c := &cluster{dir: dir}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(c.path("ports.json"))
	}
	if err == nil {
		err = json.Unmarshal(data, &c.ports)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testcluster:", err)
	}
	return c
}

func (c *cluster) path(elem ...string) string {
	return filepath.Join(append([]string{c.dir}, elem...)...)
}

func (c *cluster) url(port int) string { return "https://127.0.0.1:" + strconv.Itoa(port) }

func (c *cluster) api() string { return "https://" + c.network().service + ":443" }

func (c *cluster) up(ctx context.Context) error {
	// without a time limit, because a busy machine might need minutes to build the programs
	images, err := c.images(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, upLimit)
	defer cancel()
	if err := c.writeFiles(); err != nil {
		return err
	}
	if err := c.network().create(ctx); err != nil {
		return err
	}
	for _, part := range []string{"etcd", "containerd"} {
		if err := c.start(ctx, part); err != nil {
			return err
		}
	}
	if err := c.load(ctx, images); err != nil {
		return err
	}
	for _, part := range []string{"apiserver", "kubelet", "scheduler", "controllers"} {
		if err := c.start(ctx, part); err != nil {
			return err
		}
	}
	return nil
}

// start starts a part of the cluster and waits until it responds. It does nothing if the part is running.
func (c *cluster) start(ctx context.Context, part string) error {
	if c.pid(part) != 0 {
		return nil
	}
	args, ready, err := c.part(part)
	if err != nil {
		return err
	}
	log, err := os.OpenFile(c.path("logs", part+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	cmd := exec.Command(args[0], args[1:]...) //nolint:noctx // the started process keeps running
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.dir, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("cannot start %s: %w", part, err)
	}
	pid := strconv.Itoa(cmd.Process.Pid)
	if err := os.WriteFile(c.path(part+".pid"), []byte(pid), 0o600); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // returns when the process or this program exits
	ctx, cancel := context.WithTimeout(ctx, partLimit)
	defer cancel()
	for {
		last := ready(ctx)
		if last == nil {
			return nil
		}
		select {
		case err := <-ended:
			return fmt.Errorf("%s exited immediately: %w: %s", part, err, c.lastOf(part))
		case <-ctx.Done():
			return fmt.Errorf("%s does not respond: %w: %s", part, last, c.lastOf(part))
		case <-time.After(pause):
		}
	}
}

func (c *cluster) lastOf(part string) string {
	data, err := os.ReadFile(c.path("logs", part+".log"))
	if err != nil {
		return err.Error()
	}
	return tail(data)
}

func (c *cluster) part(name string) (args []string, ready func(context.Context) error, err error) {
	etcd := "http://127.0.0.1:" + strconv.Itoa(c.ports.Etcd)
	peer := "http://127.0.0.1:" + strconv.Itoa(c.ports.EtcdPeer)
	switch name {
	case "etcd":
		args = []string{
			"etcd", "--data-dir=" + c.path("etcd"), "--unsafe-no-fsync",
			"--listen-client-urls=" + etcd, "--advertise-client-urls=" + etcd,
			"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer,
			"--initial-cluster=default=" + peer,
		}
		return args, c.httpOK(etcd + "/health"), nil
	case "containerd":
		return []string{"containerd", "--config", c.path("containerd.toml")}, c.ctrOK, nil
	case "apiserver":
		return c.apiserver(etcd), c.httpOK(c.api() + "/readyz"), nil
	case "scheduler":
		args = []string{
			filepath.Join(cacheDir(), "kube-scheduler"), "--kubeconfig=" + c.path("kubeconfig"),
			"--leader-elect=false", "--bind-address=127.0.0.1",
			"--secure-port=" + strconv.Itoa(c.ports.Scheduler),
			"--authentication-skip-lookup", "--authorization-always-allow-paths=/healthz",
		}
		return args, c.httpOK(c.url(c.ports.Scheduler) + "/healthz"), nil
	case "controllers":
		return c.controllers(), c.httpOK(c.url(c.ports.Controllers) + "/healthz"), nil
	case "kubelet":
		args = []string{
			filepath.Join(cacheDir(), "kubelet"), "--config=" + c.path("kubelet.json"),
			"--kubeconfig=" + c.path("kubeconfig"), "--root-dir=" + c.path("kubelet"),
			"--hostname-override=" + node,
		}
		return args, c.nodeReady, nil
	}
	return nil, nil, fmt.Errorf(
		"unknown part %q: use etcd, apiserver, scheduler, controllers, kubelet or containerd", name)
}

func (c *cluster) apiserver(etcd string) []string {
	return []string{
		filepath.Join(cacheDir(), "kube-apiserver"), "--etcd-servers=" + etcd,
		"--bind-address=" + c.network().service, "--advertise-address=" + c.network().service,
		"--secure-port=443", "--cert-dir=" + c.path("certs"),
		"--endpoint-reconciler-type=none", "--service-cluster-ip-range=" + c.network().services,
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.path("sa.key"),
		"--service-account-signing-key-file=" + c.path("sa.key"),
		"--token-auth-file=" + c.path("tokens.csv"), "--authorization-mode=RBAC",
		// this plugin adds a taint that no controller in this cluster would remove
		"--disable-admission-plugins=TaintNodesByCondition",
		"--kubelet-preferred-address-types=Hostname",
		"--audit-policy-file=" + c.path("audit.json"), "--audit-log-path=" + c.path("audit.log"),
	}
}

func (c *cluster) controllers() []string {
	return []string{
		filepath.Join(cacheDir(), "kube-controller-manager"),
		"--kubeconfig=" + c.path("kubeconfig"),
		"--leader-elect=false", "--bind-address=127.0.0.1",
		"--secure-port=" + strconv.Itoa(c.ports.Controllers),
		"--authentication-skip-lookup", "--authorization-always-allow-paths=/healthz",
		"--root-ca-file=" + c.path("certs", "apiserver.crt"),
		"--controllers=" + strings.Join([]string{
			"namespace-controller",
			"serviceaccount-controller", "root-ca-certificate-publisher-controller",
			"deployment-controller", "replicaset-controller",
			"persistentvolume-binder-controller", "persistentvolume-protection-controller",
			"persistentvolumeclaim-protection-controller",
		}, ","),
	}
}

func (c *cluster) httpOK(url string) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := c.get(ctx, url)
		return err
	}
}

// get requests a URL as the user admin. It does not verify certificates, because each part of the cluster has its own.
func (c *cluster) get(ctx context.Context, url string) ([]byte, error) {
	insecure := &tls.Config{InsecureSkipVerify: true} //nolint:gosec // G402: on 127.0.0.1
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: insecure, DisableKeepAlives: true,
	}, Timeout: 5 * time.Second}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+adminToken)
	resp, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s", url, resp.Status)
	}
	return body, err
}

func (c *cluster) ctrOK(ctx context.Context) error { return c.ctr(ctx, nil, "version") }

func (c *cluster) ctr(ctx context.Context, stdin io.Reader, args ...string) error {
	args = append([]string{"--address", c.path("containerd.sock"), "-n", "k8s.io"}, args...)
	cmd := exec.CommandContext(ctx, "ctr", args...)
	cmd.Stdin = stdin
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("ctr %s: %w: %s", strings.Join(args[4:], " "), err, tail(out))
	}
	return nil
}

func (c *cluster) nodeReady(ctx context.Context) error {
	data, err := c.get(ctx, c.api()+"/api/v1/nodes/"+node)
	if err != nil {
		return err
	}
	var n struct {
		Status struct {
			Conditions []struct{ Type, Status, Message string }
		}
	}
	if err := json.Unmarshal(data, &n); err != nil {
		return err
	}
	for _, cond := range n.Status.Conditions {
		if cond.Type == "Ready" && cond.Status == "True" {
			return nil
		}
	}
	return fmt.Errorf("the node is not ready: %+v", n.Status.Conditions)
}

func (c *cluster) pid(part string) int {
	data, err := os.ReadFile(c.path(part + ".pid"))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		return 0
	}
	// another process may have the pid by now
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", pid))
	if err != nil || cwd != c.dir {
		return 0
	}
	return pid
}

func (c *cluster) kill(part string) error {
	pid := c.pid(part)
	if pid == 0 {
		return fmt.Errorf("%s is not running", part)
	}
	return end(pid, syscall.SIGKILL)
}

// end sends a signal and waits for the process to exit. After ten seconds, it kills the process.
func end(pid int, signal syscall.Signal) error {
	if err := syscall.Kill(pid, signal); err != nil {
		return err
	}
	for range 200 {
		if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err != nil ||
			strings.Contains(string(stat), ") Z ") {
			return nil
		}
		time.Sleep(pause / 2)
	}
	return syscall.Kill(pid, syscall.SIGKILL)
}

func (c *cluster) down() error {
	var errs []error
	for _, part := range []string{"kubelet", "controllers", "scheduler", "apiserver", "etcd"} {
		if pid := c.pid(part); pid != 0 {
			errs = append(errs, end(pid, syscall.SIGTERM))
		}
	}
	// the kubelet has exited, so nothing restarts the containers of this cluster
	for _, pid := range c.shims() {
		children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
		for child := range strings.FieldsSeq(string(children)) {
			if n, err := strconv.Atoi(child); err == nil {
				_ = syscall.Kill(n, syscall.SIGKILL) // the process might have exited already
			}
		}
		_ = end(pid, syscall.SIGKILL)
	}
	if pid := c.pid("containerd"); pid != 0 {
		errs = append(errs, end(pid, syscall.SIGTERM))
	}
	mounts, err := os.ReadFile("/proc/mounts")
	errs = append(errs, err)
	lines := strings.Split(string(mounts), "\n")
	slices.Reverse(lines)
	for _, line := range lines {
		if fields := strings.Fields(line); len(fields) > 1 &&
			strings.HasPrefix(fields[1], c.dir+"/") {
			errs = append(errs, unmount(fields[1]))
		}
	}
	return errors.Join(append(errs, c.network().remove(), os.RemoveAll(c.dir))...)
}

// unmount returns nil if the path is not mounted, because a container that ends removes its mounts.
func unmount(path string) error {
	err := syscall.Unmount(path, syscall.MNT_DETACH)
	if err == nil || errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOENT) {
		return nil
	}
	return fmt.Errorf("cannot unmount %s: %w", path, err)
}

func (c *cluster) shims() []int {
	var out []int
	all, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, path := range all {
		data, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(data), "containerd-shim") &&
			strings.Contains(string(data), c.path("containerd.sock")) {
			if pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path))); err == nil {
				out = append(out, pid)
			}
		}
	}
	return out
}
