package api

import (
	"net/http"
	"time"

	"gcity/city"
)

type healthAnswer struct {
	Status   string   `json:"status"` // "ok", "degraded"
	Version  string   `json:"version"`
	Uptime   int64    `json:"uptime_sec"`
	Total    int      `json:"cities_total"`
	Running  int      `json:"cities_running"`
	LoopAge  int64    `json:"loop_age_ms"`
	Degraded []string `json:"degraded"`
}

func (s *server) health(w http.ResponseWriter, r *http.Request, _ route) error {
	snap, err := s.city.Snapshot(r.Context())
	if err != nil {
		return err
	}
	now := time.Now()
	a := healthAnswer{
		Status: "ok", Version: snap.Version, Uptime: uptime(snap, now), Total: 1, Running: 1,
		LoopAge: snap.Patrol.Age(now).Milliseconds(), Degraded: degraded(snap),
	}
	if len(a.Degraded) > 0 {
		a.Status = "degraded"
	}
	s.ok(w, snap, a)
	return nil
}

func uptime(snap *city.Snapshot, now time.Time) int64 {
	return int64(max(0, now.Sub(snap.Started)).Seconds())
}

// degraded is a list that is never null.
func degraded(snap *city.Snapshot) []string { return append([]string{}, snap.Degraded...) }

type cityAnswer struct {
	Name    string `json:"name"`
	Path    string `json:"path"`
	Running bool   `json:"running"`
	Status  string `json:"status"` // "running", "suspended", "stopping"
}

func (s *server) cities(w http.ResponseWriter, r *http.Request, _ route) error {
	snap, err := s.city.Snapshot(r.Context())
	if err != nil {
		return err
	}
	a := cityAnswer{Name: snap.Name, Path: snap.Path, Running: true, Status: "running"}
	switch {
	case snap.ShutDown:
		a.Status = "stopping"
	case snap.Suspended:
		a.Status = "suspended"
	}
	s.ok(w, snap, listOf([]cityAnswer{a}))
	return nil
}

type statusAnswer struct {
	Name      string          `json:"name"`
	Path      string          `json:"path"`
	Version   string          `json:"version"`
	Uptime    int64           `json:"uptime_sec"`
	Suspended bool            `json:"suspended"`
	Agents    int             `json:"agent_count"`
	Pools     int             `json:"pool_count"`
	Rigs      int             `json:"rig_count"`
	Autos     int             `json:"automation_count"`
	Running   int             `json:"running"`
	Count     agentCounts     `json:"agents"`
	PoolCount poolCounts      `json:"pools"`
	RigCount  rigCounts       `json:"rigs"`
	AutoCount autoCounts      `json:"automations"`
	Work      city.Work       `json:"work"`
	CPU       float64         `json:"cpu"` // of one processor, in percent; all agents that are measured
	RSS       int64           `json:"rss"` // bytes, likewise
	PID       int             `json:"pid"`
	Mode      string          `json:"mode"`
	LoopAge   int64           `json:"loop_age_ms"`
	Config    city.ConfigInfo `json:"config"`
	Degraded  []string        `json:"degraded"`
}

type agentCounts struct {
	Total       int                `json:"total"`
	Running     int                `json:"running"` // of any state: their processes live
	Suspended   int                `json:"suspended"`
	Quarantined int                `json:"quarantined"`
	Draining    int                `json:"draining"`
	Waiting     int                `json:"waiting"`
	States      map[city.State]int `json:"states"`
}

type poolCounts struct {
	Total      int `json:"total"`
	Suspended  int `json:"suspended"`
	Overridden int `json:"overridden"` // their size was set by hand
}

type autoCounts struct {
	Total   int                          `json:"total"`
	Failing int                          `json:"failing"` // their newest runs failed, or they cannot be used
	States  map[city.AutomationState]int `json:"states"`
}

type rigCounts struct {
	Total     int `json:"total"`
	Suspended int `json:"suspended"`
}

func (s *server) status(w http.ResponseWriter, r *http.Request, _ route) error {
	snap, err := s.look(r)
	if err != nil {
		return err
	}
	now := time.Now()
	a := statusAnswer{
		Name: snap.Name, Path: snap.Path, Version: snap.Version, Uptime: uptime(snap, now), Suspended: snap.Suspended,
		Agents: len(snap.Agents), Pools: len(snap.Pools), Rigs: len(snap.Rigs), Autos: len(snap.Automations),
		Count: countAgents(snap), PoolCount: countPools(snap.Pools), RigCount: countRigs(snap.Rigs),
		AutoCount: countAutomations(snap.Automations), Work: snap.Work,
		PID: snap.PID, Mode: snap.Mode, LoopAge: snap.Patrol.Age(now).Milliseconds(), Config: snap.Config,
		Degraded: degraded(snap),
	}
	a.Running = a.Count.Running
	for i := range snap.Agents {
		if u := snap.Agents[i].Usage; u != nil {
			a.CPU, a.RSS = a.CPU+u.CPU, a.RSS+u.RSS
		}
	}
	s.ok(w, snap, a)
	return nil
}

func countAgents(snap *city.Snapshot) agentCounts {
	n := snap.Count()
	c := agentCounts{
		Total: len(snap.Agents), Suspended: n[city.Suspended], Quarantined: n[city.Quarantined],
		Draining: n[city.Draining], Waiting: n[city.Waiting], States: n,
	}
	for i := range snap.Agents {
		if snap.Agents[i].Running {
			c.Running++
		}
	}
	return c
}

func countPools(pools []city.Pool) poolCounts {
	c := poolCounts{Total: len(pools)}
	for i := range pools {
		if pools[i].Suspended {
			c.Suspended++
		}
		if pools[i].Override != nil {
			c.Overridden++
		}
	}
	return c
}

func countRigs(rigs []city.Rig) rigCounts {
	c := rigCounts{Total: len(rigs)}
	for i := range rigs {
		if rigs[i].Suspended {
			c.Suspended++
		}
	}
	return c
}

func countAutomations(all []city.Automation) autoCounts {
	c := autoCounts{Total: len(all), States: map[city.AutomationState]int{}}
	for i := range all {
		c.States[all[i].State]++
		if all[i].Failures > 0 || all[i].State == city.AutomationBroken {
			c.Failing++
		}
	}
	return c
}
