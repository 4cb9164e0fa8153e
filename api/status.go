package api

import (
	"time"

	"gcity/api/wire"
	"gcity/city"
	"gcity/describe"
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

func health(q *query) (any, error) {
	snap, now := q.snap, time.Now()
	a := healthAnswer{
		Status: "ok", Version: snap.Version, Uptime: uptime(snap, now), Total: 1, Running: 1,
		LoopAge: loopAge(snap, now), Degraded: degraded(snap),
	}
	if len(a.Degraded) > 0 {
		a.Status = "degraded"
	}
	return a, nil
}

func uptime(snap *city.Snapshot, now time.Time) int64 {
	if snap.Started.IsZero() {
		return 0
	}
	return int64(max(0, now.Sub(snap.Started)).Seconds())
}

func loopAge(snap *city.Snapshot, now time.Time) int64 {
	if snap.Patrol.Last.IsZero() {
		return 0
	}
	return snap.Patrol.Age(now).Milliseconds()
}

// degraded returns a copy that is never null in JSON.
func degraded(snap *city.Snapshot) []string { return append([]string{}, snap.Degraded...) }

func cities(q *query) (any, error) {
	a := city.Info{Name: q.snap.Name, Path: q.snap.Path, Running: true, Status: city.CityRunning}
	switch {
	case q.snap.ShutDown:
		a.Status = city.CityStopping
	case q.snap.Suspended:
		a.Status = city.CitySuspended
	}
	p, err := page(q.Request, []city.Info{a}, func(i *city.Info) string { return i.Name })
	return wire.Cities{List: p, Running: 1}, err
}

// Status is the response to GET /v0/status.
type Status struct {
	Name      string           `json:"name"`
	Path      string           `json:"path"`
	Version   string           `json:"version"`
	Uptime    int64            `json:"uptime_sec"` // uptime of the controller; 0 = not running
	Suspended bool             `json:"suspended"`
	Agents    int              `json:"agent_count"`
	Pools     int              `json:"pool_count"`
	Rigs      int              `json:"rig_count"`
	Autos     int              `json:"automation_count"`
	Running   int              `json:"running"` // agents with a running process
	Count     AgentCounts      `json:"agents"`
	PoolCount PoolCounts       `json:"pools"`
	RigCount  RigCounts        `json:"rigs"`
	AutoCount AutomationCounts `json:"automations"`
	Work      city.Work        `json:"work"`
	Mail      city.MailCount   `json:"mail"` // mail for users
	// CPU usage of all measured agents, in percent of one processor
	CPU      float64         `json:"cpu"`
	RSS      int64           `json:"rss"`  // memory of all measured agents, in bytes
	PID      int             `json:"pid"`  // 0 = not running
	Mode     string          `json:"mode"` // "" = not running
	LoopAge  int64           `json:"loop_age_ms"`
	API      string          `json:"api,omitempty"`
	Config   city.ConfigInfo `json:"config"`
	Degraded []string        `json:"degraded"` // never null
	Ending   *city.Ending    `json:"ending,omitempty"`
	Stranded []city.Stranded `json:"stranded,omitempty"`
}

// AgentCounts counts the agents of a city.
type AgentCounts struct {
	Total       int                `json:"total"`
	Running     int                `json:"running"` // agents with a running process, in any state
	Suspended   int                `json:"suspended"`
	Quarantined int                `json:"quarantined"`
	Draining    int                `json:"draining"`
	Waiting     int                `json:"waiting"`
	Asking      int                `json:"asking"` // agents that ask their user a question
	States      map[city.State]int `json:"states"`
}

// PoolCounts counts the pools of a city.
type PoolCounts struct {
	Total      int `json:"total"`
	Suspended  int `json:"suspended"`
	Overridden int `json:"overridden"` // pools with a manually set size
}

// AutomationCounts counts the automations of a city.
type AutomationCounts struct {
	Total int `json:"total"`
	// automations that are broken, or that failed in their latest run
	Failing int                          `json:"failing"`
	States  map[city.AutomationState]int `json:"states"`
}

// RigCounts counts the rigs of a city.
type RigCounts struct {
	Total     int `json:"total"`
	Suspended int `json:"suspended"`
}

func status(q *query) (any, error) { return StatusOf(q.snap, time.Now()), nil }

// StatusOf derives the status from a snapshot. Uptime and loop age are 0 if the snapshot is not from a controller.
func StatusOf(snap *city.Snapshot, now time.Time) Status {
	a := Status{
		Name: snap.Name, Path: snap.Path, Version: snap.Version, Uptime: uptime(snap, now),
		Suspended: snap.Suspended,
		Agents:    len(snap.Agents), Pools: len(snap.Pools), Rigs: len(snap.Rigs),
		Autos: len(snap.Automations),
		Count: countAgents(snap), PoolCount: countPools(snap.Pools), RigCount: countRigs(snap.Rigs),
		AutoCount: countAutomations(snap.Automations), Work: snap.Work, Mail: snap.Mail,
		PID: snap.PID, Mode: snap.Mode, LoopAge: loopAge(snap, now), API: snap.API,
		Config:   snap.Config,
		Degraded: degraded(snap), Ending: snap.Ending, Stranded: snap.Stranded,
	}
	a.Running = a.Count.Running
	for i := range snap.Agents {
		if u := snap.Agents[i].Usage; u != nil {
			a.CPU, a.RSS = a.CPU+u.CPU, a.RSS+u.RSS
		}
	}
	return a
}

func countAgents(snap *city.Snapshot) AgentCounts {
	n := snap.Count()
	c := AgentCounts{
		Total: len(snap.Agents), Suspended: n[city.Suspended], Quarantined: n[city.Quarantined],
		Draining: n[city.Draining], Waiting: n[city.Waiting], States: n, Running: snap.Running(),
	}
	for i := range snap.Agents {
		a := &snap.Agents[i]
		if describe.AlertState(a.State, &a.Blocker) == describe.Asking {
			c.Asking++
		}
	}
	return c
}

func countPools(pools []city.Pool) PoolCounts {
	c := PoolCounts{Total: len(pools)}
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

func countRigs(rigs []city.Rig) RigCounts {
	c := RigCounts{Total: len(rigs)}
	for i := range rigs {
		if rigs[i].Suspended {
			c.Suspended++
		}
	}
	return c
}

func countAutomations(all []city.Automation) AutomationCounts {
	c := AutomationCounts{Total: len(all), States: map[city.AutomationState]int{}}
	for i := range all {
		c.States[all[i].State]++
		if all[i].Failures > 0 || all[i].State == city.AutomationBroken {
			c.Failing++
		}
	}
	return c
}
