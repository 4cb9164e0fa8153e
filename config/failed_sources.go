package config

import "slices"

// unread has the sources that could not be read. They may declare any name, so unknown names are then not errors.
type unread struct {
	// an included file or one given on the command line could not be read
	files bool
	// a topology of a rig could not be read, by the rig's name; "" = of the city
	topologies map[string]bool
}

// misses reports whether a source of one of these rigs could not be read; "" is the city.
func (u *unread) misses(rigs ...string) bool {
	return u.files || slices.ContainsFunc(rigs, func(r string) bool { return u.topologies[r] })
}

func (u *unread) any() bool { return u.files || len(u.topologies) > 0 }

func (u *unread) of(r *Rig) {
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
