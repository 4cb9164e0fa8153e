package config

import (
	_ "embed"
	"path"
	"strings"
	"sync"
	"time"

	"gcity/internal/shell"
	"gcity/internal/toml"
	"gcity/session"
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
	Name string // subject of the question; "" = any question with these strings
	// strings on the screen that identify the question; white space matches any white space
	Says []string
	Keys []string // keys that answer the question, in the form of session.Keyer
	// beginning of the option that answers the question in a list
	Option  string
	Loading bool // not a question: the program shows its prompt, but is still loading
	Notice  bool // not a question: the program is at its prompt, and needs a user for something
}

// Presets returns the presets in the order in which gcity looks for their programs. The caller must not change the
// result.
func Presets() []Preset { return presets() }

var presets = sync.OnceValue(readPresets)

func readPresets() []Preset {
	var file struct{ Presets []Preset }
	if err := toml.Decode([]byte(presetsText), &file); err != nil {
		// cannot happen: the file is embedded, and a test reads it
		panic("config: presets.toml: " + err.Error())
	}
	for i := range file.Presets {
		file.Presets[i].complete()
	}
	return file.Presets
}

// complete sets what presets.toml does not contain, and converts the ready delay: the file contains milliseconds, but
// they were decoded as nanoseconds.
func (p *Preset) complete() {
	p.ReadyDelay = time.Duration(p.ReadyDelay.Nanoseconds()) * time.Millisecond
	p.Origin, p.Origins = Origin{File: "preset " + p.Name}, map[string]Origin{}
	for key, set := range map[string]bool{
		"display_name": true, "command": true, "args": p.Args != nil,
		"prompt_mode": p.PromptMode != "", "prompt_flag": p.PromptFlag != "",
		"ready_delay_ms": p.ReadyDelay > 0, "ready_prompt_prefix": p.ReadyPromptPrefix != "",
		"process_names": p.ProcessNames != nil, "env": p.Env != nil,
	} {
		if set {
			p.Origins[key] = p.Origin
		}
	}
	for name := range p.Env {
		p.Origins["env."+name] = p.Origin
	}
}

// PresetOf returns the preset for the program that a command line starts, or nil if the program is unknown. The caller
// must not change the result.
func PresetOf(line string) *Preset {
	program := path.Base((&Provider{Command: line}).FirstWord())
	return first(presets(), func(p *Preset) bool { return p.FirstWord() == program })
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
func (p *Provider) FirstWord() string {
	word := shell.FirstWord(strings.TrimPrefix(strings.TrimSpace(p.Command), "exec "))
	if strings.HasPrefix(word, "-") || session.IsShellWord(word) { // also an option of exec
		return ""
	}
	return word
}
