package sessions

import (
	"path/filepath"
	"testing"

	"gcity/config"
)

// The helper gets the keys that are set, with absolute paths, and no defaults: its environment takes precedence over them.
func TestKubernetesSettings(t *testing.T) {
	dir := t.TempDir()
	c, err := config.Parse(dir, []byte(`
[workspace]
name = "app"
[session.k8s]
kubeconfig = "kube/config"
image = "agents:7"
tools_image = "gcity-pod:1"
image_pull_policy = "Never"
pod = "/etc/pod.yaml"
node_selector = { "kubernetes.io/os" = "linux" }
`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := kubernetesSettings(c)
	want := `{"image":"agents:7","image_pull_policy":"Never","kubeconfig":"` +
		filepath.Join(dir, "kube/config") + `",` +
		`"node_selector":{"kubernetes.io/os":"linux"},"pod":"/etc/pod.yaml",` +
		`"tools_image":"gcity-pod:1"}`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v, want\n%s", got, err, want)
	}
}

// Without the helper, the error says which program is missing.
func TestKubernetesWithoutHelper(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	dir := t.TempDir()
	c, err := config.Parse(dir, []byte("[workspace]\nname = \"app\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := kubernetesSettings(c); err != nil || string(got) != "{}" {
		t.Errorf("%s, %v", got, err)
	}
	if got := helperPath(); got != helperName {
		t.Errorf("the helper is %s", got)
	}
}
