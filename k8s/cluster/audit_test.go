package cluster

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	authv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"gcity/internal/eventually"
)

type request struct {
	Verb      string
	User      struct{ Username string }
	ObjectRef struct{ Resource, Subresource, Namespace string }
	Stage     string
}

// The function next returns the new requests of the user gcity.
func auditLog(t *testing.T) (next func() []request) {
	t.Helper()
	dir := os.Getenv("GCITY_TEST_CLUSTER_DIR")
	if dir == "" {
		t.Skip("this cluster has no known audit log: run make test-k8s")
	}
	f, err := os.Open(filepath.Join(dir, "audit.log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if _, err := f.Seek(0, io.SeekEnd); err != nil {
		t.Fatal(err)
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
				t.Fatalf("%v: %s", err, part)
			}
			if part = part[:0]; r.User.Username == "gcity" {
				out = append(out, r)
			}
		}
	}
}

func grant(t *testing.T, s Settings, all []right) {
	t.Helper()
	ns, rbac := s.Namespace, admin(t, s).RbacV1()
	role := &rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: "gcity"}}
	for _, r := range all {
		role.Rules = append(role.Rules, rbacv1.PolicyRule{APIGroups: []string{r.group},
			Resources: []string{r.resource}, Verbs: []string{r.verb}})
	}
	_, err := rbac.Roles(ns).Create(t.Context(), role, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		_, err = rbac.Roles(ns).Update(t.Context(), role, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	binding := &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "gcity"},
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "gcity"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "gcity"}}}
	if _, err := rbac.RoleBindings(ns).Create(t.Context(), binding, metav1.CreateOptions{}); err != nil &&
		!apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	// the API server uses a cache of the roles
	eventually.True(t, "the role is in force", func() bool {
		return !slices.ContainsFunc(rights(), func(r right) bool {
			return allows(t, s, r) != slices.Contains(all, r)
		})
	})
}

func allows(t *testing.T, s Settings, r right) bool {
	t.Helper()
	resource, subresource, _ := strings.Cut(r.resource, "/")
	review := &authv1.LocalSubjectAccessReview{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace},
		Spec: authv1.SubjectAccessReviewSpec{User: "gcity", ResourceAttributes: &authv1.ResourceAttributes{
			Namespace: s.Namespace, Verb: r.verb, Group: r.group, Resource: resource, Subresource: subresource}}}
	review, err := admin(t, s).AuthorizationV1().LocalSubjectAccessReviews(s.Namespace).
		Create(t.Context(), review, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return review.Status.Allowed
}

// While agents are idle, the audit log contains only watches and renewals of the Lease. The rights of the Role are
// sufficient.
func TestIdleRequests(t *testing.T) {
	s := settings(t)
	s.Namespace += "-idle"
	open(t, t.TempDir(), s) // creates the namespace
	grant(t, s, rights())
	s.Context = "gcity"
	p := openAs(t, Options{City: t.TempDir(), Settings: s, Lease: 3 * time.Second})
	for i := range 3 {
		if _, err := p.Start(t.Context(), spec(p.o.City, fmt.Sprint("a", i), "exec cat")); err != nil {
			t.Fatal(err)
		}
	}
	patrol := func() {
		if all, err := p.List(t.Context()); err != nil || len(all) != 3 {
			t.Fatalf("%v, %v", all, err)
		}
		if all, err := p.Usage(t.Context()); err != nil || len(all) != 3 {
			t.Fatalf("%v, %v", all, err)
		}
	}
	patrol()
	next, renewals := auditLog(t), 0
	eventually.True(t, "the Lease is renewed several times", func() bool {
		patrol()
		for _, r := range next() {
			switch ref := r.ObjectRef; {
			case ref.Namespace != s.Namespace:
			case r.Verb == "update" && ref.Resource == "leases":
				renewals++
			case r.Verb == "watch" && ref.Subresource == "":
			default:
				t.Errorf("got a request while all agents are idle: %+v", r)
			}
		}
		return renewals >= 10
	})
}
