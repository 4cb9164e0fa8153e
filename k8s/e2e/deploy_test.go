package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	serializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/remotecommand"
	kyaml "sigs.k8s.io/yaml"

	"gcity/internal/eventually"
)

// manifests returns the objects of a folder below k8s/deploy, and of the folders that its kustomization names.
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

// decode decodes the objects of a file with the types of the API. Unknown and duplicate fields are errors.
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

// pick returns the only object of a type.
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

// TestManifests decodes the manifests with the types of the API, and checks that the names in them match.
func TestManifests(t *testing.T) {
	all := manifests(t, "../deploy/controller")
	account := pick[*corev1.ServiceAccount](t, all)
	role, binding := pick[*rbacv1.Role](t, all), pick[*rbacv1.RoleBinding](t, all)
	claim, d := pick[*corev1.PersistentVolumeClaim](t, all), pick[*appsv1.Deployment](t, all)
	if binding.RoleRef.Name != role.Name || binding.Subjects[0].Name != account.Name {
		t.Errorf("the role binding is of %+v and %+v", binding.RoleRef, binding.Subjects)
	}
	spec := &d.Spec.Template.Spec
	if spec.ServiceAccountName != account.Name {
		t.Errorf("the pod has the service account %q", spec.ServiceAccountName)
	}
	if *d.Spec.Replicas != 1 || d.Spec.Strategy.Type != appsv1.RecreateDeploymentStrategyType {
		t.Error("two controllers could run")
	}
	volumes := map[string]corev1.Volume{}
	for _, v := range spec.Volumes {
		volumes[v.Name] = v
	}
	if v := volumes["city"].PersistentVolumeClaim; v == nil || v.ClaimName != claim.Name {
		t.Errorf("the volume of the city is %+v", v)
	}
	for _, c := range append(spec.InitContainers, spec.Containers...) {
		for _, m := range c.VolumeMounts {
			if _, ok := volumes[m.Name]; !ok {
				t.Errorf("container %s mounts the missing volume %s", c.Name, m.Name)
			}
		}
	}
	for k, v := range d.Spec.Selector.MatchLabels {
		if d.Spec.Template.Labels[k] != v {
			t.Errorf("the selector %s=%s does not match the template", k, v)
		}
	}
}

// TestControllerInCluster runs the pod of the controller's Deployment with the rights of the Role. It starts an
// agent, shows its screen, and stops without stopping the agent. The next controller adopts the agent.
func TestControllerInCluster(t *testing.T) {
	c := newCity(t, "")
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(c.exec("gcity", "sh", "-c", "gcity status; gcity events; tail -30 .gc/controller.log"))
		}
	})
	c.write("pod.yaml", "spec: {hostNetwork: true}\n") // there is no pod network
	if err := os.Remove(filepath.Join(c.dir, "city.toml")); err != nil {
		t.Fatal(err)
	}
	all := manifests(t, "../deploy/controller")
	ctx := t.Context()
	account, role := pick[*corev1.ServiceAccount](t, all), pick[*rbacv1.Role](t, all)
	binding := pick[*rbacv1.RoleBinding](t, all)
	binding.Subjects[0].Namespace = c.namespace // kustomize sets the namespace in the same way
	_, err1 := c.client.CoreV1().ServiceAccounts(c.namespace).Create(ctx, account, metav1.CreateOptions{})
	_, err2 := c.client.RbacV1().Roles(c.namespace).Create(ctx, role, metav1.CreateOptions{})
	_, err3 := c.client.RbacV1().RoleBindings(c.namespace).Create(ctx, binding, metav1.CreateOptions{})
	_, err4 := c.client.CoreV1().ConfigMaps(c.namespace).Create(ctx, c.configMap(), metav1.CreateOptions{})
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		t.Fatal(err)
	}
	pod := c.controllerPod(pick[*appsv1.Deployment](t, all))
	pods := c.client.CoreV1().Pods(c.namespace)
	var session string
	for range 2 {
		if _, err := pods.Create(ctx, pod, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		var a agent
		eventually.True(t, "the agent runs", func() bool {
			var list struct{ Items []agent }
			out, err := c.exec("gcity", "gcity", "agent", "list", "--json")
			if err != nil || json.Unmarshal([]byte(out), &list) != nil || len(list.Items) != 1 {
				return false
			}
			a = list.Items[0]
			return a.State == "running" && a.Session != nil
		}, c.inside)
		if session == "" {
			session = a.Session.ID
		} else if a.Session.ID != session {
			t.Errorf("the agent was restarted: session %s, before %s", a.Session.ID, session)
		}
		if out, err := c.exec("gcity", "gcity", "agent", "nudge", a.Name, "echo $((6*7))"); err != nil {
			t.Fatal(out, err)
		}
		eventually.True(t, "the agent answers", func() bool {
			out, err := c.exec("gcity", "gcity", "agent", "peek", a.Name)
			return err == nil && strings.Contains(out, "\n42")
		}, c.inside)
		if err := pods.Delete(ctx, pod.Name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		eventually.True(t, "the controller's pod is gone", func() bool {
			_, err := pods.Get(ctx, pod.Name, metav1.GetOptions{})
			return apierrors.IsNotFound(err)
		})
	}
}

// inside returns text about the controller in the cluster for the error of a failed wait.
func (c *city) inside() string {
	out, err := c.exec("gcity", "gcity", "status")
	if err != nil {
		out += err.Error()
	}
	pod, err := c.client.CoreV1().Pods(c.namespace).Get(c.Context(), "controller", metav1.GetOptions{})
	if err != nil {
		return out + err.Error()
	}
	status, err := json.Marshal(pod.Status)
	if err != nil {
		return out + err.Error()
	}
	return out + string(status)
}

// configMap returns the map with the city.toml of the manifests and the images of the test cluster.
func (c *city) configMap() *corev1.ConfigMap {
	c.Helper()
	text, err := os.ReadFile("../deploy/controller/city.toml")
	if err != nil {
		c.Fatal(err)
	}
	own := strings.NewReplacer("docker.io/library/busybox:1", "docker.io/local/box:1",
		`"registry.example/gcity-pod:1"`, `"`+toolsImage()+`"
image_pull_policy = "Never"
cpu_request = "1m"
mem_request = "1Mi"
pod = "pod.yaml"`)
	ca, err := os.ReadFile(c.config().CAFile)
	if err != nil {
		c.Fatal(err)
	}
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "gcity-city"}, Data: map[string]string{
		"city.toml": own.Replace(string(text)), "ca.crt": string(ca),
	}}
}

// controllerPod returns the pod of the Deployment, adapted to the test cluster. The test cluster has no pod
// network, no volumes for claims, and no mounted tokens of service accounts.
func (c *city) controllerPod(d *appsv1.Deployment) *corev1.Pod {
	c.Helper()
	api, err := url.Parse(c.config().Host)
	if err != nil {
		c.Fatal(err)
	}
	spec := d.Spec.Template.Spec.DeepCopy()
	spec.HostNetwork = true
	main := &spec.Containers[0]
	main.Image = "docker.io/local/box:1"
	spec.InitContainers[0].Image = cmp.Or(os.Getenv("GCITY_TEST_CONTROLLER_IMAGE"),
		"docker.io/local/gcity-controller:1")
	main.Env = append(main.Env, corev1.EnvVar{Name: "KUBERNETES_SERVICE_HOST", Value: api.Hostname()},
		corev1.EnvVar{Name: "KUBERNETES_SERVICE_PORT", Value: api.Port()})
	for i := range spec.Volumes {
		if v := &spec.Volumes[i]; v.Name == "city" {
			v.VolumeSource = corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: c.dir}}
		}
	}
	spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "token", VolumeSource: corev1.VolumeSource{
		Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
			{ServiceAccountToken: &corev1.ServiceAccountTokenProjection{Path: "token"}},
			{ConfigMap: &corev1.ConfigMapProjection{
				LocalObjectReference: corev1.LocalObjectReference{Name: "gcity-city"},
				Items:                []corev1.KeyToPath{{Key: "ca.crt", Path: "ca.crt"}},
			}},
		}},
	}})
	main.VolumeMounts = append(main.VolumeMounts, corev1.VolumeMount{Name: "token",
		MountPath: "/var/run/secrets/kubernetes.io/serviceaccount"})
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "controller", Labels: d.Spec.Template.Labels},
		Spec: *spec}
}

// exec runs a command in the controller's pod and returns its output, like kubectl exec.
func (c *city) exec(container string, command ...string) (string, error) {
	r := c.client.CoreV1().RESTClient().Post().Resource("pods").Namespace(c.namespace).
		Name("controller").SubResource("exec").VersionedParams(&corev1.PodExecOptions{
		Container: container, Command: command, Stdout: true, Stderr: true,
	}, scheme.ParameterCodec)
	e, err := remotecommand.NewWebSocketExecutor(c.config(), "GET", r.URL().String())
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(context.Background(), eventually.Timeout)
	defer cancel()
	var out bytes.Buffer
	err = e.StreamWithContext(ctx, remotecommand.StreamOptions{Stdout: &out, Stderr: &out})
	return out.String(), err
}
