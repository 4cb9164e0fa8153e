package tui

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"gcity/tui/actions"
	"gcity/tui/feed"
	"gcity/tui/keymap"
	"gcity/tui/widget"
)

// Agents that stop come first in a plan. Unchanged agents are only counted.
func TestPlanOfAnEdit(t *testing.T) {
	s := newStage(t, Options{Config: textFile{"/x/city.toml"}})
	s.size(120, 40)
	s.hear(feed.News{Snap: demoSnapshot(epoch)})
	actions.EditedConfig(s.m, feed.Edited{Draft: &feed.Draft{Path: "/x/.gc/edit-1.toml"}, Data: []byte("new"), Plan: editPlan()})
	var said []string
	for _, l := range s.m.Dialogs.Choice().Body {
		said = append(said, strings.ReplaceAll(ansi.Strip(l), widget.NBSP, " "))
	}
	want := []string{
		"stop     idle: not in the configuration",
		"restart  builder: command changed, env PATH_HINT changed",
		"restart  worker (4 members): env MODEL added; held back while a user is attached",
		"start    herald: not running",
		"wait     scout: quarantined: crashed 6× in 4m, until 11:38",
		"1 agent unchanged",
		"! formulas/automations/prune/automation.toml:4:1: both formula and exec",
	}
	if !slices.Equal(said, want) {
		t.Errorf("%q", said)
	}
	s.wait(keymap.DialogGuard)
	s.press("d")
	s.shows("restart  worker-4", "-        chatty: runs as configured")
	s.wants()
	s.press("esc")
	s.shows("yes, apply it", "worker (4 members)")
	s.wait(keymap.DialogGuard)
	s.press("y")
	if e, ok := effectOf[feed.ApplyDraft](s); !ok || string(e.Data) != "new" || s.m.Draft != nil {
		t.Errorf("%+v", e)
	}
}

// If the plan is not known, the question says so.
func TestPlanIsUnknown(t *testing.T) {
	s := newStage(t, Options{Config: textFile{"/x/city.toml"}})
	s.size(80, 24)
	s.hear(feed.News{Snap: demoSnapshot(epoch)})
	actions.EditedConfig(s.m, feed.Edited{Draft: &feed.Draft{Path: "/x"}, Plan: feed.Plan{Notes: []string{"The plan is unknown: the loader failed"}}})
	s.shows("! The plan is unknown: the loader failed", "yes, apply it")
	s.hides("The change does not affect any agent.")
	actions.EditedConfig(s.m, feed.Edited{Draft: &feed.Draft{Path: "/x"}, Plan: feed.Plan{Changes: []feed.Change{{Agent: "a", Kind: "none"}}}})
	s.shows("The change does not affect any agent.")
	actions.EditedConfig(s.m, feed.Edited{Draft: &feed.Draft{Path: "/x"}, Plan: feed.Plan{
		Changes: []feed.Change{{Agent: "a", Kind: "none"}}, Settings: []string{"max of pool p: 3 → 40"}}})
	s.shows("The change does not start, stop or restart any agent now.", "max of pool p: 3 → 40")
	s.hides("The change does not affect any agent.")
}
