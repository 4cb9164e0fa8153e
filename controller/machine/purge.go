package machine

import (
	"cmp"
	"time"

	"gcity/controller/effect"
)

const (
	// runsTTL is how long records of ended runs are kept if wisp_ttl is not set.
	runsTTL = 14 * 24 * time.Hour
	// purgeEvery is the interval between purges if wisp_gc_interval is not set.
	purgeEvery = time.Hour
	// backupCheckEvery is how often the controller checks whether a backup is due.
	backupCheckEvery = 10 * time.Minute
)

func (wk *work) purge(now time.Time) {
	if wk.m.conf.NoWork || !wk.m.runs.RecordsRead || wk.purging || now.Sub(wk.purged) <
		cmp.Or(wk.m.conf.WispEvery, purgeEvery) {
		return
	}
	wk.purging, wk.purged = true, now
	wk.m.step.Do(effect.Purge{Wisps: wk.m.conf.WispTTL, Runs: cmp.Or(wk.m.conf.WispTTL, runsTTL),
		Of: wk.m.runs.SavedNames()})
}

func (wk *work) backUp(now time.Time) {
	if !wk.m.conf.Backups || wk.m.oneShot || wk.backingUp ||
		now.Sub(wk.backedUp) < backupCheckEvery {
		return
	}
	wk.backingUp, wk.backedUp = true, now
	wk.m.step.Do(effect.BackUp{})
}
