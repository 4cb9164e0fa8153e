package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/config"
)

func (a *app) configCommand() *cobra.Command {
	var provenance, validate, secrets bool
	show := &cobra.Command{
		Use: "show", Short: "The configuration as gcity understands it, defaults filled in, secrets hidden", Args: exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.mayReveal(secrets); err != nil {
				return err
			}
			c, err := a.loadHere()
			if err != nil {
				return err
			}
			warnings := append(problemLines(c.Warnings), recipeTroubles(cmd.Context(), c)...)
			if a.JSON {
				return a.WriteJSON(configShape{c.Path, c.Revision, warnings, configText(c), sourcesOf(c)})
			}
			for _, w := range warnings {
				a.Warn(w)
			}
			if validate {
				a.Sayf("the configuration is valid, revision %s", short(c.Revision))
				return nil
			}
			if provenance {
				for _, s := range sourcesOf(c) {
					a.Sayf("# %-8s %s", s.Kind, output.SafeLine(s.Path))
				}
			}
			text := configText(c)
			if secrets {
				text = configText(c.Revealed())
			}
			a.Sayf("%s", strings.TrimRight(output.SafeText(text), "\n"))
			return nil
		},
	}
	explain := &cobra.Command{
		Use: "explain [NAME]", Short: "Where each value of an agent, pool or rig comes from: file, line, or default", Args: between(0, 1),
		ValidArgsFunction: a.complete(kindAgent, kindPool, kindRig),
		RunE:              func(_ *cobra.Command, args []string) error { return a.explain(args) },
	}
	show.Flags().BoolVar(&provenance, "provenance", false, "first, which files and topologies it is made of")
	show.Flags().BoolVar(&secrets, "show-secrets", false, revealHelp)
	show.Flags().BoolVar(&validate, "validate", false, "only say whether it is valid: exit 78 and every mistake with its place if it is not")
	return group("config", "What the configuration says, and where", a.withSource(show), a.withSource(explain), a.configCheck(), a.schemaCommand())
}

// configCheck says whether the configuration on disk is valid, and what is worth mending in it.
func (a *app) configCheck() *cobra.Command {
	var strict bool
	c := &cobra.Command{
		Use: "check", Short: "What is wrong with the configuration: exit 78 if it would be refused", Args: exactly(0),
		Long: `check reads the configuration as a controller would, and prints every error and
every warning with its place. A warning is something that only one agent needs and
that cannot be used: the agent runs without it or cannot be started, and the rest
of the city starts. With --strict a warning is an error.`,
		RunE: func(*cobra.Command, []string) error { return a.checkConfig(strict) },
	}
	c.Flags().BoolVar(&strict, "strict", false, "take warnings for errors")
	c.Flags().StringArrayVarP(&a.files, "file", "f", nil, "read one more `FILE`, after what city.toml includes")
	return c
}

// checkedConfig is the result of a check.
type checkedConfig struct {
	Valid    bool     `json:"valid"`
	Revision string   `json:"revision,omitempty"`
	Errors   []string `json:"errors"`
	Warnings []string `json:"warnings"`
}

func (a *app) checkConfig(strict bool) error {
	a.strict = strict
	dir, err := a.cityDir()
	if err != nil {
		return err
	}
	out := checkedConfig{Errors: []string{}, Warnings: []string{}}
	c, err := a.loadAt(dir, nil)
	refused, isRefused := errors.AsType[*config.Error](err)
	switch {
	case isRefused:
		out.Errors = append(out.Errors, problemLines(refused.Problems)...)
		out.Warnings = append(out.Warnings, problemLines(refused.Warnings)...)
	case err != nil:
		return err
	default:
		out.Revision = short(c.Revision)
		out.Warnings = append(out.Warnings, problemLines(c.Warnings)...)
	}
	out.Valid = len(out.Errors) == 0 && (!strict || len(out.Warnings) == 0)
	if err := a.tellCheck(&out); err != nil || out.Valid {
		return err
	}
	return exit.Quietly(exit.CodeConfig)
}

func (a *app) tellCheck(out *checkedConfig) error {
	if a.JSON {
		return a.WriteJSON(out)
	}
	for _, line := range out.Errors {
		a.Sayf("%s %s", a.Paint(output.Red, "error:"), output.SafeText(line))
	}
	for _, line := range out.Warnings {
		a.Sayf("%s %s", a.Paint(output.Yellow, "warning:"), output.SafeText(line))
	}
	said := fmt.Sprintf("%s, %s", output.Counted(len(out.Errors), "error"), output.Counted(len(out.Warnings), "warning"))
	if out.Revision != "" && len(out.Errors) == 0 {
		said = fmt.Sprintf("the configuration can be used, revision %s: %s", out.Revision, said)
	}
	a.Sayf("%s", said)
	return nil
}

func (a *app) schemaCommand() *cobra.Command {
	var of string
	c := &cobra.Command{
		Use: "schema", Short: "A JSON Schema of city.toml, for editors that complete and check", Args: exactly(0),
		Long: `schema writes a JSON Schema (draft 7) of city.toml, of a file that
it includes, or of a topology.toml.
An editor that knows TOML by taplo takes it from a comment in the file's first line:

  #:schema ./.gc/city.schema.json

Write it anew when gcity is another version: keys that are new are unknown to an old
one. What it refuses gcity refuses; what it takes "gcity plan" may still refuse.`,
		Example: "  gcity config schema > .gc/city.schema.json",
		RunE: func(*cobra.Command, []string) error {
			text := schemaText(of)
			if text == nil {
				return exit.Usage("there is no schema of %q; there are those of %s", of, strings.Join(schemaNames(), ", "))
			}
			_, err := a.Out.Write(text)
			return err
		},
	}
	c.Flags().StringVar(&of, "of", schemaNames()[0], "the kind of file: "+strings.Join(schemaNames(), ", "))
	return c
}

func (a *app) loadHere() (*config.City, error) {
	dir, err := a.cityDir()
	if err != nil {
		return nil, err
	}
	c, err := a.loadAt(dir, nil)
	if err == nil {
		a.noteUntrusted(trusted(dir, c))
	}
	return c, err
}

// configShape is a configuration in JSON.
type configShape struct {
	Path     string   `json:"path"`
	Revision string   `json:"revision"`
	Warnings []string `json:"warnings,omitempty"`
	TOML     string   `json:"toml"`

	Sources []config.Part `json:"sources"`
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
	if a.JSON {
		return a.WriteJSON(outputShape{Agent: name, Format: "text", Turns: []turn{{Role: "config", Text: text}}})
	}
	a.Sayf("%s", strings.TrimRight(output.SafeText(text), "\n"))
	return nil
}
