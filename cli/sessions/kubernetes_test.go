package sessions

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gcity/config"
	"gcity/trust"
)

// The helper gets only the keys that are set, because its environment takes precedence over defaults.
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
		`"node_selector":{"kubernetes.io/os":"linux"},` +
		`"origins":{"image":"city.toml:6:9","image_pull_policy":"city.toml:8:21",` +
		`"kubeconfig":"city.toml:5:14","pod":"city.toml:9:7","tools_image":"city.toml:7:15"},` +
		`"pod":"/etc/pod.yaml",` +
		`"tools_image":"gcity-pod:1"}`
	if err != nil || string(got) != want {
		t.Errorf("%s, %v, want\n%s", got, err, want)
	}
}

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
		t.Errorf("helperPath() = %s", got)
	}
}

func TestKubernetesInstallHint(t *testing.T) {
	const hint = "`gcity help kubernetes` describes how to install gcity-session-k8s"
	dir, bin := t.TempDir(), t.TempDir()
	t.Setenv("PATH", bin)
	if err := os.Mkdir(filepath.Join(dir, ".gc"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "city.toml"), []byte("[workspace]\nname = \"a\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	h := opener{SessionOptions: SessionOptions{Dir: dir, Logger: slog.New(slog.DiscardHandler),
		Grant: trust.Running(nil)}}
	if _, _, err := h.kubernetes(); err == nil || !strings.Contains(err.Error(), hint) {
		t.Errorf("%v", err)
	}
	helper := "#!/bin/sh\necho no cluster is configured\nexit 1\n"
	if err := os.WriteFile(filepath.Join(bin, helperName), []byte(helper), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, _, err := h.kubernetes(); err == nil || strings.Contains(err.Error(), hint) ||
		!strings.Contains(err.Error(), "no cluster is configured") {
		t.Errorf("%v", err)
	}
}
