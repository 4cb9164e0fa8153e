package panel

import (
	"testing"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/widget"
)

// In ASCII, no two states in a list have the same symbol, because there might be no colors either.
func TestASCIISymbolsOfStates(t *testing.T) {
	l := &widget.Styles{Glyphs: themes.ASCII()}
	signs := map[string]map[string]string{}
	add := func(list, state, sign string) {
		if signs[list] == nil {
			signs[list] = map[string]string{}
		}
		if other := signs[list][sign]; other != "" {
			t.Errorf("%s: %s and %s are %s", list, other, state, sign)
		}
		signs[list][sign] = state
	}
	add("agents", "stuck", l.Glyphs.Alert)
	for _, s := range city.States {
		sign, _ := AgentSign(l, s)
		add("agents", string(s), sign)
	}
	for _, s := range []AutomationState{AutomationBroken, AutomationFailing, AutomationRunning, AutomationDue, AutomationIdle,
		AutomationManual, AutomationOff} {
		sign, _ := AutomationSign(l, s)
		add("automations", string(s), sign)
	}
	for _, s := range []poolState{poolFailing, poolShort, poolGrowing, poolDraining, poolShrinking, poolSteady, poolSuspended} {
		sign, _ := PoolSign(l, s)
		add("pools", string(s), sign)
	}
	for _, s := range []rigState{rigBroken, rigTroubled, rigStarting, rigIdle, rigSuspended, rigRunning} {
		sign, _ := rigSign(l, s)
		add("rigs", string(s), sign)
	}
	for _, s := range []workState{workBusy, WorkBlocked, WorkClosed, workOpen} {
		sign, _ := workSign(l, s)
		add("work", string(s), sign)
	}
	for _, w := range []string{city.WatchdogEscalated, city.WatchdogSuspended, string(city.Dead), string(city.VeryStale),
		string(city.Stale), string(city.Fresh), string(city.Unchecked)} {
		sign, _ := watchdogSign(l, w)
		add("watchdogs", w, sign)
	}
}
