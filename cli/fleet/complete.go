package fleet

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"gcity/cli/env"
	"gcity/cli/host"
)

func completeCity(e *env.Env, cmd *cobra.Command, typed string) ([]string,
	cobra.ShellCompDirective) {
	ctx, cancel := context.WithTimeout(cmd.Context(), env.CompleteWithin)
	defer cancel()
	seen := make(chan []host.Registered, 1)
	go func() { // nothing waits for this goroutine; a slow lookup continues until the process exits
		var all []host.Registered
		if home, err := env.Home(e); err == nil {
			all, _ = registeredCities(ctx, e, home)
		}
		seen <- all
	}()
	var names []string
	select {
	case all := <-seen:
		for _, e := range all {
			if strings.HasPrefix(e.Name, typed) {
				names = append(names, e.Name)
			}
		}
	case <-ctx.Done():
	}
	if len(names) == 0 {
		return nil, cobra.ShellCompDirectiveFilterDirs
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
