package machine

import (
	"errors"
	"testing"
	"time"

	"gcity/controller/effect"
)

// Due backups are checked every ten minutes, one check at a time. A failure is shown until a check succeeds.
func TestBackUp(t *testing.T) {
	m := newMachine()
	m.conf = &effect.Configuration{Backups: true}
	now := time.Now()
	orders := func() (n int) {
		m.step.Effects = nil
		m.work.backUp(now)
		return len(m.step.Effects)
	}
	if orders() != 1 || orders() != 0 {
		t.Error("a look is not ordered once")
	}
	m.Step(now, effect.BackedUp{Err: errors.New("the disk is full")})
	if m.work.unbacked != "work cannot be backed up: the disk is full" || orders() != 0 {
		t.Error(m.work.unbacked)
	}
	if now = now.Add(backupCheckEvery); orders() != 1 {
		t.Error("it is not tried again")
	}
	m.Step(now, effect.BackedUp{})
	if m.work.unbacked != "" {
		t.Error(m.work.unbacked)
	}
}
