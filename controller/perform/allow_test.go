package perform

import (
	"context"
	"errors"
	"testing"

	"gcity/config"
)

// A configuration that declares more agents than allowed is rejected.
func TestAllowedAgents(t *testing.T) {
	cfg := &config.City{Agents: []config.Agent{{Name: "a", StartCommand: "x"},
		{Name: "b", StartCommand: "x"}}}
	asked := 0
	r := New(World{Allow: func(_ context.Context, agents int) error {
		if asked = agents; agents > 1 {
			return errors.New("too many")
		}
		return nil
	}})
	if err := r.w.allow(cfg); err == nil || asked != 2 {
		t.Errorf("%d agents: %v", asked, err)
	}
	cfg.Agents = cfg.Agents[:1]
	if err := r.w.allow(cfg); err != nil || asked != 1 {
		t.Errorf("%d agents: %v", asked, err)
	}
}
