package controller

import (
	"fmt"

	"gcity/controller/effect"
	"gcity/controller/machine"
	"gcity/controller/memory"
)

// recallDeeds reads what automations did under the controller before.
func (c *Controller) recallDeeds(past *machine.Past) {
	deeds, err := memory.ReadDeeds(c.o.Dir)
	if err != nil {
		past.Forgot = err.Error() + "; the file is kept as .gc/" + memory.DeedsFile +
			memory.BadSuffix
		if failed := memory.KeepBadDeeds(c.o.Dir); failed != nil {
			past.Forgot = fmt.Sprintf("%v; and the file cannot be kept: %v", err, failed)
		}
		c.o.Logger.Warn("automations begin anew", "err", past.Forgot)
	}
	past.Deeds = deeds
}

// recall reads what the controller before left, if its successor is to know.
func (c *Controller) recall(first *effect.Configuration, past *machine.Past) {
	if !first.OnDisk {
		return
	}
	agents, err := memory.ReadHistories(c.o.Dir)
	if err != nil {
		c.o.Logger.Warn("no crash histories", "err", err)
		past.Unread = err.Error()
	}
	past.Histories = agents
}

// keep writes what the loop had no more time for. Nothing else is in flight any more.
func (c *Controller) keep() {
	content, due, err := c.m.LastMemory()
	if !due {
		return
	}
	if err == nil {
		err = memory.WriteHistories(c.o.At, c.o.Dir, content)
	}
	if err != nil {
		c.o.Logger.Error("crash histories are not kept", "err", err)
	}
}
