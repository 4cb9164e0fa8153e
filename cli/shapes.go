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
