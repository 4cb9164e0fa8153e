package cli

import (
	"strings"

	"gcity/city"
	"gcity/cli/exit"
)

// revealHelp describes --show-secrets.
const revealHelp = "show the secrets in command lines and variables too, on a terminal only, as the files on disk have them"

// mayReveal returns an error if secrets are asked for where they would be kept or passed on: in a file, a pipe, or JSON.
func (a *app) mayReveal(secrets bool) error {
	if secrets && (a.JSON || !a.OutTTY) {
		return exit.Usage("--show-secrets writes to a terminal only; read city.toml itself for another program")
	}
	return nil
}

// reveal fills in what an inspection has without secrets. The controller gives none away, so they come from the files on
// disk, which only their owner reads.
func (a *app) reveal(g *city.Agent, about *city.Inspection) error {
	c, err := a.loadHere()
	if err != nil {
		return err
	}
	for _, w := range plan(c, c.Path) {
		if w.Name != g.Name {
			continue
		}
		g.Command = w.Spec.Command
		if s := about.Spec; s != nil {
			s.Command, s.PreStart, s.Setup, s.Nudge = w.Spec.Command, w.Spec.PreStart, w.Spec.Setup, w.Spec.Nudge
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
