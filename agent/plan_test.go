package agent

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gcity/config"
)

func city(t *testing.T, text string) *config.City {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, config.FileName), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestPlanIsInNameOrder(t *testing.T) {
	c := city(t, `
[workspace]
name = "app"
[[agents]]
name = "b.2"
start_command = "sh"
[[agents]]
name = "a"
start_command = "sh"
`)
	wants := Plan(c, Host{})
	var names, sessions []string
	for _, w := range wants {
		names, sessions = append(names, w.Name), append(sessions, w.Spec.Name)
	}
	if want := []string{"a", "b.2"}; !slices.Equal(names, want) {
		t.Errorf("names %q, want %q", names, want)
	}
	if want := []string{"gc-app-a", "gc-app-b_d2"}; !slices.Equal(sessions, want) {
		t.Errorf("sessions %q, want %q", sessions, want)
	}
}
