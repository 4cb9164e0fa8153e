package fleet

import (
	"context"
	"fmt"
	"strings"

	"gcity/city"
	"gcity/cli/env"
	"gcity/internal/shell"
)

func orphansText(i city.Info) string {
	switch i.LeftoverSessions {
	case 0:
		return ""
	case 1:
		return "1 agent is still running; `gcity stop --city " + shell.Quote(i.Path) + "` stops it"
	}
	return fmt.Sprintf("%d agents are still running; `gcity stop --city %s` stops them",
		i.LeftoverSessions, shell.Quote(i.Path))
}

// notStopped returns a line for each registered city that might not have stopped with the supervisor.
func notStopped(ctx context.Context, e *env.Env) string {
	all, err := citiesFromFiles(ctx, e)
	if err != nil {
		return ""
	}
	var out []string
	for _, i := range all {
		text := orphansText(i)
		if i.Cause == city.Unresponsive {
			text = i.Error + "; its agents might still be running"
		}
		if text != "" {
			out = append(out, i.Name+": "+text)
		}
	}
	return strings.Join(out, "\n")
}

// HowToShowAll returns advice for showing all cities when no supervisor is running.
func HowToShowAll(ctx context.Context, e *env.Env) string {
	all, err := CityList(ctx, e)
	if err != nil || len(all) == 0 {
		return "no cities are registered. `gcity start` in a city's folder registers it and " +
			"starts the supervisor. " + howToSwitch
	}
	names := make([]string, len(all))
	for i := range all {
		names[i] = all[i].Name + " (" + CityStatusText(e, all[i]) + ")"
	}
	return "registered: " + strings.Join(names, ", ") +
		". `gcity supervisor start` starts them. " + howToSwitch
}

const howToSwitch = "Without a supervisor, `gcity cities` lists all cities, and @ in a control " +
	"room switches between them"
