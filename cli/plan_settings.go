package cli

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"gcity/city"
	"gcity/cli/env"
	"gcity/cli/folder"
	"gcity/cli/output"
	"gcity/config"
	"gcity/internal/redact"
	"gcity/internal/span"
	"gcity/restart"
)

type setting struct {
	Key string `json:"key"` // for example "max of pool worker"
	Old string `json:"old"` // "" if not set or not declared
	New string `json:"new"`
}

type declared struct {
	name     string
	settings [][2]string
}

// inspected limits how many agents' restart policies are compared, because each comparison needs a request.
const inspected = 32

func changedSettings(ctx context.Context, l city.Control, c *config.City,
	s *city.Snapshot) []setting {
	var policies []setting
	agents, asked := map[setting][]string{}, 0
	for _, w := range folder.PlanOf(c, c.Path, s) {
		if g, known := s.Agent(w.Name); !known || g.Source == "" || asked == inspected {
			continue
		}
		asked++
		was, err := l.Inspect(ctx, w.Name)
		if err != nil || was.Spec == nil {
			continue
		}
		for _, d := range policyChanges(was.Spec.Restart, w.Policy) {
			if agents[d] = append(agents[d], w.Name); len(agents[d]) == 1 {
				policies = append(policies, d)
			}
		}
	}
	out := compareDeclared(declaredIn(s), declaredIn(snapshotOf(c)))
	for _, d := range policies {
		out = append(out, setting{d.Key + " of " + output.ShortList(agents[d]), d.Old, d.New})
	}
	return out
}

func policyChanges(was city.RestartPolicy, is restart.Policy) (out []setting) {
	for _, d := range []setting{{"restart", was.Mode, string(is.Mode)},
		{"max_restarts", strconv.Itoa(was.MaxRestarts), strconv.Itoa(is.MaxRestarts)},
		{"restart_window", span.Text(was.Window), span.Text(is.Window)},
		{"restart_backoff", was.Backoff.String(), is.Backoff.String()}} {
		if d.Old != d.New {
			out = append(out, d)
		}
	}
	return out
}

func compareDeclared(was, is []declared) (out []setting) {
	find := func(all []declared, name string) (d declared, ok bool) {
		i := slices.IndexFunc(all, func(d declared) bool { return d.name == name })
		if i < 0 {
			return d, false
		}
		return all[i], true
	}
	for _, d := range is {
		old, known := find(was, d.name)
		if !known {
			out = append(out, setting{Key: d.name, New: "declared"})
			continue
		}
		for i, s := range d.settings {
			if s != old.settings[i] {
				out = append(out, setting{s[0] + " of " + d.name, old.settings[i][1], s[1]})
			}
		}
	}
	for _, d := range was {
		if _, still := find(is, d.name); !still {
			out = append(out, setting{Key: d.name, Old: "declared"})
		}
	}
	return out
}

func declaredIn(s *city.Snapshot) []declared {
	out := []declared{{"daemon", [][2]string{{"patrol_interval", s.Patrol.Interval.String()}}}}
	for i := range s.Pools {
		p := &s.Pools[i]
		out = append(out, declared{"pool " + p.Name, [][2]string{{"min", strconv.Itoa(p.Min)},
			{"max", strconv.Itoa(p.Max)}, {"check", p.Check.Command},
			{"drain_timeout", span.Text(p.Timeout)}}})
	}
	for i := range s.Rigs {
		r := &s.Rigs[i]
		out = append(out, declared{"rig " + r.Name, [][2]string{{"path", r.Path},
			{"prefix", r.Prefix}, {"suspended", strconv.FormatBool(r.Suspended)}}})
	}
	for i := range s.Watchdogs {
		w := &s.Watchdogs[i]
		out = append(out, declared{"watchdog " + w.Name, [][2]string{{"watches", w.Watches},
			{"triage", w.Triage}, {"every", w.Every.String()},
			{"fresh", w.Fresh.String()}, {"very_stale", w.VeryStale.String()},
			{"triage_ttl", w.TTL.String()}}})
	}
	return out
}

// snapshotOf returns a snapshot with the settings of a configuration that declaredIn compares.
func snapshotOf(c *config.City) *city.Snapshot {
	s := &city.Snapshot{Patrol: city.Patrol{Interval: c.Daemon.PatrolInterval}}
	for _, p := range folder.PoolPlan(c, c.Path) {
		s.Pools = append(s.Pools, city.Pool{Name: p.Name, Min: p.Min, Max: p.Max,
			Check: city.Check{Command: redact.Text(p.Check)}, Timeout: p.DrainTimeout})
	}
	for _, r := range c.Rigs {
		s.Rigs = append(s.Rigs, city.Rig{Name: r.Name, Path: r.Path, Prefix: r.Prefix,
			Suspended: r.Suspended})
	}
	for i := range c.Watchdogs {
		w := &c.Watchdogs[i]
		to := city.Watchdog{Name: w.Qualified(), Watches: w.Watches, Triage: w.Triage,
			Every: w.Every, Fresh: w.Fresh, VeryStale: w.VeryStale}
		if w.Triage != "" {
			to.TTL = w.TriageTTL
		}
		s.Watchdogs = append(s.Watchdogs, to)
	}
	return s
}

func printSettings(e *env.Env, all []setting) error {
	if len(all) == 0 {
		return nil
	}
	table := output.NewTable("SETTING", "CHANGE")
	for _, s := range all {
		table.Add(output.Tinted(s.Key, output.Bold), s.change())
	}
	table.Shrink(0, e.Columns())
	if err := e.Table(table); err != nil {
		return err
	}
	e.Sayf("")
	return nil
}

func (s *setting) change() string { return orDash(s.Old) + " → " + orDash(s.New) }

func orDash(text string) string {
	if strings.TrimSpace(text) == "" {
		return "-"
	}
	return text
}
