package cli

import (
	"testing"

	"gcity/city"
	"gcity/cli/folder"
	"gcity/cli/offline"
	"gcity/internal/eventually"
)

// Agents of a running controller are not orphans. After the controller is killed, they are.
func TestCountOrphans(t *testing.T) {
	cmd, dir := headlessCity(t, nil)
	eventually.True(t, "the agent is running", func() bool {
		near, closeNear, err := folder.Dial(dir)
		if err != nil {
			return false
		}
		defer closeNear()
		s, err := near.Snapshot(t.Context())
		return err == nil && len(s.Agents) == 1 && s.Agents[0].State == city.Running
	})
	if n, err := offline.CountOrphans(t.Context(), dir); n != 0 || err != nil {
		t.Errorf("with a controller: got %d, %v", n, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // the error only says that the process was killed
	if n, err := offline.CountOrphans(t.Context(), dir); n != 1 || err != nil {
		t.Errorf("without a controller: got %d, %v", n, err)
	}
}
