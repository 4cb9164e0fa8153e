package e2e

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"gcity/internal/eventually"
)

var (
	idleAgents = flag.Int("idle-agents", 5, "number of agents in TestIdleAudit")
	renewals   = flag.Int("renewals", 3,
		"number of renewals of the Lease, one each 5 s, that TestIdleAudit waits for")
)

type request struct {
	Verb      string
	User      struct{ Username string }
	ObjectRef struct{ Resource, Subresource, Namespace string }
	Stage     string
}

func (r *request) String() string {
	name := r.Verb + " " + r.ObjectRef.Resource
	if r.ObjectRef.Subresource != "" {
		name += "/" + r.ObjectRef.Subresource
	}
	return name + " " + r.Stage
}

// While agents are idle, the audit log contains only renewals of the Lease and watches of pods.
func TestIdleAudit(t *testing.T) {
	if os.Getenv("GCITY_TEST_CLUSTER_DIR") == "" {
		t.Skip("this cluster has no known audit log: run make test-k8s")
	}
	c := newCity(t, manyAgents(*idleAgents))
	c.rewrite("image_pull_policy", "context = \"gcity\"\nimage_pull_policy")
	all := manifests(t, "../deploy/agents")
	role, binding := pick[*rbacv1.Role](t, all), pick[*rbacv1.RoleBinding](t, all)
	binding.Subjects = []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "gcity"}}
	rbac := c.client.RbacV1()
	if _, err := rbac.Roles(c.namespace).Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := rbac.RoleBindings(c.namespace).Create(t.Context(), binding,
		metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	c.start()
	eventually.True(t, "all agents run", func() bool { return c.asked().running() == *idleAgents },
		c.state)
	next, seen := c.audit(), map[string]int{}
	for seen["update leases ResponseComplete"] < *renewals {
		before := seen["update leases ResponseComplete"]
		eventually.True(t, "the Lease is renewed", func() bool {
			for _, r := range next() {
				seen[r.String()]++
				idle := r.Verb == "update" && r.ObjectRef.Resource == "leases" ||
					r.Verb == "watch" && slices.Contains([]string{"pods", "events"}, r.ObjectRef.Resource)
				if !idle {
					t.Errorf("got a request while all agents are idle: %s", &r)
				}
			}
			return seen["update leases ResponseComplete"] > before
		}, c.state)
	}
	if n := c.asked().running(); n != *idleAgents {
		t.Errorf("%d agents run, want %d", n, *idleAgents)
	}
	t.Log(fmt.Sprint(seen))
}

// The function next returns the city's new requests.
func (c *city) audit() (next func() []request) {
	c.Helper()
	f, err := os.Open(filepath.Join(os.Getenv("GCITY_TEST_CLUSTER_DIR"), "audit.log"))
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { f.Close() })
	if _, err := f.Seek(0, io.SeekEnd); err != nil {
		c.Fatal(err)
	}
	in := bufio.NewReader(f)
	var part []byte
	return func() (out []request) {
		for {
			line, err := in.ReadBytes('\n')
			part = append(part, line...)
			if err != nil {
				return out
			}
			var r request
			if err := json.Unmarshal(part, &r); err != nil {
				c.Fatalf("%v: %s", err, part)
			}
			if part = part[:0]; r.User.Username == "gcity" && r.ObjectRef.Namespace == c.namespace {
				out = append(out, r)
			}
		}
	}
}
