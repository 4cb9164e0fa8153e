package config

import "strings"

// laterKeys are known, and refused until what they ask for is built: a key that is read over in silence is worse
// than one that is refused. The last ones were dropped by the real system and do nothing.
func laterKeys() []key {
	groups := []struct {
		table string
		kind  kind
		alias string
		is    status // of the table itself
		keys  string
	}{
		{table: "mail", kind: kindTable, is: later, keys: "provider"},
	}
	var out []key
	for _, g := range groups {
		if g.is == later {
			out = append(out, key{path: g.table, kind: g.kind, alias: g.alias, status: later})
		}
		for name := range strings.FieldsSeq(g.keys) {
			out = append(out, key{path: join(g.table, name), kind: kindAny, status: later})
		}
	}
	for _, path := range []string{"workspace.isolation", "workspace.install_hooks",
		"agents.isolation", "agents.install_hooks",
		"session.k8s.prebaked"} {
		out = append(out, key{path: path, kind: kindAny, status: dropped})
	}
	return out
}
