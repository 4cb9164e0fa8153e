package config

import (
	"cmp"
	"fmt"
	"gcity/config/keys"
	"maps"
	"path"
	"slices"
	"strings"

	"gcity/internal/toml"

	"gcity/internal/shell"
)

// Program is an agent's program with its arguments and settings.
type Program struct {
	// key such as "agents.provider"; "" = the first preset that is found
	SelectedBy string
	// start_command; "" = Command and Args
	Line string
	// Name is "" if a start_command is used, or if no program is found
	Provider
	Dialogs []Dialog
}

// Names of the keys that select an agent's program, highest precedence first.
const (
	byAgentCommand      = "agents.start_command"
	byAgentProvider     = "agents.provider"
	byWorkspaceProvider = "workspace.provider"
	byWorkspaceCommand  = "workspace.start_command"
)

func (c *City) programKey(a *Agent) (key, value string) {
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

// ProgramOf returns an agent's program. If no key selects the program, ProgramOf calls firstFound, which returns the
// name of the first preset found on this machine, or "".
func (c *City) ProgramOf(a *Agent, firstFound func(presets []Preset) string) Program {
	p := Program{}
	var name string
	switch p.SelectedBy, name = c.programKey(a); p.SelectedBy {
	case byAgentCommand, byWorkspaceCommand:
		p.Line, name = name, ""
	case "":
		name = firstFound(presets())
	}
	if name != "" {
		p.Provider, p.Dialogs = c.ProviderFor(a, name)
	}
	if p.Origins == nil {
		p.Origins = map[string]Origin{}
	}
	p.setAgentValues(a)
	switch {
	case !p.EmitsPermissionWarning:
		p.Dialogs = withoutAnswers(p.Dialogs)
	case len(p.Dialogs) == 0:
		p.Dialogs = dialogsOf(p.CommandLine())
	}
	return p
}

// dialogsOf returns the dialogs for a command line: those of the preset with the same program, or else those of all
// presets, because the program can be a wrapper.
func dialogsOf(line string) (all []Dialog) {
	if p := PresetOf(line); p != nil {
		return p.Dialogs
	}
	for _, known := range presets() {
		all = append(all, known.Dialogs...)
	}
	return all
}

// CommandLine returns the shell line: the start_command, or the command with quoted arguments.
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

// CommandLineOf returns the shell line that starts an agent's program. If a topology declares the provider's command,
// $GC_PACK_DIR is the folder of this topology there. The agent's other commands use the folder of the agent's topology.
func (c *City) CommandLineOf(a *Agent, p *Program) string {
	if dir := c.providerFolder(p); dir != "" && dir != c.folderOf(a.Origin) {
		return "GC_PACK_DIR=" + shell.Quote(dir) + "; " + p.CommandLine()
	}
	return p.CommandLine()
}

func (c *City) providerFolder(p *Program) string {
	_, own := p.Env["GC_PACK_DIR"]
	if dir := c.folderOf(p.Origins["command"]); p.Line == "" && !own &&
		strings.Contains(p.Command, "GC_PACK_DIR") && slices.Contains(c.topologyDirs, dir) {
		return dir
	}
	return ""
}

func (p *Program) setAgentValues(a *Agent) {
	p.merge(&Provider{Startup: a.Startup, Origins: a.Origins}, isAgentKey)
	if p.Line != "" {
		p.Args = nil
	}
	if p.PromptMode == "" {
		p.PromptMode = defaultPrompt(p, a)
	}
}

func defaultPrompt(p *Program, a *Agent) string {
	switch {
	case p.PromptFlag != "":
		return "flag"
	case p.Line != "" && a.PromptTemplate == "":
		return "none"
	}
	return "arg"
}

func isAgentKey(key string) bool {
	switch key {
	case "args", "prompt_mode", "prompt_flag", "ready_delay_ms", "ready_prompt_prefix",
		"process_names", "emits_permission_warning":
		return true
	}
	return false
}

func (p *Provider) merge(other *Provider, mayCopy func(key string) bool) {
	for key, origin := range other.Origins {
		if !mayCopy(key) {
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
				delete(p.Origins, "prompt_flag")
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

func withoutAnswers(all []Dialog) []Dialog {
	out := slices.Clone(all)
	for i := range out {
		out[i].Keys, out[i].Option = nil, ""
	}
	return out
}

// ProviderFor returns the provider with this name for an agent: the preset, overridden by the [providers] tables that
// apply to the agent. Name is "" if neither exists.
func (c *City) ProviderFor(a *Agent, name string) (Provider, []Dialog) {
	var out Provider
	var dialogs []Dialog
	table := c.providerTable(a, name)
	known := presetNamed(name)
	if known != nil && !table.IgnorePreset {
		out, dialogs = known.Provider, known.Dialogs
	} else if table.Name == "" {
		return Provider{}, nil
	}
	out.Name, out.Origins = name, maps.Clone(out.Origins)
	if out.Origins == nil {
		out.Origins = map[string]Origin{}
	}
	if table.Name != "" {
		out.merge(&table, anyKey)
		out.Origin = table.Origin
	}
	if word := out.FirstWord(); len(out.ProcessNames) == 0 && word != "" {
		out.ProcessNames = []string{path.Base(word)}
	}
	return out, dialogs
}

func anyKey(string) bool { return true }

// providerTable merges the [providers.NAME] tables that apply to an agent. Name is "" if no table applies.
func (c *City) providerTable(a *Agent, name string) Provider {
	own := tableNamed(c.Providers, name)
	if own != nil && own.IgnorePreset {
		return *own
	}
	known := presetNamed(name)
	all := c.topologyTables(a, name, known != nil || own != nil && own.Command != "")
	if own != nil {
		all = append(all, own)
	}
	out := Provider{Origins: map[string]Origin{}}
	for _, t := range all {
		out.merge(t, anyKey)
		out.Name, out.Origin = name, t.Origin
	}
	return out
}

// topologyTables returns the [providers.NAME] tables of topologies that apply to an agent, lowest precedence first:
// those of the agent's topology and of the topologies that include it or are included in it. If these have no such
// table, or if the provider has no command, the rig's other topologies follow, and then the city's. The topologies of
// other rigs follow only if the provider has no command.
func (c *City) topologyTables(a *Agent, name string, hasCommand bool) (all []*Provider) {
	if firstTables(c.cityTopologies, name, true) == nil {
		return nil
	}
	add := func(tables []*Provider) {
		hasCommand = hasCommand || slices.ContainsFunc(tables, setsCommand)
		all = append(tables, all...)
	}
	scopes := [][]*pack{c.packs}
	if r := c.Rig(a.Rig); r != nil {
		scopes = [][]*pack{r.packs, c.packs}
	}
	for _, packs := range scopes {
		i := slices.IndexFunc(packs, func(p *pack) bool { return p.dir == a.Topology })
		if i >= 0 {
			add(relatedTables(packs, packs[i], name))
			break
		}
	}
	for _, packs := range scopes {
		if len(all) == 0 || !hasCommand {
			add(firstTables(packs, name, hasCommand))
		}
	}
	if !hasCommand {
		add(firstTables(c.cityTopologies, name, false))
	}
	return all
}

// relatedTables returns the tables of a topology, of those that it includes, and of those that include it.
func relatedTables(packs []*pack, of *pack, name string) (out []*Provider) {
	for _, p := range packs {
		if t := tableNamed(p.providers, name); t != nil && (p.contains(of) || of.contains(p)) {
			out = append(out, t)
		}
	}
	return out
}

// firstTables returns the tables of the first topology with a table of this name, and of those related to it. If the
// provider has no command yet, topologies without a command are used only if no topology has one.
func firstTables(packs []*pack, name string, hasCommand bool) (out []*Provider) {
	for _, p := range packs {
		if tableNamed(p.providers, name) == nil {
			continue
		}
		tables := relatedTables(packs, p, name)
		if hasCommand || slices.ContainsFunc(tables, setsCommand) {
			return tables
		}
		if out == nil {
			out = tables
		}
	}
	return out
}

func setsCommand(p *Provider) bool { return p.Command != "" }

func tableNamed(all []Provider, name string) *Provider {
	return first(all, func(p *Provider) bool { return p.Name == name })
}

// declaredProviders appends the names of all [providers] tables to names, the city's own first.
func (c *City) declaredProviders(names []string) []string {
	add := func(tables []Provider) {
		for i := range tables {
			if !slices.Contains(names, tables[i].Name) {
				names = append(names, tables[i].Name)
			}
		}
	}
	add(c.Providers)
	for _, p := range c.cityTopologies {
		add(p.providers)
	}
	return names
}

func (c *City) provider(name string, at Origin) *Provider {
	p := tableNamed(c.Providers, name)
	if p == nil {
		p = added(&c.Providers, Provider{Name: name, Origin: at, Origins: map[string]Origin{}})
	}
	return p
}

func (c *City) unknownProvider(name string) string {
	names := c.declaredProviders(presetNames())
	if name == "" || slices.Contains(names, name) {
		return ""
	}
	if slices.Contains([]string{"pty", "tmux", "subprocess", "k8s"}, name) {
		return fmt.Sprintf("unknown provider %q; it is a session provider: set session = %q",
			name, name)
	}
	return fmt.Sprintf("unknown provider %q", name) + cmp.Or(keys.DidYouMean(name, names),
		fmt.Sprintf("; use one of %s, or declare it as [providers.NAME]", toml.List(names)))
}
