package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"gcity/internal/disk"
	"gcity/internal/eventually"
)

var programs = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "gcity-k8s-e2e-")
	if err != nil {
		return "", err
	}
	for from, pkg := range map[string]string{"../..": ".", "..": "./cmd/gcity-session-k8s"} {
		cmd := exec.Command("go", "build", "-trimpath", "-o", dir+"/", pkg)
		cmd.Dir, cmd.Env = from, append(os.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			return "", fmt.Errorf("cannot build %s: %w: %s", pkg, err, out)
		}
	}
	return dir, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if os.Getenv("GCITY_TEST_KUBECONFIG") != "" {
		if dir, err := programs(); err == nil {
			os.RemoveAll(dir)
		}
	}
	os.Exit(code)
}

type city struct {
	testing.TB
	dir       string
	bin       string
	env       []string
	namespace string
	client    kubernetes.Interface

	controller *exec.Cmd
	ended      chan struct{}
}

// text is city.toml without the table session.k8s. newCity skips the test if there is no cluster.
func newCity(t testing.TB, text string) *city {
	t.Helper()
	kubeconfig := os.Getenv("GCITY_TEST_KUBECONFIG")
	if kubeconfig == "" {
		t.Skip(cmp.Or(os.Getenv("GCITY_TEST_NO_CLUSTER"), "there is no cluster: run make test-k8s"))
	}
	bin, err := programs()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	c := &city{TB: t, dir: filepath.Join(home, "city"), bin: bin}
	if c.client, err = kubernetes.NewForConfig(c.config()); err != nil {
		t.Fatal(err)
	}
	c.makeNamespace()
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); !strings.HasPrefix(name, "GC_") &&
			!strings.HasPrefix(name, "GCITY_") && !strings.HasPrefix(name, "XDG_") && name != "PATH" {
			c.env = append(c.env, kv)
		}
	}
	c.env = append(c.env, "HOME="+home, "GC_HOME="+home+"/gc", "XDG_RUNTIME_DIR="+home,
		"GCITY_TRUST=all", "PATH="+bin+":"+os.Getenv("PATH"))
	pod := "spec: {nodeName: localhost, hostNetwork: true}\n" // a pod without its own network starts faster
	text += fmt.Sprintf("[session.k8s]\nkubeconfig = %q\nnamespace = %q\n"+
		"image = \"docker.io/local/box:1\"\ntools_image = %q\nimage_pull_policy = \"Never\"\n"+
		"cpu_request = \"1m\"\nmem_request = \"1Mi\"\npod = %q\n", kubeconfig, c.namespace,
		toolsImage(), filepath.Join(c.dir, "pod.yaml"))
	c.write("pod.yaml", pod)
	c.write("city.toml", text)
	t.Cleanup(c.end)
	return c
}

func (c *city) config() *rest.Config {
	c.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("GCITY_TEST_KUBECONFIG"))
	if err != nil {
		c.Fatal(err)
	}
	config.QPS, config.Burst = 50, 100
	return config
}

func toolsImage() string {
	return cmp.Or(os.Getenv("GCITY_TEST_TOOLS_IMAGE"), "docker.io/local/gcity-pod:1")
}

func (c *city) write(name, text string) {
	c.Helper()
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		c.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o600); err != nil {
		c.Fatal(err)
	}
}

func (c *city) rewrite(old, text string) {
	c.Helper()
	data, err := os.ReadFile(filepath.Join(c.dir, "city.toml"))
	if err != nil || !strings.Contains(string(data), old) {
		c.Fatalf("cannot replace %q in city.toml: %v", old, err)
	}
	c.write("city.toml", strings.Replace(string(data), old, text, 1))
}

func (c *city) makeNamespace() {
	c.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "gcity-e2e-"}}
	made, err := c.client.CoreV1().Namespaces().Create(c.Context(), ns, metav1.CreateOptions{})
	if err != nil {
		c.Fatal(err)
	}
	c.namespace = made.Name
	eventually.True(c, "the namespace has a service account", func() bool {
		_, err := c.client.CoreV1().ServiceAccounts(made.Name).Get(c.Context(), "default", metav1.GetOptions{})
		return err == nil
	})
}

func (c *city) end() {
	ctx, cancel := context.WithTimeout(context.Background(), eventually.Timeout)
	defer cancel()
	if c.Failed() {
		c.Logf("events:\n%s", c.quiet("events"))
		c.Logf("status:\n%s", c.quiet("status"))
		c.Logf("log:\n%s", c.log())
	}
	c.kill()
	now := int64(1)
	if err := c.client.CoreV1().Pods(c.namespace).DeleteCollection(ctx,
		metav1.DeleteOptions{GracePeriodSeconds: &now}, metav1.ListOptions{}); err != nil {
		c.Error(err)
	}
	if err := c.client.CoreV1().Namespaces().Delete(ctx, c.namespace,
		metav1.DeleteOptions{}); err != nil {
		c.Error(err)
	}
}

func (c *city) log() string {
	data, err := os.ReadFile(filepath.Join(c.dir, ".gc", "controller.log"))
	if err != nil {
		return err.Error()
	}
	return string(data[max(0, len(data)-8<<10):])
}

func (c *city) start() {
	c.Helper()
	cmd := exec.Command(filepath.Join(c.bin, "gcity"), "--headless")
	cmd.Dir, cmd.Env = c.dir, c.env
	if err := cmd.Start(); err != nil {
		c.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // returns an error if the controller was killed
		close(ended)
	}()
	c.controller, c.ended = cmd, ended
}

func (c *city) kill() {
	if c.controller == nil {
		return
	}
	_ = c.controller.Process.Kill() // the controller may have exited already
	<-c.ended
	c.controller = nil
}

func (c *city) gcity(args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), eventually.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(c.bin, "gcity"), args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	var out, failed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failed
	err := cmd.Run()
	if err != nil {
		err = fmt.Errorf("gcity %s: %w: %s", strings.Join(args, " "), err, failed.String())
	}
	return out.Bytes(), err
}

func (c *city) must(args ...string) string {
	c.Helper()
	out, err := c.gcity(args...)
	if err != nil {
		c.Fatal(err)
	}
	return string(out)
}

// If the command fails, the result also contains the error.
func (c *city) quiet(args ...string) string {
	out, err := c.gcity(args...)
	if err != nil {
		return string(out) + err.Error()
	}
	return string(out)
}

type agent struct {
	Name    string
	State   string
	Reason  string
	Running bool
	PID     int
	Session *struct {
		ID      string
		Details []string
	}
}

// by name
type agents map[string]agent

func (all agents) running() (n int) {
	for _, a := range all {
		if a.State == "running" {
			n++
		}
	}
	return n
}

func parse(text []byte) agents {
	var list struct{ Items []agent }
	if json.Unmarshal(text, &list) != nil {
		return nil
	}
	out := agents{}
	for _, a := range list.Items {
		out[a.Name] = a
	}
	return out
}

// agents returns nil if no controller responds.
func (c *city) agents() agents {
	out, err := c.gcity("agent", "list", "--json")
	if err != nil {
		return nil
	}
	return parse(out)
}

func (c *city) running() int { return c.agents().running() }

// The API needs less CPU time than a command, which matters for measurements.
func (c *city) asked() agents {
	c.Helper()
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return disk.DialSocket(ctx, filepath.Join(c.dir, ".gc", "controller.sock"))
	}
	client := &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
	r, err := http.NewRequestWithContext(c.Context(), http.MethodGet, "http://city/v0/agents", nil)
	if err != nil {
		c.Fatal(err)
	}
	resp, err := client.Do(r)
	if err != nil {
		return nil // no controller is running yet
	}
	defer resp.Body.Close()
	out, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil
	}
	return parse(out)
}

type event struct {
	Seq     int
	TS      time.Time
	Type    string
	Subject string
	Message string
	Payload struct {
		Session string
		Reason  string
	}
}

func (c *city) events() []event {
	c.Helper()
	data, err := os.ReadFile(filepath.Join(c.dir, ".gc", "events.jsonl"))
	if err != nil {
		c.Fatal(err)
	}
	var out []event
	for line := range bytes.Lines(data) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // the last line is incomplete
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			c.Fatalf("%v: %s", err, line)
		}
		out = append(out, e)
	}
	return out
}

// The start time of a process distinguishes it from a later one with the same pid.
type process struct {
	pid     int
	started string
	agent   string
	session string
}

// The test machine is the node, so it sees the processes of the pods.
func (c *city) processes(cmdline string) []process {
	all, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		c.Error(err)
	}
	var out []process
	for _, dir := range all {
		line, err := os.ReadFile(dir + "/cmdline")
		if err != nil || strings.TrimSuffix(strings.ReplaceAll(string(line), "\x00", " "), " ") !=
			cmdline {
			continue
		}
		env, err := os.ReadFile(dir + "/environ")
		stat, err2 := os.ReadFile(dir + "/stat")
		if err != nil || err2 != nil {
			continue
		}
		values := map[string]string{}
		for kv := range strings.SplitSeq(string(env), "\x00") {
			name, value, _ := strings.Cut(kv, "=")
			values[name] = value
		}
		if values["GC_CITY_PATH"] != c.dir {
			continue
		}
		p := process{agent: values["GC_AGENT"], session: values["GC_SESSION_ID"]}
		p.pid, _ = strconv.Atoi(filepath.Base(dir)) // the pattern matches digits only
		if fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:])); len(fields) > 19 &&
			fields[0] != "Z" {
			p.started = fields[19]
			out = append(out, p)
		}
	}
	return out
}

func (c *city) helper() int {
	all, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		c.Error(err)
	}
	for _, path := range all {
		exe, err := os.Readlink(path)
		dir, err2 := os.Readlink(filepath.Join(filepath.Dir(path), "cwd"))
		if err == nil && err2 == nil && dir == c.dir &&
			exe == filepath.Join(c.bin, "gcity-session-k8s") {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path))) // digits only
			return pid
		}
	}
	return 0
}

func kill9(t testing.TB, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatalf("cannot kill process %d: %v", pid, err)
	}
}

func (c *city) state() string { return c.quiet("status") + c.log() }
