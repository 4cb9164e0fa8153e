package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"gcity/api/gascity"
	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/config"
	"gcity/config/keys"
	"gcity/describe"
	"gcity/internal/suggest"
)

func configCommand(e *env.Env) *cobra.Command {
	var provenance, validate, secrets bool
	show := &cobra.Command{
		Use: "show", Short: "Show the configuration with defaults filled in and secrets hidden",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := env.MayReveal(e, secrets); err != nil {
				return err
			}
			c, err := env.LoadHere(e)
			if err != nil {
				return err
			}
			warnings := folder.Warnings(cmd.Context(), c, e.Now())
			if e.JSON {
				return e.WriteJSON(configShape{c.Path, c.Revision, warnings, c.TOML(),
					c.Parts()})
			}
			for _, w := range warnings {
				e.Warn(w)
			}
			if validate {
				e.Sayf("the configuration is valid, revision %s", folder.Short(c.Revision))
				return nil
			}
			if provenance {
				for _, s := range c.Parts() {
					e.Sayf("# %-8s %s", s.Kind, output.SafeLine(s.Path))
				}
			}
			text := c.TOML()
			if secrets {
				text = c.Revealed().TOML()
			}
			e.Sayf("%s", strings.TrimRight(output.SafeText(text), "\n"))
			return nil
		},
	}
	explain := &cobra.Command{
		Use: "explain [NAME]", Short: "Show where each value of an agent, pool or rig comes " +
			"from: file, line, or default",
		ValidArgsFunction: env.Complete(e, suggest.Agent, suggest.Pool, suggest.Rig),
		RunE:              func(_ *cobra.Command, args []string) error { return explain(e, args) },
	}
	flags := show.Flags()
	flags.BoolVar(&provenance, "provenance", false,
		"first list the files and topologies that make up the configuration")
	flags.BoolVar(&secrets, "show-secrets", false, env.RevealHelp)
	flags.BoolVar(&validate, "validate", false,
		"only check: print every error with its position, and exit with code 78 if there is one")
	return env.Group("config", "Show and check the configuration", env.WithSource(e, show),
		env.WithSource(e, explain), configCheck(e), schemaCommand(e))
}

func configCheck(e *env.Env) *cobra.Command {
	var strict bool
	c := &cobra.Command{
		Use: "check", Short: "Check the configuration; exit 78 if it is invalid",
		Long: `check reads the configuration as a controller would, and prints every error and
warning with its position. A warning concerns a single agent or automation: something
that an agent uses is missing or invalid, so the agent runs without it or cannot
start, or an automation is broken, so it does not run. The other agents and
automations are not affected. check does not look for the programs of start_command,
because check may run on a different machine than the city; "gcity plan" and
"gcity doctor" do. With --strict a warning is an error.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return checkConfig(cmd.Context(), e, strict)
		},
	}
	c.Flags().BoolVar(&strict, "strict", false, "treat warnings as errors")
	c.Flags().StringArrayVarP(&e.Files, "file", "f", nil,
		"also read the configuration file `FILE`, after those that city.toml includes")
	return c
}

type checkedConfig struct {
	Valid    bool     `json:"valid"`
	Revision string   `json:"revision,omitempty"`
	Errors   []string `json:"errors"`
	Warnings []string `json:"warnings"`
}

func checkConfig(ctx context.Context, e *env.Env, strict bool) error {
	e.Strict = strict
	dir, err := e.CityDir()
	if err != nil {
		return err
	}
	out := checkedConfig{Errors: []string{}, Warnings: []string{}}
	c, err := e.LoadAt(dir, nil)
	invalid, isInvalid := errors.AsType[*config.Error](err)
	switch {
	case isInvalid:
		out.Errors = append(out.Errors, folder.ProblemLines(invalid.Problems)...)
		out.Warnings = append(out.Warnings, folder.ProblemLines(invalid.Warnings)...)
	case err != nil:
		return err
	default:
		out.Revision = folder.Short(c.Revision)
		out.Warnings = append(out.Warnings, folder.Warnings(ctx, c, e.Now())...)
	}
	out.Valid = len(out.Errors) == 0 && (!strict || len(out.Warnings) == 0)
	if err := printCheck(e, &out); err != nil || out.Valid {
		return err
	}
	return exit.Quietly(exit.CodeConfig)
}

func printCheck(e *env.Env, out *checkedConfig) error {
	if e.JSON {
		return e.WriteJSON(out)
	}
	for _, line := range out.Errors {
		e.Sayf("%s %s", e.Paint(output.Red, "error:"), output.SafeText(line))
	}
	for _, line := range out.Warnings {
		e.Sayf("%s %s", e.Paint(output.Yellow, "warning:"), output.SafeText(line))
	}
	said := fmt.Sprintf("%s, %s", describe.Count(len(out.Errors), "error"),
		describe.Count(len(out.Warnings), "warning"))
	switch {
	case out.Valid:
		said = fmt.Sprintf("the configuration is valid, revision %s: %s", out.Revision, said)
	case len(out.Errors) == 0:
		said += "; --strict treats warnings as errors"
	}
	e.Sayf("%s", said)
	if out.Valid {
		e.Sayf("the agents' programs were not checked; `gcity plan` checks them")
	}
	return nil
}

func schemaCommand(e *env.Env) *cobra.Command {
	var of string
	c := &cobra.Command{
		Use: "schema", Short: "Print a JSON Schema for city.toml, for use in editors",
		Long: `schema prints a JSON Schema (draft 7) for city.toml, for a file that it includes, or
for a topology.toml. Editors that use taplo for TOML find the schema through a comment
in the first line of the file:

  #:schema ./city.schema.json

Generate the schema again after you upgrade gcity: an old schema does not contain new
keys. gcity rejects everything that the schema rejects. A file that the schema accepts
may still have errors that only "gcity config check" finds.`,
		Example: "  gcity config schema > city.schema.json",
		RunE: func(*cobra.Command, []string) error {
			text := keys.JSONSchema(of)
			if text == nil {
				return exit.Usage("invalid kind of file %q: use one of %s", of,
					strings.Join(keys.Schemas(), ", "))
			}
			_, err := e.Out.Write(text)
			return err
		},
	}
	c.Flags().StringVar(&of, "of", keys.Schemas()[0], "the kind of file: "+
		strings.Join(keys.Schemas(), ", "))
	return c
}

type configShape struct {
	Path     string   `json:"path"`
	Revision string   `json:"revision"`
	Warnings []string `json:"warnings,omitempty"`
	TOML     string   `json:"toml"`

	Sources []config.Part `json:"sources"`
}

func explain(e *env.Env, args []string) error {
	c, err := env.LoadHere(e)
	if err != nil {
		return err
	}
	name, err := e.Self(args)
	if err != nil {
		return err
	}
	text, err := c.Explain(name)
	if err != nil {
		return err
	}
	return e.Result(gascity.Output{Agent: name, Format: "text",
		Turns: []gascity.Turn{{Role: "config", Text: text}}},
		"%s", strings.TrimRight(output.SafeText(text), "\n"))
}
