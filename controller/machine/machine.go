// Package machine makes all decisions in a city. It takes inputs and the time, and returns effects. It has no side
// effects.
package machine

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/config"
	"gcity/controller/attention"
	"gcity/controller/effect"
	"gcity/controller/lifecycle"
	"gcity/controller/outbox"
	"gcity/controller/pools"
	"gcity/controller/runs"
	"gcity/controller/step"
	"gcity/controller/tier"
)

// Machine is the mutable state of a city. Only one goroutine may use it. The same inputs produce the same effects (L8).
type Machine struct {
	conf        *effect.Configuration // nil until the first configuration is loaded
	loader      loader
	commands    commands
	drains      drains
	drifts      drifts
	lists       sessionLists
	journal     journal
	work        work
	runs        runs.Runs
	histories   historyFile
	gauge       gauge
	agents      map[string]*record
	order       []*record // sorted by name
	pools       pools.Pools
	deps        dependencies
	stepNumber  uint64
	step        step.Output
	oneShot     bool
	watchdogs   tier.Watchdogs
	folderMoved string
	logProblem  string
	listener    tcpListener
	mode        string
	ending      ending
	cityStop    cityStop
	leftRunning bool
	lost        error
	observes    *Observation
	terminals
	clock
}

type terminals struct {
	messages  outbox.Messages
	attention attention.Detector
}

type clock struct {
	wall         step.WallClock
	stalledUntil time.Time // end of the program's latest stall; zero = no stall
}

type ending int

const (
	running ending = iota
	stopAgents
	leaveAgents
	ended
)

func newMachine() *Machine {
	m := &Machine{}
	m.deps.m, m.lists.m, m.loader.m = m, m, m
	m.histories.m, m.gauge.m, m.cityStop.m, m.journal.m, m.listener.m = m, m, m, m, m
	m.commands.m, m.drains.m, m.drifts.m = m, m, m
	m.watchdogs = tier.New(tierCity{runsCity{m}}, &m.step)
	m.work, m.runs = newWork(m), runs.New(runsCity{m}, &m.step)
	m.pools = pools.New(poolCity{runsCity{m}}, &m.step)
	m.agents, m.drifts.providers = map[string]*record{}, map[string]*lifecycle.Check{}
	m.messages = outbox.New(terminalCity{m}, &m.step)
	m.attention = attention.New(terminalCity{m}, &m.step)
	m.loader.confirms = map[uint64]string{}
	return m
}

// Step handles one input. The returned effects are valid until the next call.
func (m *Machine) Step(now time.Time, in effect.Input) []effect.Effect {
	m.stepNumber++
	m.step.Begin()
	if m.wall.WasSet(now) {
		m.step.Changed = true
		for _, a := range m.order {
			a.correctDeadlines(now)
		}
	}
	_ = m.takeSession(now, in) || m.takeRun(now, in) || m.takeWork(now, in) ||
		m.takeWatchdog(now, in) || m.takeTime(now, in) || m.takeCity(now, in)
	m.finishStep(now)
	return m.step.Effects
}

func (m *Machine) finishStep(now time.Time) {
	m.pools.Rollouts.Advance(now)
	m.watchdogs.Watch(now)
	m.messages.Deliver(now)
	if len(m.work.leavers) > 0 {
		m.work.returnWork()
	}
	m.journal.release(now)
	if m.ending == stopAgents {
		m.cityStop.hurryInTime(now)
	}
	if m.deps.ordered {
		m.deps.decideRelated(now)
	}
	if len(m.loader.groups) > 0 {
		m.loader.replyToGroups()
	}
	m.step.AppendLate()
	for _, a := range m.order {
		// acknowledge an exit only after its events are recorded and it is counted on disk
		if len(a.act.acks) > 0 && !a.phase.Stopping() && a.act.queued == 0 &&
			!a.act.exitFiles && !m.histories.awaits(a) {
			m.flushAcks(a)
		}
	}
	if m.ending != running {
		m.cityStop.proceed(now)
	}
	m.histories.save(now)
}

// takeTime handles inputs about time. Like the other take methods, it returns false for any other kind of input.
func (m *Machine) takeTime(now time.Time, in effect.Input) bool {
	switch in.(type) {
	case effect.Tick:
		m.work.failing = false
		m.lists.request()
		m.loader.loadAtPatrol()
		m.pools.CheckAll(now)
		m.decideAll(now)
		m.work.patrol(now)
		m.work.findStranded(now)
		m.gauge.measure(now, m.gauge.age(m.order))
		m.listener.open()
	case effect.Stalled:
		m.stalledUntil = now
		m.watchdogs.Stalled(now)
	case effect.Wake:
		m.decideAll(now)
		m.runs.Advance(now)
		m.work.probe(now)
	case effect.SnapshotsWatched:
		m.gauge.measure(now, measureWatched)
	default:
		return false
	}
	return true
}

func (m *Machine) takeSession(now time.Time, in effect.Input) bool {
	switch in := in.(type) {
	case effect.Listed:
		m.lists.handleList(now, in)
	case effect.ListedLate:
		m.lists.handleLateList(now, in)
	case effect.SessionsChanged:
		m.lists.request()
	case effect.Exited:
		m.exited(now, in.Exit)
	case effect.DialogAnswered:
		m.dialogAnswered(in)
	case effect.StartProgress:
		m.startProgress(now, in)
	case effect.Started:
		m.started(now, in)
	case effect.Stopped:
		m.stopped(now, in)
	case effect.ProviderChecked:
		m.drifts.providerChecked(now, in)
	case effect.StartChecked:
		m.drifts.startChecked(now, in)
	case effect.Captured:
		m.journal.captured(now, in)
	case effect.Typed:
		m.messages.Typed(m.outboxOf(in.Agent), in)
	case effect.Sent:
		m.messages.Delivered(now, m.outboxOf(in.Agent), in)
	case effect.ScreenRead:
		if a := m.agents[in.Agent]; a != nil {
			f := m.attentionFacts(a)
			m.attention.Read(now, &a.attention, &f, in)
			m.decide(now, a)
		}
	case effect.DrainMarked:
		m.drains.marked(now, in)
	case effect.Measured:
		m.gauge.measured(in)
	default:
		return false
	}
	return true
}

func (m *Machine) takeRun(now time.Time, in effect.Input) bool {
	switch in := in.(type) {
	case effect.FoldersChanged:
		m.runs.Scan()
	case effect.Scanned:
		m.runs.Scanned(now, in)
	case effect.RunsSwept:
		m.runs.RunsSwept(now, in)
	case effect.EventsReceived:
		m.runs.EventsReceived(now, in)
	case effect.SubscriptionEnded:
		m.runs.SubscriptionEnded(in)
	case effect.ConditionChecked:
		m.runs.Checked(now, in)
	case effect.RunOpened:
		m.runs.Opened(now, in)
	case effect.RunEnded:
		m.runs.Ended(now, in)
	case effect.RunClosed:
		m.runs.Closed(now, in)
	case effect.AutomationsSaved:
		m.runs.Saved(now, in)
	case effect.UnclosedRunsClosed:
		m.runs.UnclosedRunsClosed(now, in)
	default:
		return false
	}
	return true
}

func (m *Machine) takeWork(now time.Time, in effect.Input) bool {
	switch in := in.(type) {
	case effect.BeadChanged:
		m.work.changed(in)
	case effect.WorkCounted:
		m.work.takeCount(now, in)
	case effect.WorkReturned:
		m.work.workReturned(now, in)
	case effect.Purged:
		m.work.purges.active = false
		m.step.Lose(&m.work.unpurged, "old wisps and run records cannot be removed", in.Err)
	case effect.BackedUp:
		m.work.backingUp = false
		m.step.Lose(&m.work.unbacked, "work cannot be backed up", in.Err)
	case effect.StoresReported:
		m.work.storesChanged(now, in)
	case effect.StoresProbed:
		m.work.probing = false
	case effect.PoolChecked:
		m.pools.Checked(now, in)
	case effect.Scaled:
		m.pools.Scaled(now, in)
	default:
		return false
	}
	return true
}

func (m *Machine) takeWatchdog(now time.Time, in effect.Input) bool {
	switch in := in.(type) {
	case effect.HeartbeatRead:
		m.watchdogs.HeartbeatRead(now, in)
	case effect.Escalated:
		m.watchdogs.Escalated(in)
	default:
		return false
	}
	return true
}

func (m *Machine) takeCity(now time.Time, in effect.Input) bool {
	switch in := in.(type) {
	case effect.ConfigChanged:
		m.loader.load()
	case effect.Loaded:
		m.loader.configured(now, in)
		if m.lists.listed {
			m.listener.open()
		}
	case effect.Edited:
		m.loader.edited(in)
	case effect.Command:
		m.commands.takeFrom(now, in)
	case effect.CommandAbandoned:
		m.runs.Abandon(now, in.ID)
	case effect.OwnershipLost:
		m.shutdown(now, true)
		m.lost, m.ending = in.Err, leaveAgents // the other controller continues a stop in progress
	case effect.FolderMoved:
		m.folderMoved, m.step.Changed = in.Why, true
		m.runs.Scan()
	case effect.Shutdown:
		m.shutdown(now, in.Leave)
	case effect.Hurry:
		m.cityStop.hurryUp(now)
	case effect.HistoriesSaved:
		m.histories.saved(now, in.Err)
	case effect.ModeChanged:
		m.step.Note(&m.mode, in.Mode)
	case effect.LogHealth:
		m.step.Note(&m.logProblem, in.Degraded)
		if in.Written {
			m.journal.written()
		}
	case effect.ListenerChanged:
		m.step.Note(&m.listener.Address, in.Listener.Address)
		m.step.Note(&m.listener.TokenFile, in.Listener.TokenFile)
		m.step.Note(&m.listener.Problem, in.Listener.Problem)
	default:
		return false
	}
	return true
}

// Next returns the time at which Step must be called without an input, or zero. It ignores agents' deadlines that have
// passed, because whatever those agents are still waiting for will arrive as an input.
func (m *Machine) Next(now time.Time) time.Time {
	t := m.cityStop.nextRelook(now)
	if len(m.journal.queue) > 0 {
		t = step.Earlier(t, m.journal.queue[0].by)
	}
	for _, at := range [...]time.Time{m.cityStop.hurryAt(), m.histories.delayedUntil,
		m.runs.Next(now)} {
		t = step.Earlier(t, at)
	}
	for _, s := range m.work.stores {
		if s.Until.After(now) {
			t = step.Earlier(t, s.Until)
		}
	}
	t = m.watchdogs.Next(now, m.messages.Next(now, m.pools.Rollouts.Next(now, t)))
	for _, a := range m.order {
		if a.phase.Starting() {
			continue
		}
		for _, at := range [...]time.Time{a.until, a.silence.idleAt, a.attention.StuckAt,
			a.attention.NextLook, a.drain.markFrom} {
			if at.After(now) {
				t = step.Earlier(t, at)
			}
		}
	}
	return t
}

func (lk *sessionLists) request() {
	if lk.listing {
		lk.relist = true
		return
	}
	lk.listing, lk.ordered, lk.m.cityStop.early = true, lk.m.stepNumber, false
	lk.m.step.Do(effect.List{Step: lk.m.stepNumber, First: !lk.listed,
		Inherit: !lk.listed || len(lk.unlistedProviders) > 0})
}

func (ld *loader) load(ws ...waiter) {
	ld.waiting = append(ld.waiting, ws...)
	if ld.loading {
		ld.again = true
		return
	}
	if ld.m.conf == nil || ld.m.ending != running {
		return
	}
	// removesMost needs the list of running agents
	if !ld.m.lists.listed && !ld.m.oneShot {
		ld.again = true
		return
	}
	ld.loading, ld.again = true, false
	ld.asking, ld.waiting = ld.waiting, nil
	f := ld.request()
	f.Now, f.Force = true, len(ld.asking) > 0
	ld.m.step.Do(f)
}

// loadAtPatrol finds a change that the file watcher missed. It loads a revision only after two patrols have read it,
// because a user may be saving the file.
func (ld *loader) loadAtPatrol() {
	if ld.loading || ld.m.conf == nil || ld.m.ending != running || !ld.m.lists.listed {
		return
	}
	ld.loading = true
	f := ld.request()
	f.SeenAtPatrol = ld.seenAtPatrol
	ld.m.step.Do(f)
}

// request returns a load that skips the revisions in force and on hold. After a rejection, it does not skip the
// revision in force, because the reason might not be part of the revision.
func (ld *loader) request() (f effect.Load) {
	if ld.rejected == "" {
		f.Known = ld.m.conf.Revision
	}
	if ld.held != nil {
		f.HeldRevision = ld.held.revision
	}
	return f
}

func (m *Machine) record(now time.Time, name string) *record {
	if a, ok := m.agents[name]; ok {
		return a
	}
	a := &record{name: name, policy: always{m},
		requests: requests{out: &outbox.Outbox{Agent: name}}}
	m.agents[name] = a
	at, _ := slices.BinarySearchFunc(m.order, name, func(a *record, name string) int {
		return strings.Compare(a.name, name)
	})
	m.order = slices.Insert(m.order, at, a)
	m.deps.after, m.deps.named = nil, nil
	m.set(now, a, city.Waiting, "not checked yet")
	return a
}

func (m *Machine) outboxOf(name string) *outbox.Outbox {
	if a := m.agents[name]; a != nil {
		return a.out
	}
	return nil
}

type tcpListener struct {
	m *Machine

	asked config.API
	city.Listener
}

func (tl *tcpListener) open() {
	if tl.m.conf == nil || tl.m.ending != running || tl.m.oneShot {
		return
	}
	want := tl.m.conf.API
	if reflect.DeepEqual(want, tl.asked) {
		return
	}
	tl.asked = want
	tl.m.step.Do(effect.Listen{Want: want})
}
