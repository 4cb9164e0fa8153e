package cli

import (
	"context"
	"time"

	"gcity/cli/env"
	"gcity/cli/fleet"
	"gcity/cli/host"
	"gcity/cli/output"
	"gcity/config"
	"gcity/describe"
	"gcity/tui"
)

func hostedCity(ctx context.Context, h *host.City) tui.ShownCity {
	ctx, cancel := context.WithTimeout(ctx, exitTimeout)
	defer cancel()
	c := tui.ShownCity{Name: "the city", Folder: h.Dir, Mode: "headless", Responds: true}
	if s, err := h.Loop.Snapshot(ctx); err == nil {
		c.Name, c.Agents = s.Name, s.Running()
	}
	return c
}

// checkLeave returns an error if no background controller could run the city after the room has released it.
func checkLeave(e *env.Env, dir string, exit tui.Exit) error {
	if exit != tui.HandOver {
		return nil
	}
	return host.CheckHeadless(e, dir)
}

// afterRoom starts a background controller if exit is tui.HandOver, and prints the states of the hosted and the shown
// city. This process must have released the hosted city.
func afterRoom(e *env.Env, hosted, shown tui.ShownCity, exit tui.Exit) error {
	switch exit {
	case tui.HandOver:
		if _, err := runInBackground(e, hosted.Folder); err != nil {
			ctx, cancel := context.WithTimeout(context.Background(), exitTimeout)
			defer cancel()
			return withOrphans(ctx, hosted.Folder, err)
		}
		e.Sayf("%s", afterShowing(hosted))
	case tui.KeepAgents:
		e.Sayf("%s: the agents keep running without a controller; `gcity` in its folder controls "+
			"them again", cityLabel(hosted))
	default:
		hosted.Responds = false
		e.Sayf("%s", afterShowing(hosted))
	}
	if isOther(shown, hosted.Folder) {
		e.Sayf("%s", afterShowing(shown))
	}
	return nil
}

func runInBackground(e *env.Env, dir string) (pid int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return host.SpawnHeadless(ctx, e, dir)
}

func isOther(shown tui.ShownCity, dir string) bool {
	return shown.Folder != "" && shown.Folder != fleet.Resolved(dir)
}

func afterShowing(c tui.ShownCity) string {
	name := cityLabel(c)
	switch {
	case !c.Responds:
		return name + " is not running; `gcity` in its folder starts it again"
	case c.Agents == 0:
		name += " keeps running " + runsIn(c.Mode) + ", but no agent is running"
	default:
		name += " keeps running " + runsIn(c.Mode) + " with " + describe.Count(c.Agents, "agent")
	}
	return name + "; `gcity` in its folder opens its control room"
}

func runsIn(mode string) string {
	if mode == "console" {
		return "in another control room"
	}
	return "in the background"
}

func cityLabel(c tui.ShownCity) string {
	name := output.SafeText(c.Name)
	if found, err := config.Find("."); err == nil && found == fleet.Resolved(c.Folder) {
		return name
	}
	return name + " (" + output.SafeLine(c.Folder) + ")"
}
