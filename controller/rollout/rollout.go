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
	Restart(now time.Time, name string) (why string)
}

// Member is the state of a member.
type Member struct {
	State  city.State
	Reason string
	Life   string // ID of the current session; "" = not running
	Busy   bool   // a start or a stop is in flight
	Starts bool   // a start is in flight
	Due    bool   // the restart was requested but has not started yet
}

// Rollouts is the state of all pool restarts in progress.
type Rollouts struct {
	city City
	out  *step.Output
	all  []*rollout
}

type rollout struct {
	pool    string
	id      uint64        // ID of the command that requested it
	left    []string      // members that must still be restarted
	skipped []string      // members that are not restarted, because the pool no longer wants them
	pending []replacement // members that are being restarted
	done    int
	all     int
	rolling bool // one member after the other
}

type replacement struct {
	agent string
	life  string // ID of the session that the restart replaces
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

// Suffix returns the progress of a pool's restart, to be appended to the reason for the pool's size.
func (rs *Rollouts) Suffix(pool string) string {
	if far := rs.Progress(pool); far != "" {
		return city.ReasonGap + far
	}
	return ""
}

// Request is a request to restart a pool.
type Request struct {
	ID      uint64 // ID of the command
	Pool    string
	Members []string // members to restart
	Skipped []string // running members that the pool no longer wants
	Rolling bool     // one member after the other
}

// Begin restarts members of a pool. It replies to the command when all members are running, or when the first member
// fails to start.
func (rs *Rollouts) Begin(now time.Time, q Request) {
	r := &rollout{pool: q.Pool, id: q.ID, left: q.Members, skipped: q.Skipped,
		all: len(q.Members), rolling: q.Rolling}
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
	if why := rs.city.Restart(now, name); why != "" {
		return why
	}
	r.pending = append(r.pending, rep)
	return ""
}

// Advance continues the restarts in progress. In a rolling restart, each member restarts when the previous one is
// running again.
func (rs *Rollouts) Advance(now time.Time) {
	for _, r := range slices.Clone(rs.all) {
		var failed string
		r.pending = slices.DeleteFunc(r.pending, func(rep replacement) bool {
			over, why := rs.replaced(rep)
			if over && why == "" {
				r.done++
				rs.out.Changed = true
			}
			if failed == "" {
				failed = why
			}
			return over
		})
		for failed == "" && len(r.pending) == 0 && len(r.left) > 0 && rs.city.Running() {
			failed = rs.next(now, r)
		}
		if failed != "" || len(r.pending) == 0 || !rs.city.Running() {
			rs.end(r, failed)
		}
	}
}

func (rs *Rollouts) replaced(rep replacement) (over bool, why string) {
	m, wanted := rs.city.Member(rep.agent)
	if !wanted {
		return true, ""
	}
	switch m.State {
	case city.Running:
		if m.Life != "" && m.Life != rep.life {
			return true, ""
		}
		if !m.Busy && !m.Due {
			return true, rep.agent + " was not restarted: " + m.Reason
		}
	case city.Starting, city.Stopping, city.Draining, "":
	default:
		if !m.Busy {
			return true, fmt.Sprintf("%s is %s (%s)", rep.agent, m.State.Is(), m.Reason)
		}
	}
	return false, ""
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
		msg := fmt.Sprintf("pool %s: %s; restarted %d of %d", r.pool, failed, r.done, r.all)
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
		rs.out.Reject(r.id, city.Unavailable, msg)
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
		rs.out.Reply(r.id, fmt.Sprintf("pool %s: restarted %d of %d%s", r.pool, r.done, r.all, how))
	}
}
