package config

import (
	"fmt"
	"gcity/config/keys"
	"strings"
)

type providerChecker struct{ *loading }

func (d providerChecker) providers() {
	c := d.city
	d.checkTables("", "", c.Providers)
	for _, p := range c.packs {
		d.checkTables("", p.dir, p.providers)
	}
	for i := range c.Rigs {
		for _, p := range c.Rigs[i].packs {
			d.checkTables(c.Rigs[i].Name, p.dir, p.providers)
		}
	}
	if msg := c.unknownProvider(c.Workspace.Provider); msg != "" && !d.failedSources.any() {
		d.addError(c.Origins[byWorkspaceProvider], byWorkspaceProvider, "%s", msg)
	}
	for a := range d.agents {
		if d.full() {
			d.truncated = true
			return
		}
		if msg := c.unknownProvider(a.Provider); msg != "" {
			if !d.failedSources.any() {
				d.addStartProblem(a, a.Origins["provider"], byAgentProvider, "%s", msg)
			}
			continue
		}
		d.checkPromptFlag(a)
		d.warnIgnoredKeys(a)
	}
}

// checkTables checks the tables of a topology in a rig, with the tables that supply their missing keys.
func (d providerChecker) checkTables(rig, topology string, tables []Provider) {
	for i := range tables {
		p := &tables[i]
		all, _ := d.city.ProviderFor(&Agent{Topology: topology, Derived: Derived{Rig: rig}}, p.Name)
		table := "providers." + p.Name
		d.warnFields(p.Origins["command"], table+".command", p.Command)
		switch {
		case all.Command == "" && (d.failedSources.any() || d.failed(table+".command")):
			// an unreadable file might set the command, or its value is invalid
		case all.Command == "":
			d.addError(p.Origin, table, "has no command, and no preset has the "+
				`name %q; set command = "…"%s`, p.Name, d.suggestPreset(p))
		case all.PromptMode == "flag" && all.PromptFlag == "":
			d.addError(all.Origins["prompt_mode"], table+".prompt_mode",
				"is \"flag\", but prompt_flag is not set; set prompt_flag = \"--…\"")
		}
	}
}

func (d providerChecker) suggestPreset(p *Provider) string {
	if near := keys.Suggest(p.Name, presetNames()); near != "" && near != p.Name {
		return fmt.Sprintf(", or did you mean [providers.%s]?", near)
	}
	return ""
}

func (d providerChecker) checkPromptFlag(a *Agent) {
	origin, written := a.Origins["prompt_mode"]
	if !written || a.PromptMode != "flag" {
		return
	}
	if p := d.city.ProgramOf(a, noPreset); p.PromptFlag == "" {
		d.addStartProblem(a, origin, "agents.prompt_mode",
			`is "flag", but prompt_flag is not set; set prompt_flag = "--…"`)
	}
}

func (d providerChecker) warnIgnoredKeys(a *Agent) {
	by, _ := d.city.programKey(a)
	if !strings.HasSuffix(by, "start_command") {
		return
	}
	for _, key := range []string{"provider", "args"} {
		if origin, written := a.Origins[key]; written {
			d.addWarning(origin, "agents."+key, "is ignored: %s sets the whole "+
				"command of %q", by, a.Qualified())
		}
	}
}
