package e2e

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
	kyaml "sigs.k8s.io/yaml"

	"gcity/internal/eventually"
)

func manifests(t *testing.T, dir string) []runtime.Object {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "kustomization.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var k struct {
		APIVersion, Kind, Namespace string
		Resources                   []string
		ConfigMapGenerator          []struct {
			Name  string
			Files []string
		}
		Images []struct{ Name, NewName, NewTag string }
	}
	if err := kyaml.UnmarshalStrict(data, &k); err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
	for _, m := range k.ConfigMapGenerator {
		for _, f := range m.Files {
			if _, err := os.Stat(filepath.Join(dir, f)); err != nil {
				t.Error(err)
			}
		}
	}
	var out []runtime.Object
	for _, r := range k.Resources {
		path := filepath.Join(dir, r)
		if st, err := os.Stat(path); err == nil && st.IsDir() {
			out = append(out, manifests(t, path)...)
			continue
		}
		out = append(out, decode(t, path)...)
	}
	return out
}

// Unknown and duplicate fields are errors.
func decode(t *testing.T, path string) []runtime.Object {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	strict := serializer.NewSerializerWithOptions(serializer.DefaultMetaFactory, scheme.Scheme,
		scheme.Scheme, serializer.SerializerOptions{Yaml: true, Strict: true})
	var out []runtime.Object
	for docs := yaml.NewDocumentDecoder(f); ; {
		doc := make([]byte, 64<<10)
		n, err := docs.Read(doc)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		o, _, err := strict.Decode(doc[:n], nil, nil)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		out = append(out, o)
	}
}

func pick[T runtime.Object](t *testing.T, all []runtime.Object) T {
	t.Helper()
	var found []T
	for _, o := range all {
		if o, ok := o.(T); ok {
			found = append(found, o)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d objects of type %T, want one", len(found), *new(T))
	}
	return found[0]
}

// If a manifest refers to another, the names match.
func TestManifests(t *testing.T) {
	all := manifests(t, "../deploy/controller")
	account := pick[*corev1.ServiceAccount](t, all)
	role, binding := pick[*rbacv1.Role](t, all), pick[*rbacv1.RoleBinding](t, all)
	claim, d := pick[*corev1.PersistentVolumeClaim](t, all), pick[*appsv1.Deployment](t, all)
	if binding.RoleRef.Name != role.Name || binding.Subjects[0].Name != account.Name {
		t.Errorf("role binding: got %+v and %+v", binding.RoleRef, binding.Subjects)
	}
	spec := &d.Spec.Template.Spec
	if spec.ServiceAccountName != account.Name {
		t.Errorf("service account of the pod: got %q", spec.ServiceAccountName)
	}
	if *d.Spec.Replicas != 1 || d.Spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType {
		t.Error("two controllers could run")
	}
	volumes := map[string]corev1.Volume{}
	for _, v := range spec.Volumes {
		volumes[v.Name] = v
	}
	if v := volumes["city"].PersistentVolumeClaim; v == nil || v.ClaimName != claim.Name {
		t.Errorf("volume of the city: got %+v", v)
	}
	for _, c := range append(spec.InitContainers, spec.Containers...) {
		for _, m := range c.VolumeMounts {
			if _, ok := volumes[m.Name]; !ok {
				t.Errorf("container %s mounts the unknown volume %s", c.Name, m.Name)
			}
		}
	}
	for k, v := range d.Spec.Selector.MatchLabels {
		if d.Spec.Template.Labels[k] != v {
			t.Errorf("the selector %s=%s does not match the template", k, v)
		}
	}
}

// deployed runs commands as a user of a controller in the cluster would.
type deployed struct {
	testing.TB
	kubectl string
}

func (d *deployed) must(args ...string) string {
	d.Helper()
	out, err := d.run("", args...)
	if err != nil {
		d.Fatal(err)
	}
	return out
}

func (d *deployed) run(input string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), eventually.Timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, d.kubectl, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+os.Getenv("GCITY_TEST_KUBECONFIG"))
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil {
		err = fmt.Errorf("kubectl %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return string(out), err
}

func (d *deployed) gcity(args ...string) (string, error) {
	return d.run("", append([]string{"-n", "gc", "exec", "deploy/gcity", "-c", "gcity", "--", "gcity"}, args...)...)
}

func (d *deployed) inside() string {
	status, err := d.gcity("status")
	if err != nil {
		status += err.Error()
	}
	all, err := d.run("", "-n", "gc", "describe", "pods,pvc,deployments")
	if err != nil {
		all += err.Error()
	}
	return status + all
}

func (d *deployed) running() (a agent) {
	d.Helper()
	eventually.True(d, "the agent runs", func() bool {
		out, err := d.gcity("agent", "list", "--json")
		if err != nil {
			return false
		}
		a = parse([]byte(out))["shell"]
		return a.State == "running" && a.Session != nil
	}, d.inside)
	return a
}

func (d *deployed) end() {
	if d.Failed() {
		d.Log(d.inside())
	}
	_, err1 := d.run("", "delete", "-k", "../deploy/controller", "--wait=false")
	_, err2 := d.run("", "-n", "gc", "delete", "pods", "--all", "--grace-period=1")
	_, err3 := d.run("", "wait", "--for=delete", "namespace/gc", "--timeout=2m")
	_, err4 := d.run("", "delete", "pv", volume)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		d.Error(err)
	}
}

const volume = "gcity-test"

// The Deployment starts the controller with the unmodified manifests. A new pod of the controller adopts the agent.
func TestControllerInCluster(t *testing.T) {
	if os.Getenv("GCITY_TEST_CLUSTER_DIR") == "" {
		t.Skip(cmp.Or(os.Getenv("GCITY_TEST_NO_CLUSTER"),
			"the images of the manifests are not in this cluster: run make test-k8s"))
	}
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		t.Fatal(err)
	}
	d := &deployed{t, kubectl}
	if _, err := d.run(`{apiVersion: v1, kind: PersistentVolume, metadata: {name: `+volume+`}, spec: {capacity: `+
		`{storage: 1Gi}, accessModes: [ReadWriteOnce], hostPath: {path: `+t.TempDir()+`}}}`,
		"apply", "-f", "-"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.end)
	d.must("apply", "-k", "../deploy/controller")
	d.must("-n", "gc", "rollout", "status", "deploy/gcity")
	before := d.running()
	d.must("-n", "gc", "exec", "deploy/gcity", "-c", "gcity", "--", "sh", "-c", "echo kept >note")
	pod := d.must("-n", "gc", "get", "pods", "-l", "app.kubernetes.io/name=gcity-controller", "-o", "name")
	d.must("-n", "gc", "delete", strings.TrimSpace(pod))
	d.must("-n", "gc", "rollout", "status", "deploy/gcity")
	if now := d.running(); now.Session.ID != before.Session.ID {
		t.Errorf("the agent was restarted: session %s, previously %s",
			now.Session.ID, before.Session.ID)
	}
	if out := d.must("-n", "gc", "exec", "deploy/gcity", "-c", "gcity", "--", "cat", "note"); !strings.Contains(out, "kept") {
		t.Errorf("the content of the volume was lost: %s", out)
	}
	sent, err := d.gcity("agent", "nudge", "shell", "echo $((6*7))")
	if err != nil {
		t.Fatal(sent, err)
	}
	var screen string
	eventually.True(t, "the agent answers", func() bool {
		screen, err = d.gcity("agent", "peek", "shell")
		return err == nil && strings.Contains(screen, "\n42")
	}, func() string { return fmt.Sprintf("nudge: %speek: %s%v\n%s", sent, screen, err, d.inside()) })
	if out, err := d.gcity("status"); err != nil || !strings.Contains(out, "1 running") {
		t.Errorf("gcity status: got %s, %v", out, err)
	}
}
