package config

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	burnt "github.com/BurntSushi/toml"
)

//go:embed presets.toml
var presetsText string

// Preset is a program that gcity knows how to start: data, which a [providers.NAME] table of its name goes over.
type Preset struct {
	Provider
	Dialogs []Dialog
	// arguments for a conversation that is given the name {id}, and for one that has it
	Fresh, Resume []string
	Hooks         string // the kind of its hook files, "" = it has none
}

// Dialog is a question that a program may ask before it can be used.
type Dialog struct {
	Name string `toml:"name"`
	// it is on the screen when all of these are; blanks and line ends count as one blank
	Says []string `toml:"says"`
	Keys []string `toml:"keys"` // what answers it, as session.Keyer has them
}

// presetTable is a preset as presets.toml has it.
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

// Presets are the programs that gcity knows, in the order in which they are looked for. They are shared by all, and
// changed by nobody.
func Presets() []Preset { return presets() }

// presets is read once, by the first who asks.
var presets = sync.OnceValue(readPresets)

func readPresets() []Preset {
	var file struct {
		Presets []presetTable `toml:"presets"`
	}
	meta, err := burnt.Decode(presetsText, &file)
	if err == nil && len(meta.Undecoded()) > 0 {
		err = fmt.Errorf("unknown key %s", meta.Undecoded()[0])
	}
	if err != nil {
		panic("config: presets.toml: " + err.Error()) // it is a part of the program, and tested
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

// presetNamed finds a preset; nil if there is none of that name.
func presetNamed(all []Preset, name string) *Preset {
	i := slices.IndexFunc(all, func(p Preset) bool { return p.Name == name })
	if i < 0 {
		return nil
	}
	return &all[i]
}

// presetNames lists the presets for a sentence: "claude, codex and gemini".
func presetNames(all []Preset) []string {
	var names []string
	for i := range all {
		names = append(names, all[i].Name)
	}
	return names
}

// FirstWord is the program that a provider's command starts, "" where only a shell can tell.
func (p *Provider) FirstWord() string {
	word, _, _ := strings.Cut(strings.TrimSpace(p.Command), " ")
	if strings.ContainsAny(word, "\t\n'\"\\$`;&|<>(){}[]*?~#=!") {
		return ""
	}
	return word
}
