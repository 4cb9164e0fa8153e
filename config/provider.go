package config

import (
	"fmt"
	"gcity/config/keys"
	"gcity/internal/toml"
	"slices"
	"strings"
)

// providerNames are the names that a provider may be called by.
func (c *City) providerNames() []string {
	names := presetNames(presets())
	for i := range c.Providers {
		if !slices.Contains(names, c.Providers[i].Name) {
			names = append(names, c.Providers[i].Name)
		}
	}
	return names
}

// provider is the one of a name, which several files may speak of.
func (c *City) provider(name string, at Origin) *Provider {
	i := slices.IndexFunc(c.Providers, func(p Provider) bool { return p.Name == name })
	if i < 0 {
		i = len(c.Providers)
		c.Providers = append(c.Providers, Provider{Name: name, Origin: at,
			Origins: map[string]Origin{}})
	}
	return &c.Providers[i]
}

// providers checks the providers, and whether all that are named are there.
func (d *decoder) providers() {
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
				fault(d, a, a.Origins["provider"], byAgentProvider, msg)
			}
			continue
		}
		d.prompted(a)
		d.idle(a)
	}
}

// provider checks one table by itself.
func (d *decoder) provider(p *Provider) {
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
func (d *decoder) meantPreset(p *Provider) string {
	if near := keys.Suggest(p.Name, presetNames(presets())); near != "" && near != p.Name {
		return fmt.Sprintf(", or did you mean [providers.%s]?", near)
	}
	return ""
}

// stranger says that there is no provider of a name, "" if there is.
func (c *City) stranger(name string) string {
	if name == "" {
		return ""
	}
	if p, _ := c.ProviderNamed(name); p.Name != "" {
		return ""
	}
	if slices.Contains([]string{"pty", "tmux", "subprocess", "k8s"}, name) {
		return fmt.Sprintf("there is no program %q; that is what sessions run in: write "+
			"session = %q", name, name)
	}
	if near := keys.Suggest(name, c.providerNames()); near != "" {
		return fmt.Sprintf("there is no provider %q; did you mean %q?", name, near)
	}
	return fmt.Sprintf("there is no provider %q; there are %s, and what "+
		"[providers.NAME] tables say", name, toml.List(c.providerNames()))
}

// prompted checks that a prompt that goes behind a flag has one.
func (d *decoder) prompted(a *Agent) {
	origin, written := a.Origins["prompt_mode"]
	if !written || a.PromptMode != "flag" {
		return
	}
	if p := d.city.ProgramOf(a, func([]Preset) string { return "" }); p.PromptFlag == "" {
		fault(d, a, origin, "agents.prompt_mode", "is \"flag\", and no prompt_flag says which "+
			"one; write prompt_flag = \"--…\"")
	}
}

// idle says what is written and not used, since a start_command is run as it stands.
func (d *decoder) idle(a *Agent) {
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
