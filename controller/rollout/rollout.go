// Package rollout restarts the members of pools, at once or one after the other.
package rollout

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/controller/step"
)

// City is what a restart of members needs of the city.
type City interface {
	Running() bool // the city is not being stopped
	// Member returns a member, false if its pool does not want it any more.
	Member(name string) (Member, bool)
	// Restart restarts or starts a member and returns why that is not possible.
	Restart(now time.Time, name string) (why string)
}

// Member is what a restart sees of a member.
type Member struct {
	State  city.State
	Reason string
	Life   string // the ID of the life that runs, "" if none does
	Busy   bool   // a start or a stop is in flight
	Starts bool   // a start is in flight
	Due    bool   // its restart has not started yet
}

// Rollouts are the restarts of pools that are in progress.
type Rollouts struct {
	city City
	out  *step.Output
	all  []*rollout
}

// rollout is the restart of one pool.
type rollout struct {
	pool    string
	id      uint64        // of the command
	left    []string      // members still to restart
	pending []replacement // members that are restarting
	done    int
	all     int
}

// replacement is the restart of one member.
type replacement struct {
	agent string
	life  string // the life that is replaced
}

// New returns the state of a city in which no pool is being restarted. Effects go to out.
func New(c City, out *step.Output) Rollouts { return Rollouts{city: c, out: out} }

// Progress says how far the restart of a pool is, "" if the pool is not being restarted.
func (rs *Rollouts) Progress(pool string) string {
	for _, r := range rs.all {
		if r.pool == pool {
			return fmt.Sprintf("restarting, %d of %d done", r.done, r.all)
		}
	}
	return ""
}

// Suffix returns the progress of the restart of a pool to append to the pool's reason.
func (rs *Rollouts) Suffix(pool string) string {
	if far := rs.Progress(pool); far != "" {
		return "; " + far
	}
	return ""
}

// Begin restarts members of a pool and answers the command id when all run, or at the first that does not come up.
func (rs *Rollouts) Begin(now time.Time, id uint64, pool string, members []string, rolling bool) {
	r := &rollout{pool: pool, id: id, left: members, all: len(members)}
	rs.all = append(rs.all, r)
	rs.out.Changed = true
	count := r.all
	if rolling {
		count = 1
	}
	for range count {
		if why := rs.next(now, r); why != "" {
			rs.end(r, why)
			return
		}
	}
}

// next begins the restart of the next member and returns why that is not possible.
func (rs *Rollouts) next(now time.Time, r *rollout) (why string) {
	name := r.left[0]
	r.left = r.left[1:]
	m, wanted := rs.city.Member(name)
	if !wanted {
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

// Turn takes the restarts further: a member that runs again makes way for the next.
func (rs *Rollouts) Turn(now time.Time) {
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

// replaced reports whether the restart of a member is over, and why it failed.
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
			return true, fmt.Sprintf("%s is %s (%s)", rep.agent, m.State, m.Reason)
		}
	}
	return false, ""
}

// Drop ends the restart of a pool that is no longer declared.
func (rs *Rollouts) Drop(pool string) {
	for _, r := range slices.Clone(rs.all) {
		if r.pool == pool {
			rs.end(r, "it is no longer declared")
		}
	}
}

// end ends a restart and replies to its command.
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
		rs.out.Refuse(r.id, city.Unavailable, msg)
	case !rs.city.Running():
		rs.out.Refuse(r.id, city.Unavailable, "the city is being stopped")
	default:
		rs.out.Reply(r.id, fmt.Sprintf("pool %s: restarted %d of %d", r.pool, r.done, r.all))
	}
}
