package cli

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"gcity/city"
)

// complete offers the names of things as a command's first argument. A city that does not answer offers nothing.
func (a *app) complete(kinds ...kind) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		const nothingElse = cobra.ShellCompDirectiveNoFileComp
		if len(args) > 0 {
			return nil, nothingElse
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), 2*time.Second)
		defer cancel()
		l, err := a.open(ctx)
		if err != nil {
			return nil, nothingElse
		}
		defer l.close()
		s, err := l.Snapshot(ctx)
		if err != nil {
			return nil, nothingElse
		}
		var names []string
		for _, k := range kinds {
			names = append(names, namesOf(s, k)...)
		}
		slices.SortFunc(names, city.CompareNames)
		return slices.Compact(names), nothingElse
	}
}
