package config

import "slices"

// failedSources records sources that could not be read. They could declare any name, so an unknown name is not
// reported as an error.
type failedSources struct {
	// a file that is included or given on the command line could not be read
	files bool
	// names of the rigs ("" = the city) with a topology that could not be read
	topologies map[string]bool
}

// affects reports whether the city (the name "") or one of these rigs uses a source that could not be read.
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
