package controller

import (
	"fmt"

	"gcity/controller/effect"
	"gcity/controller/machine"
	"gcity/controller/memory"
)

func (c *Controller) restoreAutomations(past *machine.InitialState) {
	states, err := memory.ReadAutomations(c.o.Dir)
	if err != nil {
		past.AutomationsProblem = err.Error() + "; the file was copied to .gc/" +
			memory.AutomationsFile + memory.BadSuffix
		if failed := memory.CopyBadAutomations(c.o.Dir); failed != nil {
			past.AutomationsProblem = fmt.Sprintf("%v; the file cannot be copied: %v", err,
				failed)
		}
		c.o.Logger.Warn("starting automations without their saved state", "err",
			past.AutomationsProblem)
	}
	past.Automations = states
}

func (c *Controller) restoreHistories(first *effect.Configuration, past *machine.InitialState) {
	all, err := memory.ReadHistories(c.o.Dir)
	if err != nil && first.OnDisk {
		past.HistoriesProblem = err.Error()
	}
	if err != nil {
		c.o.Logger.Warn("the saved crash histories cannot be read", "err", err)
	}
	past.Histories = all.For(first.OnDisk)
}

// saveHistories must be called when no effect is in flight.
func (c *Controller) saveHistories() {
	content, due, err := c.m.LastMemory()
	if !due {
		return
	}
	if err == nil {
		err = memory.WriteHistories(c.o.At, c.o.Dir, content, c.m.LoopState().LeftRunning)
	}
	if err != nil {
		c.o.Logger.Error("crash histories cannot be saved", "err", err)
	}
}
