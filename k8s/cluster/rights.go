package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"gcity/session"
)

type right struct{ group, resource, verb string }

// rights returns the required permissions in the same order as k8s/deploy/agents/role.yaml.
func rights() []right {
	var out []right
	for _, r := range []struct {
		group, resource string
		verbs           []string
	}{
		{"", "pods", []string{"get", "list", "watch", "create", "delete"}},
		{"", "pods/exec", []string{"get", "create"}},
		{"", "events", []string{"watch"}},
		{"coordination.k8s.io", "leases", []string{"get", "create", "update"}},
	} {
		for _, verb := range r.verbs {
			out = append(out, right{r.group, r.resource, verb})
		}
	}
	return out
}

// rules returns the lines of a Role that grant the permissions.
func rules(all []right) []string {
	var out []string
	for len(all) > 0 {
		first := all[0]
		var verbs []string
		all = slices.DeleteFunc(slices.Clone(all), func(r right) bool {
			same := r.group == first.group && r.resource == first.resource
			if same {
				verbs = append(verbs, r.verb)
			}
			return same
		})
		out = append(out, fmt.Sprintf("- {apiGroups: [%q], resources: [%s], verbs: [%s]}",
			first.group, first.resource, strings.Join(verbs, ", ")))
	}
	return out
}

// lacking returns the required permissions that the provider does not have. It omits permissions that cannot be
// checked.
func lacking(ctx context.Context, p *Provider) []right {
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	all := rights()
	denied := make([]bool, len(all))
	var wg sync.WaitGroup
	for i, r := range all {
		wg.Go(func() {
			resource, sub, _ := strings.Cut(r.resource, "/")
			review := &authorizationv1.SelfSubjectAccessReview{
				Spec: authorizationv1.SelfSubjectAccessReviewSpec{
					ResourceAttributes: &authorizationv1.ResourceAttributes{
						Namespace: p.o.Settings.Namespace, Verb: r.verb, Group: r.group,
						Resource: resource, Subresource: sub,
					},
				},
			}
			got, err := p.client.AuthorizationV1().SelfSubjectAccessReviews().
				Create(ctx, review, metav1.CreateOptions{})
			denied[i] = err == nil && !got.Status.Allowed
		})
	}
	wg.Wait()
	var out []right
	for i, r := range all {
		if denied[i] {
			out = append(out, r)
		}
	}
	return out
}

// denial matches the part of an error in which the API server names the missing permission.
var denial = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`cannot (\S+) resource "([^"]+)" in API group "([^"]*)"`)
})

func denied(err error, verb string) right {
	if m := denial().FindStringSubmatch(err.Error()); m != nil {
		return right{group: m[3], resource: m[2], verb: m[1]}
	}
	out := right{resource: "pods", verb: verb}
	var status apierrors.APIStatus
	if errors.As(err, &status) && status.Status().Details != nil {
		d := status.Status().Details
		out.group, out.resource = d.Group, cmp.Or(d.Kind, out.resource)
	}
	return out
}

func notAllowed(namespace string, all []right, cause error) error {
	lines := rules(all)
	these := "this line"
	if len(lines) > 1 {
		these = "each of these lines"
	}
	text := fmt.Sprintf("the cluster does not allow gcity to %s %s in namespace %s; add %s "+
		"to the rules of gcity's Role: `%s`", all[0].verb, all[0].resource, namespace, these,
		strings.Join(lines, "`, `"))
	if cause != nil {
		return session.Missing(fmt.Errorf("%s (%w)", text, cause))
	}
	return session.Missing(errors.New(text))
}
