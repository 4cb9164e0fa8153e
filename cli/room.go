package cli

import (
	"context"
	"log/slog"
	"strings"

	"gcity/city"
	"gcity/tui"
)

// roomExit is how an operator left the control room.
type roomExit = tui.Exit

const (
	roomEnded      = tui.Ended
	roomLeave      = tui.Leave
	roomHandOver   = tui.HandOver
	roomKeepAgents = tui.KeepAgents
	roomStopCity   = tui.StopCity
	roomHangup     = tui.Hangup
)

type roomOptions struct {
	city     city.Control
	hosting  bool
	readOnly bool
	logger   *slog.Logger
}

// openRoom shows the control room until the operator leaves it, or ctx ends.
func (a *app) openRoom(ctx context.Context, o roomOptions) (roomExit, error) {
	mode := tui.Joined
	switch {
	case o.hosting:
		mode = tui.Hosting
	case o.readOnly:
		mode = tui.ReadOnly
	}
	return tui.Run(ctx, tui.Options{
		City: o.city, Mode: mode, Logger: o.logger,
		NoColor: a.getenv("NO_COLOR") != "",
		ASCII:   asciiLocale(a.getenv),
		OverSSH: a.getenv("SSH_CONNECTION") != "" || a.getenv("SSH_TTY") != "",
	})
}

// asciiLocale says whether the locale that is set, if one is, has no UTF-8.
func asciiLocale(getenv func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(getenv(name)); v != "" {
			return !strings.Contains(v, "utf-8") && !strings.Contains(v, "utf8")
		}
	}
	return false
}
