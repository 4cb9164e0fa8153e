package machine

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/controller/effect"
	"gcity/controller/step"
	"gcity/events"
	"gcity/internal/span"
	"gcity/restart"
	"gcity/session"
)

const outputWait = effect.CaptureLimit + time.Second

type journal struct {
	m     *Machine
	queue []queuedRecord
	// events about exits that could not be written to the log
	unwritten []queuedRecord
	// acknowledgements of unwritten exits of agents that are not in the configuration
	acks []effect.Acknowledge
	// session IDs of the exits that the previous controller recorded or saved
	past map[string]bool
}

type queuedRecord struct {
	effect.Record
	agent *record // nil = the event is not about an agent's session
	// session ID of the output that the event is waiting for; "" = it is not waiting
	output string
	by     time.Time
}

// record records an event about an agent, or about the city if a is nil.
func (j *journal) record(a *record, e events.Event, replies ...effect.Reply) {
	j.add(queuedRecord{Record: effect.Record{Event: e, Replies: replies}, agent: a})
}

// add completes the event and records it after all queued events, so that the log has the order of the decisions.
func (j *journal) add(q queuedRecord) {
	q.Event.Actor = cmp.Or(q.Event.Actor, effect.ActorController)
	if q.agent != nil {
		q.Event.Subject = q.agent.name
	}
	if len(j.queue) == 0 && q.output == "" {
		j.m.step.Do(q.Record)
		return
	}
	j.queue = append(j.queue, q)
	if q.agent != nil {
		q.agent.act.queued++
	}
}

// recordStart records the start of a session, unless it is already recorded.
func (j *journal) recordStart(a *record, s *session.Status, replies ...effect.Reply) {
	if !a.sess.startUnrecorded || a.isTriage() {
		return
	}
	a.sess.startUnrecorded = false
	j.record(a, events.Event{
		Type:    events.AgentStarted,
		Message: step.Numbered(s.PID, "pid %d: ") + a.act.startReason,
		Payload: step.Payload(map[string]any{"pid": s.PID, "session": s.ID,
			"reason": a.act.startReason}),
	}, replies...)
}

func (j *journal) recordEnd(a *record, x session.Exit, e events.Event, replies ...effect.Reply) {
	if j.past[x.ID] {
		return
	}
	j.add(queuedRecord{Record: effect.Record{Event: e, Replies: replies, End: &x}, agent: a})
}

// recordCannotStart records a start that was not attempted.
func (j *journal) recordCannotStart(now time.Time, a *record, why string) {
	j.m.decided(now, a, city.CannotStart, why)
	j.record(a, events.Event{Type: events.AgentStartFailed, Message: why})
}

// recordExit records an exit that is not a crash.
func (j *journal) recordExit(a *record, x session.Exit, msg string) {
	j.recordEnd(a, x, events.Event{Type: events.AgentStopped, Message: msg,
		Payload: effect.ExitPayload(x)})
}

func (j *journal) recordCrash(now time.Time, a *record, x session.Exit, e events.Event) {
	j.add(queuedRecord{Record: effect.Record{Event: e, End: &x}, agent: a, output: x.ID,
		by: now.Add(outputWait)})
	j.m.step.DoLate(effect.Capture{
		Agent: a.name, Session: x.Name, ID: x.ID, At: x.At, Cols: a.want.Spec.Cols,
		Rows: a.want.Spec.Rows,
	})
}

// release records the queued events that need not wait. If now is zero, it records all.
func (j *journal) release(now time.Time) {
	n := 0
	for ; n < len(j.queue); n++ {
		q := &j.queue[n]
		if q.output != "" && !now.IsZero() && now.Before(q.by) {
			break
		}
		if q.output != "" {
			q.Event.Payload = step.AddToPayload(q.Event.Payload, map[string]any{
				"output_error": fmt.Sprintf("not saved within %s", outputWait)})
		}
		j.m.step.Do(q.Record)
		if q.agent != nil {
			q.agent.act.queued--
		}
	}
	j.queue = append(j.queue[:0], j.queue[n:]...)
	clear(j.queue[len(j.queue):cap(j.queue)])
}

func (j *journal) captured(now time.Time, in effect.Captured) {
	for i := range j.queue {
		if q := &j.queue[i]; q.output == in.ID && q.agent.name == in.Agent {
			about := map[string]any{"output": in.Tail}
			if in.File != "" {
				about["file"] = in.File
			}
			if in.Err != nil {
				about["output_error"] = in.Err.Error()
			}
			q.Event.Payload = step.AddToPayload(q.Event.Payload, about)
			q.output = ""
		}
	}
	a, ok := j.m.agents[in.Agent]
	if !ok {
		return
	}
	if a.sess.exit != nil && a.sess.lastEnd == in.ID {
		kept := *a.sess.exit
		kept.File = in.File
		a.sess.exit, j.m.step.Changed = &kept, true
	}
	j.m.decide(now, a)
}

func (j *journal) unrecorded(a *record) (ends []effect.UnrecordedEnd) {
	for _, queue := range [...][]queuedRecord{j.unwritten, j.queue} {
		for i := range queue {
			if q := &queue[i]; q.agent == a && q.End != nil {
				ends = append(ends, effect.UnrecordedEnd{Exit: *q.End, Event: q.Event})
			}
		}
	}
	return ends
}

func (j *journal) unrecordedCrashes(a *record) (n int) {
	for _, end := range j.unrecorded(a) {
		if end.Event.Type == events.AgentCrashed {
			n++
		}
	}
	return n
}

func (j *journal) begin(a *record) {
	j.m.step.Do(j.withEnds(a.startEffect(), a))
}

func (j *journal) inheritEnds(now time.Time, in *effect.Inherited, listed []session.Status) {
	shown := map[string]bool{}
	for i := range listed {
		shown[listed[i].ID] = true
	}
	for _, e := range in.Ends {
		id := e.Exit.ID
		ack := effect.Acknowledge{Agent: e.Exit.Agent, Session: e.Exit.Name, ID: id}
		a := j.m.agents[e.Exit.Agent]
		switch {
		case shown[id]:
		case in.Recorded[id]:
			j.m.step.Do(ack)
		case a == nil: // removed from the configuration
			j.m.step.Do(effect.Record{Event: e.Event})
			j.m.step.Do(ack)
		default:
			j.m.decided(now, a, "record", "not recorded by the previous "+
				"controller: "+e.Event.Message)
			j.inheritEnd(now, a, e)
			j.past[id] = true
			a.act.acks = append(a.act.acks, ack)
		}
	}
}

func (j *journal) inheritEnd(now time.Time, a *record, e effect.UnrecordedEnd) {
	if e.Event.Type != events.AgentCrashed || a.want == nil {
		j.record(a, e.Event)
		return
	}
	if !a.isTriage() {
		a.restart.history.Died(now, effect.Death(&e.Exit), a.want.Policy)
	}
	j.recordCrash(now, a, e.Exit, e.Event)
}

const (
	saveInterval = 100 * time.Millisecond
	// SaveRetry is the delay before a failed write is retried.
	SaveRetry = 30 * time.Second
)

type historyFile struct {
	m *Machine

	// read at startup; empty once the first configuration has been applied
	fromFile     effect.Histories
	entries      int
	mayExist     bool
	saving       bool
	retry        bool
	notBefore    time.Time
	delayedUntil time.Time // zero = no write is delayed
	readProblem  string
	saveProblem  string
}

// save runs after each step, so code that changes a history need not call it.
func (kp *historyFile) save(now time.Time) {
	kp.delayedUntil = time.Time{}
	if kp.saving || kp.m.conf == nil || kp.m.lost != nil || !kp.unsaved() {
		return
	}
	if now.Before(kp.notBefore) {
		kp.delayedUntil = kp.notBefore
		return
	}
	content, err := kp.encode(kp.toSave)
	if err != nil {
		kp.saveFailed(now, err)
		return
	}
	kp.saving, kp.retry = true, false
	kp.m.step.Do(effect.SaveHistories{Memory: content})
}

func (kp *historyFile) unsaved() bool {
	n := 0
	for _, a := range kp.m.order {
		if a.restart.saved != nil {
			n++
		}
		if a.act.queued == 0 && !a.isSaved(kp.m.conf.OnDisk) {
			return true
		}
	}
	return kp.retry || n != kp.entries || n == 0 && kp.mayExist && !kp.m.conf.OnDisk
}

// awaits reports whether the next controller needs the exit that the agent's provider reports, because the history does
// not include it yet. A new session replaces the exit anyway, and a controller that ends saves the histories.
func (kp *historyFile) awaits(a *record) bool {
	return kp.m.conf.OnDisk && kp.m.ending == running && !kp.m.oneShot && a.phase.Idle() &&
		(kp.saving || kp.retry || !a.isSaved(true))
}

// encode omits crashes without a recorded event, because the next controller counts them again.
func (kp *historyFile) encode(memo func(*record) *effect.SavedAgent) ([]byte, error) {
	all := map[string]*effect.SavedAgent{}
	for _, a := range kp.m.order {
		switch crashes := kp.m.journal.unrecordedCrashes(a); {
		case a.act.queued == 0 || crashes == 0:
			a.restart.saved = memo(a)
		case a.restart.saved == nil:
			a.restart.saved = memo(a).Before(crashes)
		}
		if a.restart.saved != nil {
			all[a.name] = a.restart.saved
		}
	}
	kp.entries, kp.mayExist = len(all), len(all) > 0 || kp.m.conf.OnDisk
	if !kp.mayExist {
		return nil, nil
	}
	return json.Marshal(all)
}

func (kp *historyFile) saved(now time.Time, err error) {
	kp.saving, kp.notBefore = false, now.Add(saveInterval)
	if err != nil {
		kp.saveFailed(now, err)
		return
	}
	kp.m.step.Note(&kp.readProblem, "")
	kp.m.step.Note(&kp.saveProblem, "")
}

func (kp *historyFile) saveFailed(now time.Time, err error) {
	kp.retry, kp.notBefore = true, now.Add(SaveRetry)
	kp.m.step.Note(&kp.saveProblem,
		fmt.Sprintf("crash histories cannot be saved: %v; the controller "+
			"retries every %s, and agents keep running", err, SaveRetry))
}

func (a *record) hasNoHistory() bool {
	return a.want == nil || len(a.restart.history.Crashes) == 0 && a.restart.history.Streak == 0 &&
		a.restart.pause() == ""
}

func (a *record) isSaved(crashes bool) bool {
	k, stopped, member := a.restart.saved, a.stoppedBySetting(), a.membership()
	crashes = crashes && !a.hasNoHistory()
	empty := !crashes && stopped.State == "" && member == (effect.SavedMember{})
	if k == nil || empty {
		return k == nil && empty
	}
	var history restart.History
	var pause city.State
	if crashes {
		history, pause = a.restart.history, a.restart.pause()
	}
	return k.Same(history, pause, a.restart.until) && k.IsStopped(stopped) &&
		k.Member == member && k.Fingerprint == a.fingerprint()
}

func (kp *historyFile) toSave(a *record) *effect.SavedAgent { return a.toSave(kp.m.conf.OnDisk) }

// crashes is false if crash histories are not saved.
func (a *record) toSave(crashes bool) *effect.SavedAgent {
	stopped, member := a.stoppedBySetting(), a.membership()
	crashes = crashes && !a.hasNoHistory()
	if !crashes && stopped.State == "" && member == (effect.SavedMember{}) {
		return nil
	}
	r := &effect.SavedAgent{Fingerprint: a.fingerprint(), Member: member}
	if stopped.State != "" {
		r.Stopped = &stopped
	}
	if !crashes {
		return r
	}
	r.History, r.LastEnd = a.restart.history, a.sess.lastEnd
	r.Restarts, r.Last = a.restart.restarts, a.newestExit()
	r.Crashes = slices.Clone(a.restart.history.Crashes)
	if r.State = a.restart.pause(); r.State != "" {
		r.Until, r.Why, r.StartReason = a.restart.until, a.restart.why, a.act.startReason
		r.QuarantineCrashes = a.restart.hold.crashes
		r.Quarantine = a.restart.hold.quarantine
		if a.state == r.State {
			r.Since = a.since
		}
	}
	return r
}

func (a *record) fingerprint() string {
	if a.want == nil {
		return ""
	}
	return a.want.Spec.Fingerprint.Sum
}

func (a *record) membership() effect.SavedMember {
	if a.pool == nil || a.hidden() {
		return effect.SavedMember{}
	}
	return effect.SavedMember{Pool: a.pool.Name(), DrainTimeout: a.pool.Want.DrainTimeout}
}

func (a *record) stoppedBySetting() effect.SavedState {
	if a.want != nil && (a.state == city.Suspended && a.want.Suspended.On() ||
		a.state == city.Failed && a.want.Problem != "") {
		return effect.SavedState{State: a.state, Since: a.since}
	}
	return effect.SavedState{}
}

func (a *record) toHandOver() *effect.SavedAgent {
	r, d := a.toSave(true), a.drain.current
	switch {
	case a.want == nil || r == nil && d == nil && !a.restart.stays() && !a.phase.Alive():
		return r
	case r == nil:
		r = &effect.SavedAgent{Fingerprint: a.fingerprint()}
	}
	r.LastEnd, r.Restarts, r.Last = a.sess.lastEnd, a.restart.restarts, a.newestExit()
	if r.State == "" && a.phase.Alive() {
		r.Session, r.StartReason = a.sess.life.ID, a.act.startReason
	}
	r.Decisions = slices.Clone(a.decisions)
	if a.restart.missing.Tries > 0 {
		r.Missing = &a.restart.missing
	}
	if a.restart.stays() && !a.surplus() { // a surplus member starts when its pool wants it again
		r.Exited = &effect.SavedExit{Why: a.restart.why, Since: a.since,
			Final: a.restart.kind == staysFinal, Failed: a.restart.kind == staysFailed,
			Exit: a.sess.exit}
	}
	if d != nil {
		r.Drain = &effect.SavedDrain{Session: a.sess.life.ID, Since: d.since, By: d.by,
			Sender: d.sender, Why: d.why, Final: d.final, Acked: d.acked,
			Unmarked: a.drain.unmarked}
	} else if since := a.sess.life.Drain.Since; a.phase.Alive() && !since.IsZero() {
		r.Drain = &effect.SavedDrain{Session: a.sess.life.ID, Since: since, Canceled: true}
	}
	return r
}

func (a *record) newestExit() *city.Exit { return cmp.Or(a.sess.exit, a.restart.earlierExit) }

// restoreAll restores the saved agents. If an agent's declaration has changed, it restores only the stop time.
func (kp *historyFile) restoreAll(now time.Time) {
	for name, r := range kp.fromFile.Agents {
		a := kp.m.agents[name]
		// a member that its pool does not currently want has no record yet
		if w := kp.m.pools.MemberWant(name); a == nil && w != nil {
			a = kp.m.record(now, name)
			kp.m.join(a, kp.m.pools.Get(w.Pool), w)
		}
		if a == nil || a.want == nil {
			continue
		}
		if r.Fingerprint == a.want.Spec.Fingerprint.Sum {
			kp.restore(now, a, r)
		}
		kp.restoreStopped(now, a, r.Stopped)
	}
	// a file from a controller that left its agents running is used only once
	kp.entries, kp.retry, kp.fromFile = len(kp.fromFile.Agents), kp.fromFile.HandedOver,
		effect.Histories{}
	kp.mayExist = kp.m.conf.OnDisk
	// the effects of this step are dropped, so write in a later step
	if kp.unsaved() || len(kp.m.pools.All()) > 0 {
		kp.notBefore = now.Add(saveInterval)
	}
}

func (kp *historyFile) restoreStopped(now time.Time, a *record, s *effect.SavedState) {
	switch {
	case s == nil:
		return
	case s.State == city.Suspended && a.want.Suspended.On():
		kp.m.set(now, a, city.Suspended, a.want.Suspended.Where)
	case s.State == city.Failed && !a.want.Suspended.On() && a.want.Problem != "":
		kp.m.set(now, a, city.Failed, a.want.Problem)
	default:
		return
	}
	a.since = effect.NotInFuture(now, s.Since)
}

// restore restores an agent's saved state. It corrects saved times that are too late, because the clock may have been
// set back (L13).
func (kp *historyFile) restore(now time.Time, a *record, r effect.SavedAgent) {
	a.restart.history = r.RecentCrashes(now, a.want.Policy)
	a.sess.lastEnd, a.restart.saved, a.drain.inherited = r.LastEnd, &r, r.Drain
	for _, d := range r.Decisions[max(0, len(r.Decisions)-city.MaxDecisions):] {
		d.At = effect.NotInFuture(now, d.At)
		a.decisions = append(a.decisions, d)
	}
	a.restart.restarts, a.restart.inherited = max(0, r.Restarts), r
	if r.Last != nil {
		earlier := *r.Last
		earlier.At = effect.NotInFuture(now, earlier.At)
		a.restart.earlierExit = &earlier
	}
	var what []string
	if n := len(a.restart.history.Crashes); n > 0 {
		what = append(what, fmt.Sprintf("crashed %d× within %s", n,
			span.Text(a.want.Policy.Window)))
	}
	if r.Missing != nil {
		a.restart.missing = *r.Missing
	}
	if r.State != "" {
		a.restart.inherit(&r, r.WaitsUntil(now, a.want.Policy))
		a.act.startReason = r.StartReason
		kp.m.setUntil(now, a, r.State, r.Why, a.restart.until)
		if !r.Since.IsZero() {
			a.since = effect.NotInFuture(now, r.Since)
		}
		what = append(what, fmt.Sprintf("%s (%s)", r.State, r.Why))
	}
	if x := r.Exited; x != nil {
		a.restart.inheritExit(x)
		a.sess.exit = x.Exit
		kp.m.set(now, a, a.restart.state(), x.Why)
		a.since = effect.NotInFuture(now, x.Since)
		what = append(what, fmt.Sprintf("%s (%s)", a.state, x.Why))
	}
	if len(what) > 0 {
		kp.m.decided(now, a, "restore", strings.Join(what, "; ")+", from the previous controller")
	}
}
