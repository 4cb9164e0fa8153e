package config

import "slices"

// unread lists the sources that could not be read. They may declare any name, so an unknown name is no error then.
type unread struct {
	files      bool            // one that is included, or given on the command line
	topologies map[string]bool // one of a rig's, by its name; "" = of the city
}

// misses reports whether a source of one of these rigs could not be read; "" is the city.
func (u *unread) misses(rigs ...string) bool {
	return u.files || slices.ContainsFunc(rigs, func(r string) bool { return u.topologies[r] })
}

// any reports whether any source could not be read.
func (u *unread) any() bool { return u.files || len(u.topologies) > 0 }

func (u *unread) of(r *Rig) {
	if u.topologies == nil {
		u.topologies = map[string]bool{}
	}
	u.topologies[nameOf(r)] = true
}

// nameOf returns the name of a rig, "" for nil.
func nameOf(r *Rig) string {
	if r == nil {
		return ""
	}
	return r.Name
}
