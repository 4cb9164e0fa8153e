package cli

import (
	"gcity/agent"
	"gcity/pool"
)

// members are the possible members of a pool.
func members(wants []agent.Want, pool string) []agent.Want {
	var out []agent.Want
	for _, w := range wants {
		if w.Pool == pool {
			out = append(out, w)
		}
	}
	return out
}

// chosen says which of a pool's possible members it wants at a size, by how each of them stands.
func chosen(of []agent.Want, size int, standing func(name string) pool.Standing) map[string]bool {
	last := 0
	for _, w := range of {
		last = max(last, w.Index)
	}
	all, out := make([]pool.Standing, last), map[string]bool{}
	for _, w := range of {
		all[w.Index-1] = standing(w.Name)
	}
	pool.Choose(all, size)
	for _, w := range of {
		out[w.Name] = all[w.Index-1].In
	}
	return out
}
