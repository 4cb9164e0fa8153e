// Package rollout restarts the members of pools, all at the same time or one after the other.
package rollout

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/controller/step"
)

// City is the view of the city that a rollout uses.
type City interface {
	Running() bool // the city is not being stopped
	// Member returns the member with the given name. It returns false if the pool no longer needs that member. The
	// state of such a member is "" if it is not running.
	Member(name string) (Member, bool)
	// Restart restarts or starts a member. It returns the reason why that is impossible, or "".
	Restart(now time.Time, name string, by city.Peer) (why string)
}

// Member is the state of a member.
type Member struct {
	State  city.State
	Reason string
	Life   string // ID of the current session; "" = not running
	Busy   bool   // a start or a stop is in flight
	Starts bool   // a start is in flight
	Due    bool   // the restart was requested but has not started yet
	Waits  bool   // the start waits only for a count or a return of work that is in flight
	// the member is Running only after its screen has shown that it is ready
	Proven bool
}

// Failure is an exit of a member that gcity did not request, or a start that failed.
type Failure struct {
	Session string // ID of the session that has ended; "" = the start failed
	Early   bool   // the exit is a crash within min_uptime
	Why     string // "exited with code 1 after 0.3s"
}

// settleTime is how long a member that is not Proven must run before its restart counts as done. Most programs that
// cannot work exit within this time.
const settleTime = 2 * time.Second

// Rollouts is the state of all pool restarts in progress.
type Rollouts struct {
	city City
	out  *step.Output
	all  []*rollout
}

type rollout struct {
	pool     string
	id       uint64
	left     []string
	skipped  []string
	pending  []replacement
	replaced map[string]string // sessions of restarted members, by the member's name
	done     int
	all      int
	rolling  bool
	by       city.Peer
	culprit  string
}

type replacement struct {
	agent   string
	life    string // ID of the replaced session
	newer   string // ID of the new session; "" = none has run yet
	settles time.Time
}

// New returns an empty Rollouts that adds its effects to out.
func New(c City, out *step.Output) Rollouts { return Rollouts{city: c, out: out} }

// Progress describes the progress of a pool's restart. It returns "" if the pool is not being restarted.
func (rs *Rollouts) Progress(pool string) string {
	for _, r := range rs.all {
		if r.pool == pool {
			return fmt.Sprintf(city.PoolRestarts+"%d of %d done", r.done, r.all)
		}
	}
	return ""
}

// Suffix returns Progress in a form that can follow another reason.
func (rs *Rollouts) Suffix(pool string) string {
	if far := rs.Progress(pool); far != "" {
		return city.ReasonGap + far
	}
	return ""
}

// Request is a request to restart a pool.
type Request struct {
	ID      uint64
	Pool    string
	Members []string
	Skipped []string // running members that the pool no longer wants
	Rolling bool     // one member after the other
}

// Begin restarts members of a pool. It replies to the command when all members have been restarted, or when the first
// member fails.
func (rs *Rollouts) Begin(now time.Time, q Request) {
	r := &rollout{pool: q.Pool, id: q.ID, left: q.Members, skipped: q.Skipped,
		replaced: map[string]string{}, all: len(q.Members), rolling: q.Rolling,
		by: rs.out.Caller()}
	rs.all = append(rs.all, r)
	rs.out.Changed = true
	count := r.all
	if r.rolling {
		count = 1
	}
	for range count {
		if why := rs.next(now, r); why != "" {
			rs.end(r, why)
			return
		}
	}
}

func (rs *Rollouts) next(now time.Time, r *rollout) (why string) {
	name := r.left[0]
	r.left = r.left[1:]
	m, wanted := rs.city.Member(name)
	if !wanted {
		r.skipped = append(r.skipped, name)
		return ""
	}
	rep := replacement{agent: name}
	if !m.Starts {
		rep.life = m.Life
	}
	if why := rs.city.Restart(now, name, r.by); why != "" {
		return why
	}
	r.pending = append(r.pending, rep)
	return ""
}

// Advance continues the restarts in progress.
func (rs *Rollouts) Advance(now time.Time) {
	for _, r := range slices.Clone(rs.all) {
		failed := rs.finishPending(now, r)
		for failed == "" && len(r.pending) == 0 && len(r.left) > 0 && rs.city.Running() {
			failed = rs.next(now, r)
		}
		if failed != "" || len(r.pending) == 0 || !rs.city.Running() {
			rs.end(r, failed)
		}
	}
}

func (rs *Rollouts) finishPending(now time.Time, r *rollout) (failed string) {
	kept := r.pending[:0]
	for _, rep := range r.pending {
		over, why := rs.over(now, &rep)
		switch {
		case !over:
			kept = append(kept, rep)
		case why == "":
			if m, wanted := rs.city.Member(rep.agent); wanted {
				r.replaced[rep.agent] = m.Life
			}
			r.done++
			rs.out.Changed = true
		case failed == "":
			failed = why
		}
	}
	r.pending = kept
	return failed
}

func (rs *Rollouts) over(now time.Time, rep *replacement) (over bool, why string) {
	m, wanted := rs.city.Member(rep.agent)
	if !wanted {
		return true, ""
	}
	switch m.State {
	case city.Running:
		if m.Life != "" && m.Life != rep.life {
			if rep.newer != m.Life {
				rep.newer, rep.settles = m.Life, now.Add(settleTime)
			}
			return m.Proven || !now.Before(rep.settles), ""
		}
		if !m.Busy && !m.Due {
			return true, rep.agent + " was not restarted: " + m.Reason
		}
	case city.Starting, city.Stopping, city.Draining, "":
	default:
		if !m.Busy && !m.Waits {
			return true, fmt.Sprintf("%s %s (%s)", rep.agent, m.State.Is(), m.Reason)
		}
	}
	return false, ""
}

// Next returns the earlier of t and the next time at which Advance must be called. A zero t means never.
func (rs *Rollouts) Next(now, t time.Time) time.Time {
	for _, r := range rs.all {
		for i := range r.pending {
			at := r.pending[i].settles
			if at.After(now) {
				t = step.Earlier(t, at)
			}
		}
	}
	return t
}

// Failed ends the restart of a pool if that restart caused the failure of the member.
func (rs *Rollouts) Failed(name string, f Failure) {
	for _, r := range slices.Clone(rs.all) {
		if rs.caused(r, name, f) {
			r.culprit = name
			rs.end(r, name+" "+f.Why)
		}
	}
}

func (rs *Rollouts) caused(r *rollout, name string, f Failure) bool {
	if f.Early && r.replaced[name] == f.Session {
		r.done--
		return true
	}
	if m, _ := rs.city.Member(name); m.Due {
		return false // the session that ended is the one that the restart was going to replace
	}
	before := len(r.pending)
	r.pending = slices.DeleteFunc(r.pending, func(rep replacement) bool {
		return rep.agent == name && (f.Session == "" || f.Session != rep.life)
	})
	return len(r.pending) < before
}

// Drop ends the restart of a pool that was removed from the configuration.
func (rs *Rollouts) Drop(pool string) {
	for _, r := range slices.Clone(rs.all) {
		if r.pool == pool {
			rs.end(r, "the pool is no longer declared")
		}
	}
}

func (rs *Rollouts) end(r *rollout, failed string) {
	rs.all = slices.DeleteFunc(rs.all, func(other *rollout) bool { return other == r })
	rs.out.Changed = true
	switch {
	case failed != "":
		msg := fmt.Sprintf("pool %s: restarted %d of %d: %s", r.pool, r.done, r.all, failed)
		if len(r.pending) > 0 {
			names := make([]string, len(r.pending))
			for i := range r.pending {
				names[i] = r.pending[i].agent
			}
			msg += "; still restarting: " + strings.Join(names, ", ")
		}
		if len(r.left) > 0 {
			msg += "; not restarted: " + strings.Join(r.left, ", ")
		}
		if r.culprit != "" {
			msg += "; run `gcity why " + r.culprit + "`"
		}
		rs.out.Reject(r.id, city.Unavailable, "%s", msg)
	case !rs.city.Running():
		rs.out.Reject(r.id, city.Unavailable, "the city is being stopped")
	default:
		how := ""
		switch {
		case r.rolling && r.all > 1:
			how = ", one after the other"
		case r.all > 1:
			how = ", all at once"
		}
		if len(r.skipped) > 0 {
			how += "; skipped " + strings.Join(r.skipped, ", ") + " (no longer wanted)"
		}
		rs.out.Reply(r.id, "pool %s: restarted %d of %d%s", r.pool, r.done,
			r.done+len(r.skipped), how)
	}
}
