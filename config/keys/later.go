package keys

import "strings"

// LaterKeys returns keys that are known but not implemented.
func LaterKeys() []Key {
	groups := []struct {
		table string
		kind  Kind
		alias string
		is    Status
		keys  string
	}{
		{table: "mail", kind: Table, is: Later, keys: "provider"},
	}
	var out []Key
	for _, g := range groups {
		if g.is == Later {
			out = append(out, Key{Path: g.table, Kind: g.kind, Alias: g.alias, Status: Later})
		}
		for name := range strings.FieldsSeq(g.keys) {
			out = append(out, Key{Path: Join(g.table, name), Kind: Any, Status: Later})
		}
	}
	for _, path := range []string{"workspace.isolation", "workspace.install_hooks",
		"agents.isolation", "agents.install_hooks", "agents.pre_sync", "agents.fallback",
		"agents.session_live",
		"session.k8s.prebaked"} {
		out = append(out, Key{Path: path, Kind: Any, Status: Dropped})
	}
	return out
}
