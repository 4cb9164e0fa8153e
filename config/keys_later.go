package config

import "strings"

// laterKeys are known, and refused until what they ask for is built: a key that is read over in silence is worse than one
// that is refused. The last ones were dropped by the real system and do nothing.
func laterKeys() []key {
	groups := []struct {
		table string
		kind  kind
		alias string
		is    status // of the table itself
		keys  string
	}{
		{table: "workspace", is: supported, keys: "provider topology topologies includes install_agent_hooks global_fragments"},
		{table: "agents", is: supported, keys: "scope provider args prompt_template prompt_mode prompt_flag process_names " +
			"emits_permission_warning overlay_dir work_query sling_query default_sling_formula install_agent_hooks " +
			"hooks_installed inject_fragments session stuck_after"},
		{table: "rigs", is: supported, keys: "topology topologies includes overrides default_sling_target"},
		{table: "providers", kind: kindNamed, is: later},
		{table: "providers.*", kind: kindTable, is: later, keys: "display_name command args prompt_mode prompt_flag ready_delay_ms " +
			"ready_prompt_prefix process_names emits_permission_warning env"},
		{table: "topologies", kind: kindNamed, is: later},
		{table: "topologies.*", kind: kindTable, is: later, keys: "source ref path"},
		{table: "patches", is: supported, keys: "rigs providers"},
		{table: "patches.agents", is: supported, keys: "scope start_command provider args env env_remove prompt_template prompt_mode prompt_flag " +
			"nudge ready_delay_ms ready_prompt_prefix process_names emits_permission_warning pre_start session_setup session_setup_script " +
			"overlay_dir idle_timeout work_query sling_query default_sling_formula install_agent_hooks hooks_installed inject_fragments " +
			"pool restart min_uptime depends_on strategy description session stuck_after"},
		{table: "session.k8s", kind: kindTable, is: later, keys: "namespace image context cpu_request mem_request cpu_limit mem_limit"},
		{table: "mail", kind: kindTable, is: later, keys: "provider"},
		{table: "dolt", kind: kindTable, is: later, keys: "port host"},
		{table: "watchdogs", kind: kindTables, is: later, keys: "name watches triage every heartbeat fresh very_stale nudge wake " +
			"triage_ttl escalate_to escalate_after"},
		{table: "console", kind: kindTable, is: later, keys: "theme colour"},
		{table: "api", kind: kindTable, is: later, keys: "port bind hosts"},
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
	for _, path := range []string{"workspace.isolation", "workspace.install_hooks", "agents.isolation", "agents.install_hooks",
		"session.k8s.prebaked"} {
		out = append(out, key{path: path, kind: kindAny, status: dropped})
	}
	return out
}
