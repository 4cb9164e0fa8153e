package citytest

import (
	"strings"
	"time"

	"gcity/beads"
	"gcity/city"
)

// NewTown creates a Fake for Suite, with its agents, pool, rig and automations.
func NewTown() *Fake {
	f := NewFake("town",
		city.Agent{Name: Worker, Running: true}, city.Agent{Name: Lazy},
		city.Agent{Name: crew(1), Pool: Crew, Running: true},
		city.Agent{Name: RigWorker, Rig: Rig, Running: true}, city.Agent{Name: RigLazy, Rig: Rig},
	)
	f.EndRuns(Chore, 0, "swept")
	f.EndRuns(Wreck, 3, "oops")
	f.Recipe(Brew, beads.Bead{ID: "$boil", Ref: "boil", Title: "Boil"},
		beads.Bead{ID: "$pour", Ref: "pour", Title: "Pour", Needs: []string{"$boil"}})
	f.Print(Worker, Ready+"\r\n")
	f.Set(func(s *city.Snapshot) {
		s.Config = city.ConfigInfo{Revision: "0123456789ab", Loaded: s.Started}
		good := s.Started
		s.Pools = []city.Pool{{
			Name: Crew, Min: CrewMin, Max: CrewMax, Size: 1, Desired: CrewMin,
			Reason: "check said 1", Since: s.Started,
			Check:  city.Check{Command: "echo 1", Value: CrewMin, At: &good, Good: &good},
			Source: "city.toml:9",
		}}
		s.Automations = []city.Automation{
			{Name: Brew, Source: "formulas/automations/brew/automation.toml", Gate: "manual",
				Formula: Brew, Pool: Crew, State: city.AutomationIdle, Reason: "manual"},
			{Name: Chore, Source: "formulas/automations/chore/automation.toml", Gate: "manual",
				Exec: choreExec, State: city.AutomationIdle, Reason: "manual"},
			{Name: Torn, Source: "formulas/automations/torn/automation.toml",
				State: city.AutomationBroken,
				Reason: "formulas/automations/torn/automation.toml:2:1: unknown key \"gaet\"; " +
					"did you mean \"gate\"?"},
			{Name: Wreck, Source: "formulas/automations/wreck/automation.toml", Gate: "manual",
				Exec: wreckExec, State: city.AutomationIdle, Reason: "manual"},
		}
		s.Rigs = []city.Rig{{Name: Rig, Path: s.Path + "/" + Rig, Prefix: "ya", Agents: 2,
			Running: 1, Source: "city.toml:5"}}
	})
	return f
}

// Hold makes the configuration one that would remove every running agent and needs a confirmation.
func (f *Fake) Hold() {
	f.Set(func(s *city.Snapshot) {
		held := &city.Held{Revision: "ba9876543210", Since: time.Now()}
		for _, a := range s.Agents {
			if a.Running {
				held.Removes = append(held.Removes, a.Name)
			}
		}
		held.Running, held.Plan = len(held.Removes),
			[]string{"removed " + strings.Join(held.Removes, ", ")}
		s.Config.Held = held
	})
}
