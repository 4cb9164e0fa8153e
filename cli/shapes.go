package cli

import "gcity/city"

// agentShape is an agent as the API gives it: what it takes stands beside the rest.
type agentShape struct {
	city.Agent
	CPU *float64 `json:"cpu,omitempty"` // of one processor, in percent
	RSS *int64   `json:"rss,omitempty"` // bytes
}

func shapeOf(g city.Agent) agentShape {
	s := agentShape{Agent: g}
	if u := g.Usage; u != nil {
		s.CPU, s.RSS = &u.CPU, &u.RSS
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
	Name       string          `json:"name"`
	Path       string          `json:"path"`
	Version    string          `json:"version"`
	UptimeSec  int64           `json:"uptime_sec"`
	Suspended  bool            `json:"suspended"`
	AgentCount int             `json:"agent_count"`
	RigCount   int             `json:"rig_count"`
	Running    bool            `json:"running"` // a controller runs the city
	Agents     agentCounts     `json:"agents"`
	Rigs       rigCounts       `json:"rigs"`
	Mode       string          `json:"mode,omitempty"`
	PID        int             `json:"pid,omitempty"`
	Seq        uint64          `json:"seq"`
	LoopAgeMS  int64           `json:"loop_age_ms"`
	Config     city.ConfigInfo `json:"config"`
	Degraded   []string        `json:"degraded"`
	Items      []agentShape    `json:"items"`
}

type agentCounts struct {
	Total       int `json:"total"`
	Running     int `json:"running"`
	Suspended   int `json:"suspended"`
	Quarantined int `json:"quarantined"`
}

type rigCounts struct {
	Total     int `json:"total"`
	Suspended int `json:"suspended"`
}

func (a *app) statusShape(s *city.Snapshot, live bool) statusShape {
	count := s.Count()
	out := statusShape{
		Name: s.Name, Path: s.Path, Version: s.Version, Suspended: s.Suspended, AgentCount: len(s.Agents), Running: live,
		Agents: agentCounts{Total: len(s.Agents), Suspended: count[city.Suspended], Quarantined: count[city.Quarantined]},
		Mode:   s.Mode, PID: s.PID, Seq: s.Seq, Config: s.Config, Degraded: s.Degraded, Items: shapesOf(s.Agents),
	}
	for i := range s.Agents {
		if s.Agents[i].Running {
			out.Agents.Running++
		}
	}
	if out.Degraded == nil {
		out.Degraded = []string{}
	}
	if live {
		out.UptimeSec = int64(a.now().Sub(s.Started).Seconds())
		out.LoopAgeMS = s.Patrol.Age(a.now()).Milliseconds()
	} else {
		out.Version = a.version
	}
	return out
}
