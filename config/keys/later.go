package keys

import "strings"

// LaterKeys are known, and refused until what they ask for is built: a key that is read over in silence is worse
// than one that is refused. The last ones were dropped by the real system and do nothing.
func LaterKeys() []Key {
	groups := []struct {
		table string
		kind  Kind
		alias string
		is    Status // of the table itself
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
		"agents.isolation", "agents.install_hooks",
		"session.k8s.prebaked"} {
		out = append(out, Key{Path: path, Kind: Any, Status: Dropped})
	}
	return out
}
