package config

import (
	_ "embed"
	"sync"
	"time"

	"gcity/internal/shell"
	"gcity/internal/toml"
)

//go:embed presets.toml
var presetsText string

// Preset is a known program. A [providers.NAME] table overrides it.
type Preset struct {
	Provider
	Dialogs []Dialog
	// arguments that start and resume a conversation with the ID {id}
	Fresh, Resume []string
	Hooks         string // kind of the program's hook files; "" = none
}

// Dialog is a question that a program might ask when it starts.
type Dialog struct {
	Name string `toml:"name"` // subject of the question; "" = any question with these strings
	// strings on the screen that identify the question; white space matches any white space
	Says []string `toml:"says"`
	Keys []string `toml:"keys"` // keys that answer the question, in the form of session.Keyer
	// beginning of the option that answers the question in a list
	Option string `toml:"option"`
}

type presetTable struct {
	Name              string            `toml:"name"`
	DisplayName       string            `toml:"display_name"`
	Command           string            `toml:"command"`
	Args              []string          `toml:"args"`
	PromptMode        string            `toml:"prompt_mode"`
	PromptFlag        string            `toml:"prompt_flag"`
	ReadyDelayMS      int               `toml:"ready_delay_ms"`
	ReadyPromptPrefix string            `toml:"ready_prompt_prefix"`
	ProcessNames      []string          `toml:"process_names"`
	Env               map[string]string `toml:"env"`
	Fresh             []string          `toml:"fresh"`
	Resume            []string          `toml:"resume"`
	Hooks             string            `toml:"hooks"`
	Dialogs           []Dialog          `toml:"dialogs"`
}

// Presets returns the presets in the order in which gcity looks for their programs. The caller must not change the
// result.
func Presets() []Preset { return presets() }

var presets = sync.OnceValue(readPresets)

func readPresets() []Preset {
	var file struct {
		Presets []presetTable `toml:"presets"`
	}
	if err := toml.Decode([]byte(presetsText), &file); err != nil {
		// cannot happen: the file is embedded, and a test reads it
		panic("config: presets.toml: " + err.Error())
	}
	out := make([]Preset, len(file.Presets))
	for i := range file.Presets {
		out[i] = file.Presets[i].preset()
	}
	return out
}

func (t *presetTable) preset() Preset {
	p := Preset{Dialogs: t.Dialogs, Fresh: t.Fresh, Resume: t.Resume, Hooks: t.Hooks}
	p.Provider = Provider{
		Name: t.Name, DisplayName: t.DisplayName, Command: t.Command,
		Startup: Startup{
			Args: t.Args, PromptMode: t.PromptMode, PromptFlag: t.PromptFlag,
			ReadyDelay:        time.Duration(t.ReadyDelayMS) * time.Millisecond,
			ReadyPromptPrefix: t.ReadyPromptPrefix, ProcessNames: t.ProcessNames, Env: t.Env,
		},
		Origin: Origin{File: "preset " + t.Name}, Origins: map[string]Origin{},
	}
	for key, set := range map[string]bool{
		"display_name": true, "command": true, "args": t.Args != nil,
		"prompt_mode": t.PromptMode != "", "prompt_flag": t.PromptFlag != "",
		"ready_delay_ms": t.ReadyDelayMS > 0, "ready_prompt_prefix": t.ReadyPromptPrefix != "",
		"process_names": t.ProcessNames != nil, "env": t.Env != nil,
	} {
		if set {
			p.Origins[key] = p.Origin
		}
	}
	for name := range t.Env {
		p.Origins["env."+name] = p.Origin
	}
	return p
}

func presetNamed(name string) *Preset {
	return first(presets(), func(p *Preset) bool { return p.Name == name })
}

func presetNames() (names []string) {
	for _, p := range presets() {
		names = append(names, p.Name)
	}
	return names
}

// FirstWord returns the program in a provider's command, or "" if only a shell can determine it.
func (p *Provider) FirstWord() string { return shell.FirstWord(p.Command) }
