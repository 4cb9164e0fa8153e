package api

import (
	"context"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/city"
	"gcity/events"
)

const (
	defaultWait = 30 * time.Second
	maxWait     = 5 * time.Minute
	maxLines    = 10000
	peekTime    = 5 * time.Second // for the output of all agents of a list
)

// patience reads ?index=N&wait=30s: whether to wait for something newer than N, and a context that ends when that has
// taken too long.
func (s *server) patience(r *http.Request) (ctx context.Context, cancel func(), index uint64, asked bool, err error) {
	q := r.URL.Query()
	index, err = number(r, "index", math.MaxUint64)
	wait := defaultWait
	if v := q.Get("wait"); v != "" && err == nil {
		if wait, err = time.ParseDuration(v); err != nil || wait < 0 || wait > maxWait {
			err = invalid("wait=%.40q is no duration from 0s to %s", v, maxWait)
		}
	}
	ctx, end := context.WithTimeout(r.Context(), wait)
	unhook := context.AfterFunc(s.life, end)
	return ctx, func() { unhook(); end() }, index, q.Has("index"), err
}

// look gives the city's state; with ?index=N it waits for a state that is newer than event N.
func (s *server) look(r *http.Request) (*city.Snapshot, error) {
	ctx, cancel, index, asked, err := s.patience(r)
	defer cancel()
	if err != nil {
		return nil, err
	}
	if !asked {
		return s.city.Snapshot(r.Context())
	}
	// An event is in the log a moment before the state that follows from it is published: any change is newer.
	first := true
	for snap, err := range s.city.Snapshots(ctx) {
		if err != nil && ctx.Err() == nil {
			return nil, err
		}
		if err == nil && (snap.Seq > index || !first) {
			return snap, nil
		}
		first = false
	}
	return s.city.Snapshot(r.Context())
}

type healthAnswer struct {
	Status   string   `json:"status"` // "ok", "degraded"
	Version  string   `json:"version"`
	Uptime   int64    `json:"uptime_sec"`
	Total    int      `json:"cities_total"`
	Running  int      `json:"cities_running"`
	LoopAge  int64    `json:"loop_age_ms"`
	Degraded []string `json:"degraded"`
}

func (s *server) health(w http.ResponseWriter, r *http.Request, _ route) error {
	snap, err := s.city.Snapshot(r.Context())
	if err != nil {
		return err
	}
	now := time.Now()
	a := healthAnswer{
		Status: "ok", Version: snap.Version, Uptime: uptime(snap, now), Total: 1, Running: 1,
		LoopAge: snap.Patrol.Age(now).Milliseconds(), Degraded: slices.Concat([]string{}, snap.Degraded),
	}
	if len(a.Degraded) > 0 {
		a.Status = "degraded"
	}
	s.ok(w, snap, a)
	return nil
}

func uptime(snap *city.Snapshot, now time.Time) int64 {
	return int64(max(0, now.Sub(snap.Started)).Seconds())
}

type cityAnswer struct {
	Name    string `json:"name"`
	Path    string `json:"path"`
	Running bool   `json:"running"`
	Status  string `json:"status"` // "running", "suspended", "stopping"
}

func (s *server) cities(w http.ResponseWriter, r *http.Request, _ route) error {
	snap, err := s.city.Snapshot(r.Context())
	if err != nil {
		return err
	}
	a := cityAnswer{Name: snap.Name, Path: snap.Path, Running: true, Status: "running"}
	switch {
	case snap.ShutDown:
		a.Status = "stopping"
	case snap.Suspended:
		a.Status = "suspended"
	}
	s.ok(w, snap, listOf([]cityAnswer{a}))
	return nil
}

type statusAnswer struct {
	Name      string      `json:"name"`
	Path      string      `json:"path"`
	Version   string      `json:"version"`
	Uptime    int64       `json:"uptime_sec"`
	Suspended bool        `json:"suspended"`
	Agents    int         `json:"agent_count"`
	Rigs      int         `json:"rig_count"`
	Running   int         `json:"running"`
	Count     agentCounts `json:"agents"`
	PID       int         `json:"pid"`
	Mode      string      `json:"mode"`
	LoopAge   int64       `json:"loop_age_ms"`
	Config    any         `json:"config"`
	Degraded  []string    `json:"degraded"`
}

type agentCounts struct {
	Total       int                `json:"total"`
	Running     int                `json:"running"`
	Suspended   int                `json:"suspended"`
	Quarantined int                `json:"quarantined"`
	States      map[city.State]int `json:"states"`
}

func (s *server) status(w http.ResponseWriter, r *http.Request, _ route) error {
	snap, err := s.look(r)
	if err != nil {
		return err
	}
	now, n, rigs, running := time.Now(), snap.Count(), map[string]bool{}, 0
	for i := range snap.Agents {
		if snap.Agents[i].Rig != "" {
			rigs[snap.Agents[i].Rig] = true
		}
		if snap.Agents[i].Running {
			running++
		}
	}
	s.ok(w, snap, statusAnswer{
		Name: snap.Name, Path: snap.Path, Version: snap.Version, Uptime: uptime(snap, now), Suspended: snap.Suspended,
		Agents: len(snap.Agents), Rigs: len(rigs), Running: running,
		Count: agentCounts{
			Total: len(snap.Agents), Running: running, Suspended: n[city.Suspended],
			Quarantined: n[city.Quarantined], States: n,
		},
		PID: snap.PID, Mode: snap.Mode, LoopAge: snap.Patrol.Age(now).Milliseconds(), Config: snap.Config,
		Degraded: slices.Concat([]string{}, snap.Degraded),
	})
	return nil
}

func (s *server) snapshot(w http.ResponseWriter, r *http.Request, _ route) error {
	snap, err := s.look(r)
	if err != nil {
		return err
	}
	s.ok(w, snap, snap)
	return nil
}

func (s *server) agents(w http.ResponseWriter, r *http.Request, _ route) error {
	running, byRunning, err := flag(r, "running")
	if err != nil {
		return err
	}
	peek, _, err := flag(r, "peek")
	if err != nil {
		return err
	}
	snap, err := s.look(r)
	if err != nil {
		return err
	}
	q := r.URL.Query()
	match := func(filter, value string) bool { return !q.Has(filter) || q.Get(filter) == value }
	var items []city.Agent
	for _, a := range snap.Agents {
		if match("pool", a.Pool) && match("rig", a.Rig) && match("state", string(a.State)) && (!byRunning || a.Running == running) {
			items = append(items, a)
		}
	}
	if peek {
		s.peek(r.Context(), items)
	}
	s.ok(w, snap, listOf(items))
	return nil
}

// peek fills in the screens of those that run. One that cannot be had in time stays empty.
func (s *server) peek(ctx context.Context, items []city.Agent) {
	ctx, cancel := context.WithTimeout(ctx, peekTime)
	defer cancel()
	for i := range items {
		if items[i].Running {
			items[i].LastOutput, _ = s.city.Output(ctx, items[i].Name, 0)
		}
	}
}

// find gives the agent of a route.
func (s *server) find(snap *city.Snapshot, rt route) (*city.Agent, error) {
	if a, ok := snap.Agent(rt.agent); ok {
		return a, nil
	}
	return nil, &city.Error{Code: city.NotFound, Message: "no agent " + rt.agent + " in " + snap.Name + "; /v0/agents lists them"}
}

func (s *server) agent(w http.ResponseWriter, r *http.Request, rt route) error {
	peek, _, err := flag(r, "peek")
	if err != nil {
		return err
	}
	snap, err := s.look(r)
	if err != nil {
		return err
	}
	a, err := s.find(snap, rt)
	if err != nil {
		return err
	}
	items := []city.Agent{*a}
	if peek {
		s.peek(r.Context(), items)
	}
	s.ok(w, snap, items[0])
	return nil
}

type outputAnswer struct {
	Agent  string `json:"agent"`
	Format string `json:"format"`
	Turns  []turn `json:"turns"`
}

type turn struct {
	Role string `json:"role"`
	Text string `json:"text"`
}

func (s *server) output(w http.ResponseWriter, r *http.Request, rt route) error {
	lines, err := number(r, "lines", maxLines)
	if err != nil {
		return err
	}
	text, err := s.city.Output(r.Context(), rt.agent, int(lines))
	if err != nil {
		return err
	}
	s.reply(w, http.StatusOK, outputAnswer{Agent: rt.agent, Format: "text", Turns: []turn{{Role: "output", Text: text}}})
	return nil
}

func (s *server) events(w http.ResponseWriter, r *http.Request, _ route) error {
	q, err := query(r)
	if err != nil {
		return err
	}
	ctx, cancel, index, asked, err := s.patience(r)
	defer cancel()
	if err != nil {
		return err
	}
	if asked {
		for _, err := range s.city.Events(ctx, index) {
			if err != nil && ctx.Err() == nil {
				return err
			}
			break
		}
	}
	found, err := s.city.History(r.Context(), q)
	if err != nil {
		return err
	}
	snap, err := s.city.Snapshot(r.Context())
	if err != nil {
		return err
	}
	page := listOf(found)
	if n := len(found); n > 0 && (q.Forward || q.After > 0) {
		page.Next = strconv.FormatUint(found[n-1].Seq, 10)
	}
	s.ok(w, snap, page)
	return nil
}

// query reads the selection of events; "cursor" is "after_seq" with the oldest first.
func query(r *http.Request) (events.Query, error) {
	v := r.URL.Query()
	q := events.Query{Actor: v.Get("actor"), Subject: v.Get("subject"), Forward: v.Has("cursor")}
	for _, list := range v["type"] {
		for t := range strings.SplitSeq(list, ",") {
			if t != "" {
				q.Types = append(q.Types, t)
			}
		}
	}
	var err error
	name := "after_seq"
	if v.Has("cursor") {
		name = "cursor"
	}
	if q.After, err = number(r, name, math.MaxUint64); err != nil {
		return q, err
	}
	if q.Before, err = number(r, "before_seq", math.MaxUint64); err != nil {
		return q, err
	}
	forward, _, err := flag(r, "forward")
	if err != nil {
		return q, err
	}
	q.Forward = q.Forward || forward
	limit, err := number(r, "limit", maxLines)
	if err != nil {
		return q, err
	}
	q.Limit = int(limit)
	if since := v.Get("since"); since != "" {
		if ago, err := time.ParseDuration(since); err == nil {
			q.Since = time.Now().Add(-ago)
		} else if q.Since, err = time.Parse(time.RFC3339Nano, since); err != nil {
			return q, invalid("since=%.40q is neither a time (2006-01-02T15:04:05Z) nor a duration (1h30m)", since)
		}
	}
	return q, nil
}
