package config

import (
	"fmt"
	"gcity/config/keys"
	"gcity/internal/toml"
	"maps"
	"slices"
	"strings"
)

// routes checks that there is somebody who gets the work of each rig.
func (d checker) routes() {
	for i := range d.city.Rigs {
		r := &d.city.Rigs[i]
		if r.DefaultSlingTarget == "" {
			continue
		}
		if msg := d.noTarget(r); msg != "" {
			d.say(r.Origins["default_sling_target"], "rigs.default_sling_target", msg)
		}
	}
}

// noTarget says why nobody gets a rig's work, "" if somebody does or nobody knows. A name is looked for in the rig
// first, then in the city, then as the last part of a name that only one has; "pool:" before it makes it that of a
// pool.
func (d checker) noTarget(r *Rig) string {
	name, forced := strings.CutPrefix(strings.TrimSpace(r.DefaultSlingTarget), "pool:")
	fits := func(q string) bool {
		a := d.named[q]
		return a != nil && (!forced || a.Pool != nil && a.Qualified() == q)
	}
	rig, bare := cutRig(name)
	if !forced && fits(r.Name+"/"+name) || fits(name) || d.unread.misses("", r.Name, rig) {
		return ""
	}
	var same, spelled []string
	for _, q := range slices.Sorted(maps.Keys(d.named)) {
		if !fits(q) {
			continue
		}
		if strings.HasSuffix(q, "/"+name) {
			same = append(same, q)
		}
		_, last := cutRig(q)
		spelled = append(spelled, q, last)
	}
	kind := "neither an agent nor a pool"
	if forced {
		kind = "no pool"
	}
	switch near := keys.Suggest(bare, spelled); {
	case len(same) == 1:
		return ""
	case len(same) > 1:
		return fmt.Sprintf("%q is one of %s; say which", name, toml.List(same))
	case near != "":
		return fmt.Sprintf("%q is %s; did you mean %q?", name, kind, near)
	default:
		return fmt.Sprintf("%q is %s; name one, or take it out", name, kind)
	}
}
