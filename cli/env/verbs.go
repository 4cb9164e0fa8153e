package env

import (
	"context"

	"github.com/spf13/cobra"

	"gcity/api"
	"gcity/city"
	"gcity/cli/output"
)

// CityVerb returns a CLI command that sends the given request to the city.
func CityVerb(e *Env, use, short string, what city.Command) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short,
		RunE: func(cmd *cobra.Command, _ []string) error {
			l, err := e.Open(cmd.Context())
			if err != nil {
				return err
			}
			defer l.Close()
			return e.Do(cmd.Context(), l, what)
		},
	}
}

// Do sends a command to the city and prints the result.
func (e *Env) Do(ctx context.Context, l *Link, what city.Command) error {
	r, err := e.Request(ctx, l, what)
	if err != nil {
		return err
	}
	return e.Receipt(r)
}

// Request sends a command to the city.
func (e *Env) Request(ctx context.Context, l *Link, what city.Command) (city.Receipt, error) {
	ctx, cancel := context.WithTimeout(ctx, city.ResponseLimit(what))
	defer cancel()
	return l.Do(ctx, what)
}

// Receipt prints a command's result.
func (e *Env) Receipt(r city.Receipt) error {
	if e.JSON {
		return e.WriteJSON(r)
	}
	e.Sayf("%s", output.SafeLine(r.Message))
	return nil
}

// StatusShape returns a city's totals in the API's form.
func StatusShape(e *Env, s *city.Snapshot) api.Status {
	out := api.StatusOf(s, e.Now())
	if out.Version == "" { // snapshots from package offline have no version
		out.Version = e.Version
	}
	return out
}
