package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"gcity/config"
)

func (a *app) configCommand() *cobra.Command {
	show := &cobra.Command{
		Use: "show", Short: "The configuration as gcity understands it, defaults filled in, secrets hidden", Args: exactly(0),
		RunE: func(*cobra.Command, []string) error {
			c, err := a.loadHere()
			if err != nil {
				return err
			}
			if a.json {
				return a.writeJSON(configShape{c.Path, c.Revision, problemLines(c.Warnings), configText(c)})
			}
			for _, w := range c.Warnings {
				a.warn(w.String())
			}
			a.sayf("%s", strings.TrimRight(safeText(configText(c)), "\n"))
			return nil
		},
	}
	explain := &cobra.Command{
		Use: "explain [NAME]", Short: "Where each value of an agent, pool or rig comes from: file, line, or default", Args: between(0, 1),
		ValidArgsFunction: a.complete(kindAgent, kindPool, kindRig),
		RunE:              func(_ *cobra.Command, args []string) error { return a.explain(args) },
	}
	return group("config", "What the configuration says, and where", show, explain)
}

func (a *app) loadHere() (*config.City, error) {
	dir, err := a.cityDir()
	if err != nil {
		return nil, err
	}
	return loadCity(dir)
}

// configShape is a configuration in JSON.
type configShape struct {
	Path     string   `json:"path"`
	Revision string   `json:"revision"`
	Warnings []string `json:"warnings,omitempty"`
	TOML     string   `json:"toml"`
}

func (a *app) explain(args []string) error {
	c, err := a.loadHere()
	if err != nil {
		return err
	}
	name, err := a.self(args)
	if err != nil {
		return err
	}
	text, err := explainAgent(c, name)
	if err != nil {
		return err
	}
	if a.json {
		return a.writeJSON(outputShape{Agent: name, Format: "text", Turns: []turn{{Role: "config", Text: text}}})
	}
	a.sayf("%s", strings.TrimRight(safeText(text), "\n"))
	return nil
}

// warn says something on stderr that does not change the outcome.
func (a *app) warn(text string) {
	_, _ = a.err.Write([]byte(a.tint(a.errTTY, yellow, "warning:") + " " + safeLine(text) + "\n"))
}
