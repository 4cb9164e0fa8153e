package cli

import "gcity/city"

// agentShape is an agent as the API gives it: what it takes stands beside the rest, null where nobody measured it.
type agentShape struct {
	city.Agent
	Usage *city.Usage `json:"usage,omitempty"` // always nil: it hides the agent's own
	CPU   *float64    `json:"cpu"`             // of one processor, in percent
	RSS   *int64      `json:"rss"`             // bytes
	Procs int         `json:"procs,omitempty"` // processes
}

func shapeOf(g city.Agent) agentShape {
	s := agentShape{Agent: g}
	if u := g.Usage; u != nil {
		s.CPU, s.RSS, s.Procs = &u.CPU, &u.RSS, u.Procs
	}
	return s
}

func shapesOf(agents []city.Agent) []agentShape {
	out := make([]agentShape, 0, len(agents))
	for _, g := range agents {
		out = append(out, shapeOf(g))
	}
	return out
}

// poolShape is a pool as the API gives it, with its members; rigShape a rig with its agents.
type poolShape struct {
	city.Pool
	Members []agentShape `json:"members"`
}

type rigShape struct {
	city.Rig
	Members []agentShape `json:"members"`
}

// statusShape is the status document as the API gives it.
type statusShape struct {
	Name        string           `json:"name"`
	Path        string           `json:"path"`
	Version     string           `json:"version"`
	UptimeSec   int64            `json:"uptime_sec"`
	Suspended   bool             `json:"suspended"`
	AgentCount  int              `json:"agent_count"`
	PoolCount   int              `json:"pool_count"`
	RigCount    int              `json:"rig_count"`
	Running     bool             `json:"running"` // a controller runs the city
	Agents      agentCounts      `json:"agents"`
	Pools       poolCounts       `json:"pools"`
	Rigs        rigCounts        `json:"rigs"`
	Work        workCounts       `json:"work"`
	Automations automationCounts `json:"automations"`
	CPU         float64          `json:"cpu"` // of one processor, in percent; all agents that are measured
	RSS         int64            `json:"rss"` // bytes, likewise
	Mode        string           `json:"mode,omitempty"`
	PID         int              `json:"pid,omitempty"`
	Seq         uint64           `json:"seq"`
	LoopAgeMS   int64            `json:"loop_age_ms"`
	Config      city.ConfigInfo  `json:"config"`
	Degraded    []string         `json:"degraded"`
	Items       []agentShape     `json:"items"`
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

type rigCounts struct {
	Total     int `json:"total"`
	Suspended int `json:"suspended"`
}

// workCounts counts what is to be done, records of runs left out.
type workCounts struct {
	Open       int `json:"open"`
	InProgress int `json:"in_progress"`
}

type automationCounts struct {
	Total   int `json:"total"`
	Running int `json:"running"`
	Due     int `json:"due"`
	Failing int `json:"failing"` // their newest run failed
	Broken  int `json:"broken"`
	Off     int `json:"off"`
}

func countAutomations(s *city.Snapshot) automationCounts {
	n := automationCounts{Total: len(s.Automations)}
	for i := range s.Automations {
		switch it := &s.Automations[i]; it.State {
		case city.AutomationRunning:
			n.Running++
		case city.AutomationDue:
			n.Due++
		case city.AutomationBroken:
			n.Broken++
		case city.AutomationOff:
			n.Off++
		}
		if s.Automations[i].Failures > 0 {
			n.Failing++
		}
	}
	return n
}

func (a *app) statusShape(s *city.Snapshot, live bool) statusShape {
	sum, _ := total(s)
	out := statusShape{
		Name: s.Name, Path: s.Path, Version: s.Version, Suspended: s.Suspended, Running: live,
		AgentCount: len(s.Agents), PoolCount: len(s.Pools), RigCount: len(s.Rigs),
		Agents: countAgents(s), Pools: poolCounts{Total: len(s.Pools)}, Rigs: rigCounts{Total: len(s.Rigs)}, CPU: sum.CPU, RSS: sum.RSS,
		Work: workCounts{Open: s.Work.Open, InProgress: s.Work.InProgress}, Automations: countAutomations(s),
		Mode: s.Mode, PID: s.PID, Seq: s.Seq, Config: s.Config, Degraded: append([]string{}, s.Degraded...), Items: shapesOf(s.Agents),
	}
	for i := range s.Pools {
		if s.Pools[i].Suspended {
			out.Pools.Suspended++
		}
		if s.Pools[i].Override != nil {
			out.Pools.Overridden++
		}
	}
	for i := range s.Rigs {
		if s.Rigs[i].Suspended {
			out.Rigs.Suspended++
		}
	}
	if live {
		out.UptimeSec = int64(a.now().Sub(s.Started).Seconds())
		out.LoopAgeMS = s.Patrol.Age(a.now()).Milliseconds()
	} else {
		out.Version = a.version
	}
	return out
}

func countAgents(s *city.Snapshot) agentCounts {
	n := s.Count()
	out := agentCounts{
		Total: len(s.Agents), Suspended: n[city.Suspended], Quarantined: n[city.Quarantined], Draining: n[city.Draining],
		Waiting: n[city.Waiting], States: n,
	}
	for i := range s.Agents {
		if s.Agents[i].Running {
			out.Running++
		}
	}
	return out
}
