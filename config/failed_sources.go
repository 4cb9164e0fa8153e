package config

import "slices"

// failedSources records which sources are unreadable. They could declare any name, so unknown names are not errors.
type failedSources struct {
	// an included or additional file is unreadable
	files bool
	// rigs with an unreadable topology; "" = the city
	topologies map[string]bool
}

func (u *failedSources) affects(rigs ...string) bool {
	return u.files || slices.ContainsFunc(rigs, func(r string) bool { return u.topologies[r] })
}

func (u *failedSources) any() bool { return u.files || len(u.topologies) > 0 }

func (u *failedSources) addTopology(r *Rig) {
	if u.topologies == nil {
		u.topologies = map[string]bool{}
	}
	u.topologies[nameOf(r)] = true
}

func nameOf(r *Rig) string {
	if r == nil {
		return ""
	}
	return r.Name
}
