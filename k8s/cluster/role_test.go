package cluster

import (
	"os"
	"strings"
	"testing"
)

// k8s/deploy/agents/role.yaml grants exactly the rights that this program needs.
func TestRole(t *testing.T) {
	text, err := os.ReadFile("../deploy/agents/role.yaml")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(text), "rules:\n")
	list, _, _ = strings.Cut(list, "\n---")
	if want := strings.Join(rules(rights()), "\n"); list != want {
		t.Errorf("role.yaml has\n%s\nwant\n%s", list, want)
	}
}
