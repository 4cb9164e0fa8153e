package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"gcity/cli/env"
	"gcity/cli/exit"
	"gcity/cli/output"
	"gcity/migrate"
)

func importCommand(e *env.Env) *cobra.Command {
	var out string
	gasCity := &cobra.Command{
		Use: "gas-city DIR", Short: "Convert a city in Gas City's pack format to one that " +
			"gcity reads",
		Long: `gas-city reads a city with packs, imports, orders, agent folders and named sessions
and writes the equivalent city.toml, topologies and automations to a new folder. It
lists what has no equivalent. It does not change the original, and the rigs stay where
they are. Without --out it writes to DIR-gcity, next to the original.`,
		RunE: func(_ *cobra.Command, args []string) error { return importGasCity(e, args[0], out) },
	}
	gasCity.Flags().StringVar(&out, "out", "", "the folder to write to; it must be new or empty")
	return env.Group("import", "Convert cities from other programs", gasCity)
}

func importGasCity(e *env.Env, dir, out string) error {
	if e.ReadOnly {
		return env.ReadOnlyError("import")
	}
	r, err := migrate.Convert(dir, out)
	var folder migrate.FolderError
	switch {
	case errors.As(err, &folder):
		return exit.Usage("%w", folder.Unwrap())
	case errors.Is(err, migrate.ErrNotPackModel):
		return err
	case err != nil:
		return &exit.Failure{Code: exit.CodeConfig, Err: err}
	case e.JSON:
		return e.WriteJSON(r)
	}
	e.Sayf("converted %s to %s", output.SafeLine(r.City), output.SafeLine(r.Out))
	if len(r.Agents) == 0 {
		e.Sayf("no agents were converted, so the result has none")
	}
	for _, made := range []struct {
		what string
		list []string
	}{{"agents", r.Agents}, {"topologies", r.Topologies}, {"automations", r.Automations},
		{"formulas", r.Formulas}} {
		if len(made.list) > 0 {
			e.Sayf("%-12s %s", made.what, output.SafeLine(strings.Join(made.list, ", ")))
		}
	}
	sayNotes(e, r.Notes)
	e.Sayf("\nnext: %s", fmt.Sprintf("gcity --city %s config check", output.SafeLine(r.Out)))
	return nil
}

// sayNotes prints the notes, those about unusable parts first. Notes about the same key are one line.
func sayNotes(e *env.Env, notes []migrate.Note) {
	said := map[string]bool{}
	for _, kind := range []struct {
		kind  migrate.Kind
		title string
	}{{migrate.Broken, "does not work until you change it:"},
		{migrate.Changed, "works differently:"},
		{migrate.UnknownKey, "keys without an equivalent:"}} {
		for _, n := range notes {
			if n.Kind != kind.kind || n.Key != "" && said[n.Key] {
				continue
			}
			if !said[kind.title] {
				e.Sayf("\n%s", kind.title)
			}
			said[kind.title], said[n.Key] = true, true
			text := n.String()
			if places := placesOf(notes, n.Key); len(places) > 1 {
				_, hint, _ := strings.Cut(n.Text, " has no equivalent")
				text = n.Key + hint + ": " + strings.Join(places, ", ")
			}
			e.Sayf("  %s", output.SafeLine(text))
		}
	}
}

// placesOf returns the places of all notes about a key, shortened if there are many.
func placesOf(notes []migrate.Note, key string) (places []string) {
	for _, n := range notes {
		if key != "" && n.Key == key {
			places = append(places, n.Place)
		}
	}
	if shown := 3; len(places) > shown+1 {
		return append(places[:shown], fmt.Sprintf("and %d more places", len(places)-shown))
	}
	return places
}
