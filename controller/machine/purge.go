package machine

import (
	"cmp"
	"time"

	"gcity/controller/effect"
)

const (
	// runsTTL is how long the record of a run that is over is kept, where no wisp_ttl says so.
	runsTTL = 14 * 24 * time.Hour
	// purgeEvery is the time between two looks for what is old, where no wisp_gc_interval says so.
	purgeEvery = time.Hour
	// backupLook is the time between two looks for a backup that is due.
	backupLook = 10 * time.Minute
)

// purge orders what has been closed for long enough to be removed.
func (m *Machine) purge(now time.Time) {
	w := &m.work
	if m.conf.NoWork || !m.runs.RecordsRead || w.purging || now.Sub(w.purged) <
		cmp.Or(m.conf.WispEvery, purgeEvery) {
		return
	}
	w.purging, w.purged = true, now
	m.step.Do(effect.Purge{Wisps: m.conf.WispTTL, Runs: cmp.Or(m.conf.WispTTL, runsTTL),
		Of: m.runs.Remembered()})
}

// backUp orders the backups of work that are due.
func (m *Machine) backUp(now time.Time) {
	w := &m.work
	if !m.conf.Backups || m.settling || w.backingUp || now.Sub(w.backedUp) < backupLook {
		return
	}
	w.backingUp, w.backedUp = true, now
	m.step.Do(effect.BackUp{})
}
