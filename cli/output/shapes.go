package output

import "gcity/city"

// AgentShape is an agent in the form that the API uses: its resource usage in fields of their own, null if it was
// not measured.
type AgentShape struct {
	city.Agent
	Usage *city.Usage `json:"usage,omitempty"` // always nil: it hides the field of the agent
	CPU   *float64    `json:"cpu"`             // of one processor, in percent
	RSS   *int64      `json:"rss"`             // bytes
	Procs int         `json:"procs,omitempty"` // processes
}

func ShapeOf(g city.Agent) AgentShape {
	s := AgentShape{Agent: g}
	if u := g.Usage; u != nil {
		s.CPU, s.RSS, s.Procs = &u.CPU, &u.RSS, u.Procs
	}
	return s
}

func ShapesOf(agents []city.Agent) []AgentShape {
	out := make([]AgentShape, 0, len(agents))
	for _, g := range agents {
		out = append(out, ShapeOf(g))
	}
	return out
}

// PoolShape is a pool in the form that the API uses, with its members; RigShape a rig with its agents.
type PoolShape struct {
	city.Pool
	Members []AgentShape `json:"members"`
}

type RigShape struct {
	city.Rig
	Members []AgentShape `json:"members"`
}
