package keys

// LaterKeys returns keys that are known but not implemented.
func LaterKeys() []Key {
	out := []Key{{Path: "mail", Kind: Table, Status: Later},
		{Path: "mail.provider", Kind: Any, Status: Later}}
	for _, path := range []string{"workspace.isolation", "workspace.install_hooks",
		"agents.isolation", "agents.install_hooks", "agents.pre_sync", "agents.fallback",
		"agents.session_live",
		"session.k8s.prebaked"} {
		out = append(out, Key{Path: path, Kind: Any, Status: Dropped})
	}
	return out
}
