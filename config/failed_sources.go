package config

import "slices"

// unread holds the sources that could not be read. They may declare any name, so unknown names are not errors then.
type unread struct {
	files      bool            // an included file, or one given on the command line
	topologies map[string]bool // a topology of a rig, by the rig's name; "" = of the city
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
