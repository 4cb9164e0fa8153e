package cluster

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"gcity/session"
)

// If the request for a pod fails, the start does not count as a crash.
func TestExplain(t *testing.T) {
	pods := schema.GroupResource{Resource: "pods"}
	post := func(err error) error { return &url.Error{Op: "Post", URL: "https://c/api", Err: err} }
	_, refused := net.Dial("tcp", "127.0.0.1:1")
	for _, c := range []struct {
		err     error
		missing bool
		want    string
	}{
		{apierrors.NewForbidden(pods, "x", errors.New("no")), true,
			`- {apiGroups: [""], resources: [pods], verbs: [create]}` + "`, `" +
				`- {apiGroups: [""], resources: [pods/exec], verbs: [get]}`},
		{apierrors.NewForbidden(schema.GroupResource{Group: "coordination.k8s.io", Resource: "leases"},
			"x", errors.New(`User "u" cannot update resource "leases" in API group `+
				`"coordination.k8s.io" in the namespace "gc"`)), true,
			`to update leases in namespace gc; add each of these lines to the rules of gcity's Role: ` +
				"`- {apiGroups: " + `["coordination.k8s.io"], resources: [leases], verbs: [update]}` + "`, `- {",
		},
		{apierrors.NewForbidden(pods, "x", errors.New("exceeded quota: q")), true,
			"the quota of namespace gc is exhausted"},
		{apierrors.NewForbidden(pods, "x", errors.New("error looking up service account gc/x")), true,
			"; correct service_account in [session.k8s], or create it"},
		{apierrors.NewUnauthorized("expired"), true, "they may have expired, so log in again"},
		{apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "gc"), true,
			"run `kubectl create namespace gc`"},
		{post(refused), true, "; check the kubeconfig and the network"},
		{post(&net.DNSError{Name: "c", Err: "no such host"}), true, "cannot reach the cluster"},
		{post(&tls.CertificateVerificationError{Err: errors.New("unknown authority")}), true,
			"cannot reach the cluster"},
		{post(io.ErrUnexpectedEOF), false, "unexpected EOF"}, // the pod may exist
	} {
		lacking := func() []right { return []right{{"", "pods", "create"}, {"", "pods/exec", "get"}} }
		got := explain(fmt.Errorf("a start: %w", c.err), "create", "gc", lacking)
		if errors.Is(got, session.ErrMissing) != c.missing || !strings.Contains(got.Error(), c.want) {
			t.Errorf("%v: got %v, want %q", c.err, got, c.want)
		}
	}
	for _, err := range []error{
		apierrors.NewTooManyRequests("try again", 1),
		apierrors.NewInternalError(errors.New("etcdserver: mvcc: database space exceeded")),
	} {
		if got := explain(err, "create", "gc", nil); !errors.Is(got, session.ErrExhausted) {
			t.Errorf("%v: want a lack of resources, got %v", err, got)
		}
	}
	if got := explain(apierrors.NewBadRequest("two containers"), "create", "gc", nil); !errors.Is(got, session.ErrCommand) ||
		!strings.HasPrefix(got.Error(), "the cluster rejected the pod: ") {
		t.Error(got)
	}
}

func TestWaiting(t *testing.T) {
	state := func(reason, message string) *corev1.Pod {
		return &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
			Name: container, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{
				Reason: reason, Message: message}}}}}}
	}
	for reason, final := range map[string]bool{"ImagePullBackOff": true, "InvalidImageName": true,
		"CreateContainerConfigError": true, "Other": false} {
		if why, over := waiting(state(reason, "it says")); why != reason+": it says" || over != final {
			t.Errorf("%s: %q, %v", reason, why, over)
		}
	}
	if why, over := waiting(state("ContainerCreating", "")); why != "" || over {
		t.Errorf("%q, %v", why, over)
	}
}

// Check validates the settings before it connects to the cluster.
func TestCheck(t *testing.T) {
	config := write(t, `{apiVersion: v1, kind: Config, current-context: x,
clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}], users: [{name: u, user: {token: x}}],
contexts: [{name: x, context: {cluster: c, user: u}}]}`)
	for _, c := range []struct {
		change func(*Settings)
		want   string
	}{
		{func(s *Settings) { s.MemLimit = "lots" }, `GC_K8S_MEM_LIMIT = "lots"`},
		{func(s *Settings) { s.Pod = "/nowhere/pod.yaml" }, "GC_K8S_POD"},
		{func(s *Settings) { s.Pod = write(t, "spec: {restartPolicy: Always}\n") }, "spec.restartPolicy"},
		{func(*Settings) {}, "cannot reach the cluster"},
	} {
		s := Settings{Kubeconfig: config, Namespace: "gc", Image: "x", ToolsImage: "y"}
		c.change(&s)
		p, err := New(Options{City: t.TempDir(), Settings: s, Logger: testLogger(t)})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Check(t.Context()); !errors.Is(err, session.ErrMissing) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
		p.Close()
	}
	for _, s := range []Settings{{Kubeconfig: "/nowhere/config", Image: "x", ToolsImage: "y"},
		{Kubeconfig: config, Context: "nope", Image: "x", ToolsImage: "y"}} {
		if p, err := New(Options{City: t.TempDir(), Settings: s, Logger: testLogger(t)}); err == nil {
			p.Close()
			t.Errorf("%+v is accepted", s)
		}
	}
}

// A session that was started with a different image is outdated. The image in the manifest does not matter, because the
// cluster may change it.
func TestOutdatedImage(t *testing.T) {
	p := &Provider{o: Options{Settings: Settings{Image: "box:2"}}}
	for image, want := range map[string]int{"box:1": 1, "box:2": 0, "": 0} {
		pod := &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: container, Image: "mirror/box:2"}}}}
		st := p.status(&entry{note: note{Name: "a", ID: "1", Image: image}, pod: pod})
		if got := st.Drift(&session.Spec{}); len(got) != want {
			t.Errorf("started with image %q: got %q", image, got)
		}
	}
}
