package fleet

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"gcity/cli/env"
	"gcity/cli/host"
	"gcity/internal/deadline"
)

func completeCity(e *env.Env, cmd *cobra.Command, typed string) ([]string,
	cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), env.CompleteWithin)
	defer cancel()
	all, _ := deadline.Within(ctx, 0, func() (all []host.Registered) {
		if home, err := env.Home(e); err == nil {
			all, _ = registeredCities(ctx, e, home)
		}
		return all
	})
	var names []string
	for _, e := range all {
		if strings.HasPrefix(e.Name, typed) {
			names = append(names, e.Name)
		}
	}
	if len(names) == 0 {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
