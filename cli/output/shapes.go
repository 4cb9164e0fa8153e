package output

import "gcity/city"

// AgentShape is the JSON form of an agent, as in the API. Resource usage is null if it was not measured.
type AgentShape struct {
	city.Agent
	// always nil, to hide city.Agent.Usage
	Usage *city.Usage `json:"usage,omitempty"`
	CPU   *float64    `json:"cpu"` // percentage of one processor
	RSS   *int64      `json:"rss"` // in bytes
	Procs int         `json:"procs,omitempty"`
}

// ShapeOf returns the AgentShape of an agent.
func ShapeOf(g city.Agent) AgentShape {
	s := AgentShape{Agent: g}
	if u := g.Usage; u != nil {
		s.CPU, s.RSS, s.Procs = &u.CPU, &u.RSS, u.Procs
	}
	return s
}

// ShapesOf returns the AgentShapes of several agents.
func ShapesOf(agents []city.Agent) []AgentShape {
	out := make([]AgentShape, 0, len(agents))
	for _, g := range agents {
		out = append(out, ShapeOf(g))
	}
	return out
}

// PoolShape is the JSON form of a pool with its members, as in the API.
type PoolShape struct {
	city.Pool
	Members []AgentShape `json:"members"`
}

// RigShape is the JSON form of a rig with its agents, as in the API.
type RigShape struct {
	city.Rig
	Members []AgentShape `json:"members"`
}
