package config

import (
	"errors"
	"slices"

	"gcity/internal/redact"
	"gcity/internal/toml"
)

// unread is what of a configuration could not be read. Nobody is missed for what it may have declared: that would
// be told of a mistake made elsewhere.
type unread struct {
	files      bool            // one that is included, or given on the command line
	topologies map[string]bool // one of a rig's, by its name; "" = of the city
}

// misses says whether nobody knows what there is: of the rigs named, "" for the city.
func (u *unread) misses(rigs ...string) bool {
	return u.files || slices.ContainsFunc(rigs, func(r string) bool { return u.topologies[r] })
}

// any says whether anything could not be read.
func (u *unread) any() bool { return u.files || len(u.topologies) > 0 }

func (u *unread) of(r *Rig) {
	if u.topologies == nil {
		u.topologies = map[string]bool{}
	}
	u.topologies[nameOf(r)] = true
}

// nameOf is the name of a rig, "" for none.
func nameOf(r *Rig) string {
	if r == nil {
		return ""
	}
	return r.Name
}

// unplaced says why a topology cannot be read, once, by what it is known by. What is wrong with the lock is said of
// the lock.
func (d *decoder) unplaced(at Origin, key, known string, err error) {
	before := len(d.problems)
	if wrong, is := errors.AsType[toml.Problems](err); is {
		whose := d.whose
		d.whose = nil
		defer func() { d.whose = whose }()
		for _, p := range wrong {
			d.say(Origin{p.File, p.Line, p.Column}, p.Key, p.Message)
		}
		d.causes(before)
		return
	}
	if i, there := d.lost[known]; there {
		d.seen(i)
		return
	}
	d.say(at, key, redact.Text(err.Error()))
	d.causes(before)
	if d.lost == nil {
		d.lost = map[string]int{}
	}
	if len(d.problems) > before {
		d.lost[known] = before
	}
}
