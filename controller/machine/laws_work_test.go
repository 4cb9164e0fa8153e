package machine

import (
	"maps"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/controller/effect"
)

func repertoire() [][]string {
	return [][]string{
		{"cool gate=cooldown interval=3m", "cool gate=cooldown interval=1m",
			"cool gate=event on=deploy.*"},
		{"again gate=cooldown interval=1m retry=2 retry_backoff=5s",
			"again gate=cooldown interval=1m", "again gate=cooldown interval=1m retry=1 " +
				"on_failure=hand"},
		{"stack gate=cooldown interval=2m overlap=queue", "stack gate=cooldown interval=2m " +
			"layer=rigless"},
		{"even gate=cron schedule=*/2_*_*_*_*", "even gate=cron schedule=*/3_*_*_*_*",
			"even gate=manual"},
		{"fives gate=cron schedule=*/5_*_*_*_* overlap=queue retry=1",
			"fives gate=cron schedule=*/5_*_*_*_* enabled=false"},
		{"hourly gate=cron schedule=0_*_*_*_* catch_up=true timeout=10m",
			"hourly gate=cron schedule=0_*_*_*_* catch_up=true formula=tidy"},
		{"test gate=condition check=one", "test gate=condition check=two",
			"test gate=condition check=two retry=1 overlap=queue"},
		{"react gate=event on=deploy.*", "react gate=event on=deploy.done",
			"react gate=event on=deploy.* enabled=false"},
		{"insist gate=event on=deploy.* retry=1 retry_backoff=30s",
			"insist gate=event on=deploy.*"},
		{"echo gate=event on=automation.*", "echo gate=event on=agent.*"},
		{"hand gate=manual overlap=queue", "hand gate=manual overlap=queue timeout=20m"},
		{"fall gate=cooldown interval=4m on_failure=hand", "fall gate=cooldown interval=4m " +
			"retry=1 on_failure=plain"},
		{"plain gate=manual", "plain gate=manual description=other"},
		{"cool gate=cooldown interval=2m rig=demo", "cool gate=cooldown interval=2m " +
			"rig=demo timeout=5m"},
		{"react gate=event on=deploy.done rig=demo formula=tidy timeout=5m",
			"react gate=event on=* rig=demo"},
	}
}

func atRest() []string {
	return []string{
		"cool gate=cooldown interval=8760h", "again gate=cooldown interval=8760h retry=2",
		"even gate=cron schedule=0_0_1_1_*",
		"hourly gate=cron schedule=0_0_1_1_* catch_up=true", "test gate=condition check=no",
		"react gate=event on=deploy.*",
		"echo gate=event on=automation.*", "hand gate=manual",
		"fall gate=cooldown interval=1s enabled=false",
	}
}

func (w *world) perform(which, variant byte) {
	all := repertoire()
	variants := all[int(which)%len(all)]
	if err := w.automate(strings.Fields(variants[int(variant)%len(variants)])); err != nil {
		panic(err)
	}
}

func scoped(which byte) string {
	all := repertoire()
	d, err := define(strings.Fields(all[int(which)%len(all)][0]))
	if err != nil {
		panic(err)
	}
	return d.Scoped()
}

func (w *world) workFault(what, who byte) {
	t, name := &w.floor.trials, scoped(who)
	high := who>>4 | 1
	switch what % 24 {
	case 0, 1:
		w.finish(name, 0)
	case 2, 3:
		w.finish(name, int(high))
	case 4:
		w.fire(name)
	case 5:
		w.emit([]string{"deploy.done", "deploy.begun", "other", "automation.odd"}[who%4])
	case 6:
		w.perform(who, who>>4)
	case 7:
		w.found(name, nil, nil)
	case 8:
		w.found(name, nil, unusable(name))
	case 9:
		t.late[[]string{"scan", "open", "run", "shut", "memorise", "sweep", "condition",
			"ran"}[who%8]] = who > 40
	case 10:
		w.release(int(who))
	case 11:
		w.stuck[[]string{"scan", "run:" + name, "memorise", "sweep",
			"condition:" + name}[int(who)%5]] = true
	case 12:
		w.floor.refuse, t.phantom = map[bool]string{true: "disk full"}[who > 90], who > 200
	case 13:
		t.unshut = map[bool]string{true: "disk full"}[who > 127]
	case 14:
		t.unkept = map[bool]string{true: "disk full"}[who > 127]
	case 15:
		t.unswept = map[bool]string{true: "disk full"}[who > 127]
	case 16:
		w.floor.answer["test"] = int(who % 2)
	case 17:
		t.lag = who > 127
		w.mind()
	case 18:
		w.advance(time.Duration(who) * time.Second)
	case 19:
		w.sleep(time.Duration(who) * time.Minute)
	case 20:
		w.stopAndBegin(who)
	case 21:
		w.Step(effect.Tick{})
		if who > 200 {
			w.deafen("too many open files")
		}
	case 22:
		w.succeed()
	case 23:
		w.advance(time.Duration(who) * time.Second / 4)
	}
}

func (w *world) fire(name string) {
	id := uint64(len(w.log))<<8 | 0xff
	w.floor.trials.asked[id] = true
	w.command(id, city.Fire{Automation: name})
}

func (w *world) stopAndBegin(who byte) {
	if w.blind != "" || w.m.ending != running {
		return
	}
	t := &w.floor.trials
	w.Step(effect.Shutdown{Leave: who > 200})
	if who > 200 {
		w.succeed()
		return
	}
	clear(w.stuck)
	clear(t.late)
	for len(t.slow) > 0 {
		w.release(0)
	}
	maps.DeleteFunc(w.fails, func(key, _ string) bool { return strings.HasPrefix(key, "stop ") })
	w.Step(effect.Wake{})
	w.advance(stopRetry + 2*time.Second)
	if w.m.ending != ended {
		w.breaks("L7: the city did not stop: %d runs in progress, %d open records: %v",
			len(w.m.runs.Current), len(w.m.runs.OpenRecords), w.show())
	}
	if len(w.floor.going) > 0 {
		w.breaks("L10: the city has stopped, but runs are in progress: %v", w.floor.going)
	}
	w.unfired()
	clear(w.alive)
	w.succeed()
}

func (w *world) unfired() {
	for id := range w.floor.trials.asked {
		if _, ok := w.replies[id]; !ok {
			w.breaks("command %d (Fire) got no reply", id)
		}
	}
}

func (w *world) calmWork() {
	t := &w.floor.trials
	t.unshut, t.unkept, t.unswept, w.floor.refuse, t.phantom = "", "", "", "", false
	t.lag, t.auto = false, true
	clear(t.late)
	for len(t.slow) > 0 {
		w.release(0)
	}
	w.floor.answer["test"] = 0
	for i, variants := range repertoire() {
		// an automation that triggers itself would run forever
		w.perform(byte(i), byte(strings.Count(variants[0], "automation.*")))
	}
}

// worked checks L7 for automations: after the faults have ended, all due runs have run.
func (w *world) worked() {
	w.eachRunIsRecorded()
	rs, t := &w.m.runs, &w.floor.trials
	for name, within := range map[string]time.Duration{
		"cool": 4 * time.Minute, "again": 2 * time.Minute, "stack": 3 * time.Minute,
		"even": 3 * time.Minute, "fives": 6 * time.Minute,
		"hourly": 62 * time.Minute, "test": 2 * time.Minute, "fall": 5 * time.Minute,
		"cool:rig:demo": 3 * time.Minute,
	} {
		if w.now.Sub(t.last[name]) > within {
			w.breaks("L7: %s last ran %s ago: %v", name, w.now.Sub(t.last[name]),
				w.showAutomations())
		}
	}
	for name, seqs := range t.owed {
		for _, seq := range slices.Sorted(maps.Keys(seqs)) {
			if t.dealt[name][seq] == "" {
				w.breaks("L7: no run of %s handled event %d, %s", name, seq,
					w.events[seq-1].Type)
				break
			}
		}
	}
	if len(rs.Current)+len(rs.FireWaiters)+len(rs.Queued)+len(rs.OpenRecords) > 0 ||
		rs.SavedRev != rs.Schedule.Rev() ||
		rs.StateNotSaved+rs.RecordNotCreated+rs.FoldersNotRead != "" {
		w.breaks("L7: automations are not idle: %v %v %v %v, saved revision %d of %d, %q %q",
			rs.Current, rs.FireWaiters, rs.Queued, rs.OpenRecords, rs.SavedRev,
			rs.Schedule.Rev(), rs.StateNotSaved, rs.RecordNotCreated)
	}
	w.unfired()
	for id, b := range w.floor.beads {
		if b.ClosedAt == nil && w.floor.going[strings.TrimPrefix(b.Labels[0],
			city.RunLabel)].Bead != id && t.ghosts[id].Reason == "" {
			w.breaks("L4: record %s is open, but its run is not in progress", id)
		}
	}
}

func (w *world) quietWork() {
	w.floor.defs = w.floor.defs[:0]
	w.floor.answer["test"] = 1
	for _, line := range atRest() {
		if err := w.automate(strings.Fields(line)); err != nil {
			panic(err)
		}
	}
}

// cleared checks for leaks: at the end, no state is kept for removed automations.
func (w *world) cleared() {
	w.floor.defs, w.floor.broken = w.floor.defs[:0], nil
	w.Step(effect.FoldersChanged{})
	w.sleep(31 * 24 * time.Hour)
	if err := w.automate([]string{"other", "gate=manual"}); err != nil {
		panic(err)
	}
	if n := len(w.m.runs.Schedule.Memory()); n != 1 {
		w.breaks("got %d saved automations: %v", n, w.m.runs.Schedule.Memory())
	}
	if n := len(w.m.runs.Last); n > 1 {
		w.breaks("state of removed automations remains: %v", w.m.runs.Last)
	}
}
