package agent

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"gcity/config"
	"gcity/session"
)

type missingProgram struct {
	why string // "" = the program can start, or its state is unknown
	MissingPrograms
}

func (e environ) program(c *config.City, a *config.Agent) (config.Program, missingProgram) {
	var sought []string
	p := c.ProgramOf(a, func(presets []config.Preset) string {
		path := e.path(a.Env)
		for i := range presets {
			program := presets[i].FirstWord()
			sought = append(sought, program)
			if e.find != nil && e.programExists(program, path) {
				return presets[i].Name
			}
		}
		return ""
	})
	switch {
	case p.Line != "":
		return p, missingProgram{}
	case p.Command == "":
		return p, missingProgram{fmt.Sprintf("no command: neither the agent (%s) nor "+
			"[workspace] has a start_command or a provider, and none of %s is on the agent's "+
			"PATH (%s); set start_command or provider, or install one of them", a.Origin,
			strings.Join(sought, ", "), folders(e.path(a.Env))),
			MissingPrograms{sought, e.path(a.Env)}}
	case !runsOnThisHost(c.ProviderOf(a)):
		return p, missingProgram{}
	}
	return p, e.missing(&p, a)
}

func runsOnThisHost(provider string) bool {
	return slices.Contains([]string{"pty", "tmux", "subprocess"}, provider)
}

// missing returns the program of p if it does not exist on this host, or the zero value. It does not check relative
// paths, or commands in which only a shell could find the program.
func (e environ) missing(p *config.Program, a *config.Agent) missingProgram {
	word, path := p.FirstWord(), e.path(p.Env)
	if e.find == nil || word == "" || strings.Contains(word, "/") && word[0] != '/' ||
		e.programExists(word, path) {
		return missingProgram{}
	}
	lack := MissingPrograms{[]string{word}, path}
	by := "the agent (" + a.Origin.String() + ")"
	if strings.HasPrefix(p.SelectedBy, "workspace.") {
		by = "[workspace]"
	}
	if word[0] == '/' {
		return missingProgram{fmt.Sprintf("the program %s, the command of the provider %q "+
			"(%s), is not executable or does not exist; correct the command, or use a different "+
			"provider for %s", word, p.Name, p.Origins["command"], by), lack}
	}
	return missingProgram{fmt.Sprintf("the program %q, the command of the provider %q (%s), is "+
		"not on the PATH (%s); install it, or use a different provider for %s",
		word, p.Name, p.Origins["command"], folders(path), by), lack}
}

func folders(path string) string {
	if n := len(filepath.SplitList(path)); n != 1 {
		return fmt.Sprintf("%d folders", n)
	}
	return "1 folder"
}

func (e environ) path(env map[string]string) string {
	if own, ok := env["PATH"]; ok {
		return prependPath(e.bin, expand(own, e.inherited))
	}
	return e.inherited["PATH"]
}

func (e environ) programExists(program, path string) bool {
	at := program + "\x00" + path
	found, known := e.searched[at]
	if !known {
		found = e.find(program, path)
		e.searched[at] = found
	}
	return found
}

// fingerprint returns the fingerprint of an agent's configuration. It omits values that depend on the host or the
// city's folder, which would cause false drift. It omits unset keys, so that later versions can add keys.
func fingerprint(a *config.Agent, p *config.Program) session.Fingerprint {
	fields := map[string]string{"command": p.Line}
	env := a.Env
	lines := func(name string, l []string) {
		if len(l) > 0 {
			fields[name] = strings.Join(l, "\x00")
		}
	}
	if p.Line == "" && p.SelectedBy != "" {
		fields["command"], env = p.Command, p.Env
		lines("args", p.Args)
	}
	for name, value := range env {
		fields["env "+name] = value
	}
	lines("pre_start", a.PreStart)
	lines("session_setup", a.SessionSetup)
	if a.SessionSetupScript != "" {
		fields["session_setup_script"] = a.SessionSetupScript + "\x00" + a.ScriptHash
	}
	if a.Prompt != nil {
		fields["prompt_template"] = a.Prompt.Hash()
	}
	if a.OverlayDir != "" {
		fields["overlay_dir"] = a.OverlayHash
	}
	return session.NewFingerprint(fields)
}

func outsideFingerprint(a *config.Agent, p *config.Program) []string {
	if p.SelectedBy != "" {
		return nil
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(p.Env)), func(name string) bool {
		_, own := a.Env[name]
		return own
	})
}

func dialogs(p *config.Program) []session.Dialog {
	var out []session.Dialog
	for _, d := range p.Dialogs {
		out = append(out, session.Dialog(d))
	}
	return out
}

// askTime is how long the screen is searched for questions if the program has no readiness check.
const askTime = 10 * time.Second

func ready(p *config.Program) session.Ready {
	r := session.Ready{Prefix: p.ReadyPromptPrefix, Delay: p.ReadyDelay}
	if !r.Needed() && p.EmitsPermissionWarning {
		r.Delay = askTime
	}
	if r.Delay >= session.DefaultReadyDeadline {
		r.Deadline = r.Delay + session.DefaultReadyDeadline
	}
	return r
}

func delivery(p *config.Program) Prompt {
	switch p.PromptMode {
	case "none":
		return Prompt{}
	case "flag":
		return Prompt{Mode: p.PromptMode, Flag: p.PromptFlag}
	}
	return Prompt{Mode: p.PromptMode}
}
