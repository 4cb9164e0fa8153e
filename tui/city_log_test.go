package tui

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"gcity/city/citytest"
	"gcity/tui/feed"
	"gcity/tui/state"
	"gcity/tui/terminal"
)

// A log that serves the rooms of several cities names the city in each line. The log of a hosted city needs no name.
func TestLogNamesTheCity(t *testing.T) {
	for mode, want := range map[state.Mode]string{state.Joined: " city=/alpha", state.Hosting: ""} {
		var log bytes.Buffer
		o := Options{Mode: mode, Folder: "/alpha", City: citytest.NewFake("alpha"),
			Logger: slog.New(slog.NewTextHandler(&log, nil))}
		root := &feed.Runner{Ctx: t.Context(), City: o.City, Mailbox: feed.NewMailbox(), Log: o.cityLog(o.Folder)}
		ws := &roomSwitcher{options: o, root: root, newScreen: terminal.NewScreen, rooms: map[string]*cityRoom{}}
		beta := ws.build(&feed.OpenedCity{SwitchCity: feed.SwitchCity{Name: "beta", Path: "/beta"}, City: citytest.NewFake("beta")}, epoch)
		all := ws.build(&feed.OpenedCity{}, epoch)
		root.Log.Warn("first")
		beta.r.Log.Warn("second")
		all.r.Log.Warn("third")
		lines := strings.Split(log.String(), "\n")
		for i, end := range []string{"msg=first" + want, "msg=second city=/beta", "msg=third"} {
			if !strings.HasSuffix(lines[i], end) {
				t.Errorf("mode %v: got %q, want the end %q", mode, lines[i], end)
			}
		}
	}
}
