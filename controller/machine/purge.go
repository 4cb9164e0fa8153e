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
func (wk *work) purge(now time.Time) {
	if wk.m.conf.NoWork || !wk.m.runs.RecordsRead || wk.purging || now.Sub(wk.purged) <
		cmp.Or(wk.m.conf.WispEvery, purgeEvery) {
		return
	}
	wk.purging, wk.purged = true, now
	wk.m.step.Do(effect.Purge{Wisps: wk.m.conf.WispTTL, Runs: cmp.Or(wk.m.conf.WispTTL, runsTTL),
		Of: wk.m.runs.Remembered()})
}

// backUp orders the backups of work that are due.
func (wk *work) backUp(now time.Time) {
	if !wk.m.conf.Backups || wk.m.settling || wk.backingUp || now.Sub(wk.backedUp) < backupLook {
		return
	}
	wk.backingUp, wk.backedUp = true, now
	wk.m.step.Do(effect.BackUp{})
}
