package env

import (
	"strings"

	"gcity/city"
	"gcity/cli/exit"
	"gcity/cli/folder"
)

// RevealHelp describes --show-secrets.
const RevealHelp = "show the secrets in command lines and variables too, on a terminal only, as " +
	"the files on disk have them"

// MayReveal returns an error if secrets are asked for where they would be kept or passed on: in a file, a pipe, or
// JSON.
func MayReveal(e *Env, secrets bool) error {
	if secrets && (e.JSON || !e.OutTTY) {
		return exit.Usage("--show-secrets writes to a terminal only; read city.toml itself for " +
			"another program")
	}
	return nil
}

// Reveal fills in what an inspection has without secrets. The controller gives none away, so they come from the files
// on disk, which only their owner reads.
func Reveal(e *Env, g *city.Agent, about *city.Inspection) error {
	c, err := LoadHere(e)
	if err != nil {
		return err
	}
	for _, w := range folder.Plan(c, c.Path) {
		if w.Name != g.Name {
			continue
		}
		g.Command = w.Spec.Command
		if s := about.Spec; s != nil {
			s.Command, s.PreStart, s.Setup, s.Nudge = w.Spec.Command, w.Spec.PreStart, w.Spec.Setup,
				w.Spec.Nudge
		}
		for i := range about.Env {
			for _, kv := range w.Spec.Env {
				if value, ok := strings.CutPrefix(kv, about.Env[i].Name+"="); ok {
					about.Env[i].Value, about.Env[i].Hidden = value, false
				}
			}
		}
	}
	return nil
}
