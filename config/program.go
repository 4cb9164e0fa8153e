package config

import (
	"fmt"
	"gcity/config/keys"
	"gcity/internal/toml"
	"maps"
	"path"
	"slices"
	"strings"

	"gcity/internal/shell"
)

// Program is which program an agent is, and everything that it is started with on that account.
type Program struct {
	// the key that says which: "agents.start_command", "agents.provider", …; "" = none, so the first that is found
	By   string
	Line string // start_command, a shell line that stands as it is; "" = Command and Args
	// Provider has the values in force, with the agent's own over the provider's; its Name is "" where a
	// start_command says what runs, and where none is found. Its Origins say where each value was written.
	Provider
	Dialogs []Dialog // questions that it may ask at its start
}

// Names of the keys that say which program an agent is, the strongest first.
const (
	byAgentCommand      = "agents.start_command"
	byAgentProvider     = "agents.provider"
	byWorkspaceProvider = "workspace.provider"
	byWorkspaceCommand  = "workspace.start_command"
)

// decider names the key that says which program an agent is, and what it says.
func (c *City) decider(a *Agent) (by, says string) {
	switch w := &c.Workspace; {
	case a.StartCommand != "":
		return byAgentCommand, a.StartCommand
	case a.Provider != "":
		return byAgentProvider, a.Provider
	case w.Provider != "":
		return byWorkspaceProvider, w.Provider
	case w.StartCommand != "":
		return byWorkspaceCommand, w.StartCommand
	}
	return "", ""
}

// ProgramOf is which program an agent is. Where nothing says that, first is asked for the name of the preset that
// is found first on this machine, "" = none is.
func (c *City) ProgramOf(a *Agent, first func(presets []Preset) string) Program {
	p := Program{}
	var name string
	switch p.By, name = c.decider(a); p.By {
	case byAgentCommand, byWorkspaceCommand:
		p.Line, name = name, ""
	case "":
		name = first(presets())
	}
	if name != "" {
		p.Provider, p.Dialogs = c.ProviderNamed(name)
	}
	if p.Origins == nil {
		p.Origins = map[string]Origin{}
	}
	p.own(a)
	switch {
	case !p.EmitsPermissionWarning:
		p.Dialogs = unanswered(p.Dialogs)
	case len(p.Dialogs) == 0:
		// whatever it is started by, it says that it asks what one of them asks
		for _, known := range presets() {
			p.Dialogs = append(p.Dialogs, known.Dialogs...)
		}
	}
	return p
}

// CommandLine is what a shell runs: the start_command as it stands, or the command with its arguments, each one word.
func (p *Program) CommandLine() string {
	if p.Line != "" {
		return p.Line
	}
	var b strings.Builder
	b.WriteString(p.Command)
	for _, arg := range p.Args {
		b.WriteString(" " + shell.Quote(arg))
	}
	return b.String()
}

// own puts what the agent itself says over what its provider says.
func (p *Program) own(a *Agent) {
	p.over(&Provider{Startup: a.Startup, Origins: a.Origins}, agentShares)
	if p.Line != "" {
		p.Args = nil // it is run as it stands
	}
	if p.PromptMode == "" {
		p.PromptMode = defaultPrompt(p, a)
	}
}

// defaultPrompt is how a prompt goes in where nothing says so: not at all into a start_command, unless the agent itself
// wants that.
func defaultPrompt(p *Program, a *Agent) string {
	switch {
	case p.PromptFlag != "":
		return "flag"
	case p.Line != "" && a.PromptTemplate == "":
		return "none"
	}
	return "arg"
}

// agentShares are the keys that an agent has as well as a provider, but for env.
func agentShares(key string) bool {
	switch key {
	case "args", "prompt_mode", "prompt_flag", "ready_delay_ms", "ready_prompt_prefix",
		"process_names", "emits_permission_warning":
		return true
	}
	return false
}

// over puts what is written in another provider, of the keys that count, in place of what p says. Variables are added.
func (p *Provider) over(other *Provider, counts func(key string) bool) {
	for key, origin := range other.Origins {
		if !counts(key) {
			continue
		}
		p.Origins[key] = origin
		switch key {
		case "display_name":
			p.DisplayName = other.DisplayName
		case "command":
			p.Command = other.Command
		case "args":
			p.Args = other.Args
		case "prompt_mode":
			p.PromptMode = other.PromptMode
			if _, written := other.Origins["prompt_flag"]; !written && other.PromptMode != "flag" {
				p.PromptFlag = ""
				delete(p.Origins, "prompt_flag") // there is nothing to be shown
			}
		case "prompt_flag":
			p.PromptFlag = other.PromptFlag
			if _, written := other.Origins["prompt_mode"]; !written {
				p.PromptMode = "flag"
			}
		case "ready_delay_ms":
			p.ReadyDelay = other.ReadyDelay
		case "ready_prompt_prefix":
			p.ReadyPromptPrefix = other.ReadyPromptPrefix
		case "process_names":
			p.ProcessNames = other.ProcessNames
		case "emits_permission_warning":
			p.EmitsPermissionWarning = other.EmitsPermissionWarning
		}
	}
	if len(other.Env) > 0 {
		p.Env = maps.Clone(p.Env)
		if p.Env == nil {
			p.Env = map[string]string{}
		}
		for name, value := range other.Env {
			p.Env[name], p.Origins["env."+name] = value, other.Origins["env."+name]
		}
	}
}

// unanswered are dialogs that are known when they are seen, and left to somebody at the terminal.
func unanswered(all []Dialog) []Dialog {
	out := slices.Clone(all)
	for i := range out {
		out[i].Keys = nil
	}
	return out
}

// ProviderNamed is what a name comes to: the preset, with the [providers] table of that name over it. Its Name is
// "" if there is neither.
func (c *City) ProviderNamed(name string) (Provider, []Dialog) {
	var out Provider
	var dialogs []Dialog
	at := slices.IndexFunc(c.Providers, func(p Provider) bool { return p.Name == name })
	if known := presetNamed(presets(), name); known != nil && (at < 0 || !c.Providers[at].Whole) {
		out, dialogs = known.Provider, known.Dialogs
	} else if at < 0 {
		return Provider{}, nil
	}
	out.Name, out.Origins = name, maps.Clone(out.Origins)
	if out.Origins == nil {
		out.Origins = map[string]Origin{}
	}
	if at >= 0 {
		out.over(&c.Providers[at], func(string) bool { return true })
		out.Origin = c.Providers[at].Origin
	}
	if word := out.FirstWord(); len(out.ProcessNames) == 0 && word != "" {
		out.ProcessNames = []string{path.Base(word)}
	}
	return out, dialogs
}

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
