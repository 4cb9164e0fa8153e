package config

import (
	"fmt"
	"gcity/config/keys"
	"gcity/internal/toml"
	"maps"
	"slices"
	"strings"
)

func (d checker) checkRoutes() {
	for i := range d.city.Rigs {
		r := &d.city.Rigs[i]
		if r.DefaultSlingTarget == "" {
			continue
		}
		if msg := d.invalidTarget(r); msg != "" {
			d.addError(r.Origins["default_sling_target"], "rigs.default_sling_target", "%s", msg)
		}
	}
}

func (d checker) invalidTarget(r *Rig) string {
	name, forced := strings.CutPrefix(strings.TrimSpace(r.DefaultSlingTarget), "pool:")
	fits := func(q string) bool {
		a := d.agentsByName[q]
		return a != nil && (!forced || a.Pool != nil && a.Qualified() == q)
	}
	rig, bare := cutRig(name)
	if !forced && fits(r.Name+"/"+name) || fits(name) || d.failedSources.affects("", r.Name, rig) {
		return ""
	}
	var same, spelled []string
	for _, q := range slices.Sorted(maps.Keys(d.agentsByName)) {
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
		kind = "not a pool"
	}
	switch near := keys.Suggest(bare, spelled); {
	case len(same) == 1:
		return ""
	case len(same) > 1:
		return fmt.Sprintf("%q is ambiguous: it could be %s; specify one", name, toml.List(same))
	case near != "":
		return fmt.Sprintf("%q is %s; did you mean %q?", name, kind, near)
	default:
		return fmt.Sprintf("%q is %s; use the name of an agent or pool, or remove the key", name,
			kind)
	}
}
