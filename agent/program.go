package agent

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"gcity/config"
	"gcity/session"
)

// absence is why an agent's program cannot be started.
type absence struct {
	why string // "" = it can, as far as is known
	Lack
}

// program is which program an agent is on this host.
func (e environ) program(c *config.City, a *config.Agent) (config.Program, absence) {
	var sought []string
	p := c.ProgramOf(a, func(presets []config.Preset) string {
		path := e.path(a.Env)
		for i := range presets {
			sought = append(sought, presets[i].Command)
			if e.find != nil && e.finds(presets[i].Command, path) {
				return presets[i].Name
			}
		}
		return ""
	})
	switch {
	case p.Line != "":
		return p, absence{}
	case p.Command == "":
		return p, absence{fmt.Sprintf("no command: neither the agent (%s) nor [workspace] has a "+
			"start_command or a provider, and none of %s is on its PATH, %s; "+
			"write a start_command or a provider, or install one of them", a.Origin,
			strings.Join(sought, ", "), e.path(a.Env)), Lack{sought, e.path(a.Env)}}
	case !here(c.ProviderOf(a)):
		return p, absence{}
	}
	return p, e.missing(&p, a)
}

// here says whether a session provider runs its sessions on this host, so that their programs are to be found here.
func here(provider string) bool {
	return slices.Contains([]string{"pty", "tmux", "subprocess"}, provider)
}

// missing says that a program is not there, unless it is or only a shell can tell.
func (e environ) missing(p *config.Program, a *config.Agent) absence {
	word, path := p.FirstWord(), e.path(p.Env)
	if e.find == nil || word == "" || strings.Contains(word, "/") && word[0] != '/' ||
		e.finds(word, path) {
		return absence{}
	}
	lack := Lack{[]string{word}, path}
	by := "the agent (" + a.Origin.String() + ")"
	if strings.HasPrefix(p.By, "workspace.") {
		by = "[workspace]"
	}
	if word[0] == '/' {
		return absence{fmt.Sprintf("there is no program %s that can be run, and it is the "+
			"command of the provider %q (%s), which %s names; mend the command, or name "+
			"another provider",
			word, p.Name, p.Origins["command"], by), lack}
	}
	return absence{fmt.Sprintf("there is no program %q on its PATH, %s, and it is the command of "+
		"the provider %q (%s), which %s names; install it, or name another provider",
		word, path, p.Name, p.Origins["command"], by), lack}
}

// path is the PATH of an agent with an environment of its own.
func (e environ) path(env map[string]string) string {
	if own, ok := env["PATH"]; ok {
		return front(e.bin, expand(own, e.own))
	}
	return e.own["PATH"]
}

// finds looks each program up once.
func (e environ) finds(program, path string) bool {
	at := program + "\x00" + path
	found, known := e.sought[at]
	if !known {
		found = e.find(program, path)
		e.sought[at] = found
	}
	return found
}

// fingerprint is over what the configuration says, as it says it: neither the host nor the folder enters, so nothing
// drifts because the controller was started from somewhere else. Of a program that is only found here nothing enters
// either. Where a key is not set there is no field: a later version may add some, and nobody drifts.
func fingerprint(a *config.Agent, p *config.Program) session.Fingerprint {
	fields := map[string]string{"command": p.Line}
	env := a.Env
	lines := func(name string, l []string) {
		if len(l) > 0 {
			fields[name] = strings.Join(l, "\x00")
		}
	}
	if p.Line == "" && p.By != "" {
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

// unmarked are the variables that the configuration gives an agent though its fingerprint does not know them, in order.
func unmarked(a *config.Agent, p *config.Program) []string {
	if p.By != "" {
		return nil
	}
	return slices.DeleteFunc(slices.Sorted(maps.Keys(p.Env)), func(name string) bool {
		_, own := a.Env[name]
		return own
	})
}

// dialogs are the questions that a program may ask before it is ready.
func dialogs(p *config.Program) []session.Dialog {
	var out []session.Dialog
	for _, d := range p.Dialogs {
		out = append(out, session.Dialog{Name: d.Name, Says: d.Says, Keys: d.Keys})
	}
	return out
}

// askTime is how long a program is watched for its questions where nothing says when it is ready.
const askTime = 10 * time.Second

// answerTime is how long somebody has to answer a question at the terminal.
const answerTime = 10 * time.Minute

func ready(p *config.Program) session.Ready {
	r := session.Ready{Prefix: p.ReadyPromptPrefix, Delay: p.ReadyDelay}
	if !r.Needed() && p.EmitsPermissionWarning {
		r.Delay = askTime
	}
	if len(p.Dialogs) > 0 && !p.EmitsPermissionWarning {
		r.Deadline = answerTime
	} else if r.Delay >= session.DefaultReadyDeadline {
		r.Deadline = r.Delay + session.DefaultReadyDeadline
	}
	return r
}

// prompt says how a prompt gets in.
func delivery(p *config.Program) Prompt {
	switch p.PromptMode {
	case "none":
		return Prompt{}
	case "flag":
		return Prompt{Mode: p.PromptMode, Flag: p.PromptFlag}
	}
	return Prompt{Mode: p.PromptMode}
}
