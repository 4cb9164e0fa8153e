package cluster

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"gcity/internal/eventually"
	"gcity/session"
)

// badInput is an error in the settings or in the cluster.
type badInput struct {
	name   string
	change func(t *testing.T, s *Settings)
	// expected error from New or Start, and expected error from Check; "" = no error
	start, check string
	opens        bool // New already returns the error
}

func badInputs() []badInput {
	return []badInput{
		{"no kubeconfig", func(_ *testing.T, s *Settings) { s.Kubeconfig = "/nonexistent/config" },
			"no cluster is configured: ", "", true},
		{"no such context", func(_ *testing.T, s *Settings) { s.Context = "nowhere" },
			`no cluster is configured: context "nowhere" does not exist; set `, "", true},
		{"an expired token", func(_ *testing.T, s *Settings) { s.Context = "expired" },
			"; they may have expired, so log in again",
			"the cluster rejected the credentials", false},
		{"no namespace", func(_ *testing.T, s *Settings) { s.Namespace = "nowhere" },
			"namespace nowhere does not exist; run `kubectl create namespace nowhere`",
			"run `kubectl create namespace nowhere`", false},
		{"no rights", func(_ *testing.T, s *Settings) { s.Context, s.Namespace = "gcity", "default" },
			`{apiGroups: [""], resources: [pods], verbs: [get, list, watch, create, delete]}`,
			`{apiGroups: ["coordination.k8s.io"], resources: [leases], verbs: [get, create, update]}`, false},
		{"a right is missing", func(t *testing.T, s *Settings) {
			s.Namespace += "-rights"
			open(t, t.TempDir(), *s) // creates the namespace
			grant(t, *s, slices.DeleteFunc(rights(), func(r right) bool { return r.resource == "pods/exec" }))
			s.Context = "gcity"
		}, `to get pods/exec in namespace gcity-test-rights; add this line to the rules of gcity's Role: ` +
			"`" + `- {apiGroups: [""], resources: [pods/exec], verbs: [get, create]}`,
			`{apiGroups: [""], resources: [pods/exec], verbs: [get, create]}`, false},
		{"no service account", func(_ *testing.T, s *Settings) { s.ServiceAccount = "nobody" },
			"; correct service_account in [session.k8s], or create it",
			"the service account of the pods does not exist", false},
		{"an exhausted quota", func(t *testing.T, s *Settings) {
			s.Namespace += "-quota"
			open(t, t.TempDir(), *s) // creates the namespace
			exhaust(t, s)
		}, "the quota of namespace gcity-test-quota is exhausted: ", "the quota of namespace gcity-test-quota is exhausted: ", false},
		{"an image that may not be pulled", func(_ *testing.T, s *Settings) { s.Image = "docker.io/local/nothing:1" },
			"ErrImageNeverPull: ", "", false},
		{"an image that cannot be pulled", func(_ *testing.T, s *Settings) {
			s.Image, s.PullPolicy = "127.0.0.1:1/nothing:1", ""
		}, "ErrImagePull: ", "", false},
		{"an invalid image", func(_ *testing.T, s *Settings) { s.Image = "No Image" }, "InvalidImageName: ", "", false},
		{"an invalid quantity", func(_ *testing.T, s *Settings) { s.MemLimit = "lots" },
			`GC_K8S_MEM_LIMIT = "lots" is not a Kubernetes quantity`, "GC_K8S_MEM_LIMIT", false},
		{"an invalid quantity in city.toml", func(_ *testing.T, s *Settings) {
			s.CPURequest, s.Origins = "2 cores", map[string]string{"cpu_request": "city.toml:12:1"}
		}, `city.toml:12:1: session.k8s.cpu_request = "2 cores" is not a Kubernetes quantity`,
			"city.toml:12:1: ", false},
		{"a conflict with the pod file", func(t *testing.T, s *Settings) {
			s.Pod = write(t, "spec: {restartPolicy: Always}\n")
		}, "sets spec.restartPolicy; gcity sets this itself, so remove it from the file", "spec.restartPolicy", false},
		{"no pod file", func(_ *testing.T, s *Settings) { s.Pod = "/nonexistent/pod.yaml" },
			"cannot read the pod file: ", "correct GC_K8S_POD", false},
	}
}

// exhaust also sets the quota's status, because the test cluster has no controller that does so.
func exhaust(t *testing.T, s *Settings) {
	t.Helper()
	quotas := admin(t, *s).CoreV1().ResourceQuotas(s.Namespace)
	none := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "none"}, Spec: corev1.ResourceQuotaSpec{Hard: none}}
	_ = quotas.Delete(t.Context(), q.Name, metav1.DeleteOptions{}) // left over from an earlier run
	q, err := quotas.Create(t.Context(), q, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	q.Status = corev1.ResourceQuotaStatus{Hard: none, Used: none}
	if _, err := quotas.UpdateStatus(t.Context(), q, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually.True(t, "the quota is in force", func() bool {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "try"},
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a"}}}}
		_, err := admin(t, *s).CoreV1().Pods(s.Namespace).
			Create(t.Context(), p, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err != nil && strings.Contains(err.Error(), "exceeded quota")
	})
}

// An error in the settings or the cluster is a failed start, not a crash of the agent.
func TestBadInput(t *testing.T) {
	for _, c := range badInputs() {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			s := settings(t)
			c.change(t, &s)
			p, err := New(Options{City: t.TempDir(), Settings: s, Logger: testLogger(t)})
			if c.opens {
				if !errors.Is(err, session.ErrMissing) || !strings.Contains(err.Error(), c.start) {
					t.Errorf("%v, want %q", err, c.start)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err = p.Start(ctx, spec(p.o.City, "a", "cat"))
			if !errors.Is(err, session.ErrMissing) || !strings.Contains(err.Error(), c.start) {
				t.Errorf("start: got %v, want %q", err, c.start)
			}
			if err := p.Check(ctx); (err == nil) != (c.check == "") || err != nil && !strings.Contains(err.Error(), c.check) {
				t.Errorf("check: got %v, want %q", err, c.check)
			}
		})
	}
}

// A start that exceeds the limit does not count as a crash.
func TestStartLimit(t *testing.T) {
	for name, c := range map[string]struct{ pod, want string }{
		"no scheduler": {"schedulerName: nobody", context.DeadlineExceeded.Error()},
		"no node":      {"nodeSelector: {is: missing}", "Unschedulable: "},
	} {
		t.Run(name, func(t *testing.T) {
			s := settings(t)
			s.Pod = write(t, "spec: {"+c.pod+", hostNetwork: true}\n")
			p := openAs(t, Options{City: t.TempDir(), Settings: s, StartLimit: 3 * time.Second})
			_, err := p.Start(t.Context(), spec(p.o.City, "a", "cat"))
			if !errors.Is(err, session.ErrMissing) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if all, err := p.List(t.Context()); err != nil || len(all) > 0 {
				t.Errorf("sessions after the failed start: got %+v, %v", all, err)
			}
		})
	}
}

// A waiting start shows reasons from the kubelet's events.
func TestKubeletsEvents(t *testing.T) {
	s := settings(t)
	s.Pod = write(t, "spec:\n  nodeName: localhost\n  hostNetwork: true\n"+
		"  volumes: [{name: key, secret: {secretName: nothing}}]\n"+
		"  containers: [{name: agent, volumeMounts: [{name: key, mountPath: /key}]}]\n")
	p := open(t, t.TempDir(), s)
	waits := make(chan string, 100)
	ctx, cancel := context.WithCancel(session.WithProgress(t.Context(), func(why string) { waits <- why }))
	ended := make(chan error, 1)
	go func() {
		_, err := p.Start(ctx, spec(p.o.City, "a", "exec cat"))
		ended <- err
	}()
	for why := ""; !strings.Contains(why, `FailedMount: `) || !strings.Contains(why, `"nothing" not found`); {
		why = eventually.Receive(t, "the kubelet's reason is reported", waits)
	}
	cancel()
	if err := eventually.Receive(t, "the start ends", ended); err == nil || !strings.Contains(err.Error(), "FailedMount") {
		t.Errorf("%v", err)
	}
}
