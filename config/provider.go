package config

import (
	"fmt"
	"gcity/config/keys"
	"strings"
)

// providerChecker checks the providers and what the agents take from them.
type providerChecker struct{ *loading }

// providers checks the providers, and whether all that are named are there.
func (d providerChecker) providers() {
	c := d.city
	for i := range c.Providers {
		d.provider(&c.Providers[i])
	}
	if msg := c.stranger(c.Workspace.Provider); msg != "" && !d.unread.any() {
		d.say(c.Origins[byWorkspaceProvider], byWorkspaceProvider, msg)
	}
	defer func() { d.whose = nil }()
	for i := range c.Agents {
		a := &c.Agents[i]
		d.whose = &a.Rig
		if d.full() {
			d.more = true
			return
		}
		if msg := c.stranger(a.Provider); msg != "" {
			if !d.unread.any() {
				fault(d.loading, a, a.Origins["provider"], byAgentProvider, msg)
			}
			continue
		}
		d.prompted(a)
		d.idle(a)
	}
}

// provider checks one table by itself.
func (d providerChecker) provider(p *Provider) {
	all, _ := d.city.ProviderNamed(p.Name)
	table := "providers." + p.Name
	switch {
	case all.Command == "" && d.unread.any(): // a topology may say it
	case all.Command == "":
		d.say(p.Origin, table, fmt.Sprintf("has no command, and gcity knows no program %q; write "+
			"command = \"…\"%s", p.Name, d.meantPreset(p)))
	case all.PromptMode == "flag" && all.PromptFlag == "":
		d.say(p.Origins["prompt_mode"], table+".prompt_mode",
			"is \"flag\", and no prompt_flag says which one; write prompt_flag = \"--…\"")
	}
}

// meantPreset says which preset a table without a command may be meant for.
func (d providerChecker) meantPreset(p *Provider) string {
	if near := keys.Suggest(p.Name, presetNames(presets())); near != "" && near != p.Name {
		return fmt.Sprintf(", or did you mean [providers.%s]?", near)
	}
	return ""
}

// prompted checks that a prompt that goes behind a flag has one.
func (d providerChecker) prompted(a *Agent) {
	origin, written := a.Origins["prompt_mode"]
	if !written || a.PromptMode != "flag" {
		return
	}
	if p := d.city.ProgramOf(a, func([]Preset) string { return "" }); p.PromptFlag == "" {
		fault(d.loading, a, origin, "agents.prompt_mode", "is \"flag\", and no prompt_flag "+
			"says which "+
			"one; write prompt_flag = \"--…\"")
	}
}

// idle says what is written and not used, since a start_command is run as it stands.
func (d providerChecker) idle(a *Agent) {
	by, _ := d.city.decider(a)
	if !strings.HasSuffix(by, "start_command") {
		return
	}
	for _, key := range []string{"provider", "args"} {
		if origin, written := a.Origins[key]; written {
			d.city.Warnings = append(d.city.Warnings, Problem{Origin: origin, Key: "agents." + key,
				Message: fmt.Sprintf("is not used: %s says what %q runs, and is run as it stands",
					by, a.Qualified())})
		}
	}
}
