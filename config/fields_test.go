package config

import (
	"strings"
	"testing"
	"time"

	"gcity/config/keys"
	"gcity/restart"
)

func placeFor(table string) place {
	switch {
	case strings.HasPrefix(table, "patches.agents"), strings.HasPrefix(table, "rigs.overrides"):
		return place{&patch{table: strings.TrimSuffix(table, ".pool"), Agent: Agent{Pool: &Pool{}}}}
	case table == "patches.providers", table == "providers.*":
		return place{&Provider{}}
	case table == "patches.watchdogs", table == "watchdogs":
		return place{&Watchdog{}}
	case table == "automations.overrides":
		return place{&override{}}
	case table == "topologies.*":
		return place{&Remote{}}
	case table == "rigs", table == "patches.rigs":
		return place{&Rig{}}
	case strings.HasPrefix(table, "agents"):
		return place{&Agent{Pool: &Pool{}}}
	}
	return place{&City{}}
}

// Every key has a field of a suitable type. No two keys share a field.
func TestEveryKeyHasAField(t *testing.T) {
	check := func(s keys.Schema, at func(table string) place) {
		for table, all := range s.Tables {
			p, taken := at(table), map[any]string{}
			for _, k := range all {
				if k.Status != keys.Supported || !k.HasValue() {
					continue
				}
				field := p.field(k)
				if other := taken[field]; other != "" {
					t.Errorf("%s and %s have the same field", k.Path, other)
				}
				taken[field] = k.Path
				switch field.(type) {
				case *string, *bool, *int, *time.Duration, *[]string, *map[string]string,
					*restart.Mode,
					*restart.Strategy, **string, **bool, **time.Duration:
				default:
					t.Errorf("%s: unsupported type %T", k.Path, field)
				}
			}
		}
	}
	check(keys.City(), placeFor)
	check(keys.Topology(keys.City()), func(table string) place {
		if table == "topology" || table == "formulas" {
			return place{&pack{}}
		}
		return placeFor(table)
	})
}
