package env

import (
	"strings"

	"gcity/city"
	"gcity/cli/exit"
	"gcity/cli/folder"
)

// RevealHelp describes --show-secrets.
const RevealHelp = "also show the secrets in command lines and variables; works only on a terminal"

// MayReveal returns an error if --show-secrets is used without a terminal or with --json.
func MayReveal(e *Env, secrets bool) error {
	if secrets && (e.JSON || !e.OutTTY) {
		return exit.Usage("--show-secrets works only on a terminal; programs can read " +
			"city.toml instead")
	}
	return nil
}

// Reveal adds the secrets to an inspection. It reads them from the configuration files, because the controller never
// sends secrets.
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
