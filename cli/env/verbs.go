package env

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"gcity/api"
	"gcity/city"
	"gcity/cli/folder"
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
	r, err := l.Do(ctx, what)
	return r, e.NameVersion(ctx, l, err)
}

// NameVersion adds the controller's version to the error for an invalid request if this program has another version.
// The controller might not know the request.
func (e *Env) NameVersion(ctx context.Context, l *Link, err error) error {
	if !l.Live || !city.HasCode(err, city.Invalid) {
		return err
	}
	s, failed := folder.BriefSnapshot(ctx, l.Control)
	if failed != nil || s.Version == e.Version {
		return err
	}
	return fmt.Errorf("%w; the controller has version %s and this program has version %s, so the "+
		"controller might not support the request; `gcity doctor` says how to replace it", err,
		output.SafeText(s.Version), e.Version)
}

// Receipt prints a command's result.
func (e *Env) Receipt(r city.Receipt) error {
	return e.Result(r, "%s", output.SafeLine(r.Message))
}

// Receipts prints the receipts of several commands, as a list if the output is JSON.
func (e *Env) Receipts(all []city.Receipt) error {
	if len(all) == 1 {
		return e.Receipt(all[0])
	}
	if e.JSON {
		return e.WriteJSON(output.ListOf(all))
	}
	for _, r := range all {
		e.Sayf("%s", output.SafeLine(r.Message))
	}
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
