package api

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"gcity/api/wire"
	"gcity/city"
)

func (s *server) metrics(w http.ResponseWriter, r *http.Request, _ wire.Route) error {
	snap, err := s.city.Snapshot(r.Context())
	if err != nil {
		return err
	}
	p := &metricsPage{city: snap.Name}
	p.addSnapshot(snap, time.Now())
	if g, ok := s.city.(city.MetricsSource); ok {
		p.addMetrics(g.Metrics())
	}
	s.write(w, http.StatusOK, "text/plain; version=0.0.4; charset=utf-8", []byte(p.text()))
	return nil
}

// metricsPage groups the samples of a metric, even if they come from several cities.
type metricsPage struct {
	city   string
	name   string
	names  []string
	groups map[string]*strings.Builder
}

func (p *metricsPage) text() string {
	var b strings.Builder
	for _, name := range p.names {
		b.WriteString(p.groups[name].String())
	}
	return b.String()
}

func (p *metricsPage) writeHeader(name, kind, help string) {
	p.name = "gcity_" + name
	if p.groups[p.name] != nil {
		return
	}
	if p.groups == nil {
		p.groups = map[string]*strings.Builder{}
	}
	p.names = append(p.names, p.name)
	p.groups[p.name] = new(strings.Builder)
	fmt.Fprintf(p.groups[p.name], "# HELP %s %s\n# TYPE %s %s\n", p.name, help, p.name, kind)
}

// addSample expects alternating names and values in labels.
func (p *metricsPage) addSample(suffix string, v float64, labels ...string) {
	b := p.groups[p.name]
	b.WriteString(p.name + suffix + `{city="` + label(p.city) + `"`)
	for i := 0; i+1 < len(labels); i += 2 {
		b.WriteString("," + labels[i] + `="` + label(labels[i+1]) + `"`)
	}
	b.WriteString("} " + strconv.FormatFloat(v, 'g', -1, 64) + "\n")
}

func label(s string) string {
	return strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s)
}

func (p *metricsPage) gauge(name, help string, v float64, labels ...string) {
	p.writeHeader(name, "gauge", help)
	p.addSample("", v, labels...)
}

func (p *metricsPage) addSnapshot(snap *city.Snapshot, now time.Time) {
	p.gauge("info", "Version of gcity.", 1, "version", snap.Version)
	p.gauge("uptime_seconds", "Uptime of the controller.", float64(uptime(snap, now)))
	p.gauge("loop_age_seconds", "Time since the last loop pass.",
		float64(loopAge(snap, now))/1000)
	p.gauge("degraded", "Number of problems that affect the whole city.",
		float64(len(snap.Degraded)))
	p.gauge("config_rejected", "Whether the configuration on disk is rejected.",
		boolValue(snap.Config.Rejected != ""))
	p.gauge("events_seq", "Sequence number of the newest event.", float64(snap.Seq))
	count := countAgents(snap)
	p.writeHeader("agents", "gauge", "Agents by state.")
	for _, state := range city.States {
		p.addSample("", float64(count.States[state]), "state", string(state))
	}
	p.gauge("agents_running", "Agents with a running process, in any state.",
		float64(count.Running))
	autos := countAutomations(snap.Automations)
	p.writeHeader("automations", "gauge", "Automations by state.")
	for _, state := range slices.Sorted(maps.Keys(autos.States)) {
		p.addSample("", float64(autos.States[state]), "state", string(state))
	}
	p.gauge("automations_failing", "Automations that are broken, or failed in their newest run.",
		float64(autos.Failing))
	p.writeHeader("work", "gauge", "Work that is not closed.")
	p.addSample("", float64(snap.Work.Open), "status", "open")
	p.addSample("", float64(snap.Work.InProgress), "status", "in_progress")
	p.gauge("mail_unread", "Unread messages for users.", float64(snap.Mail.Unread))
}

func (p *metricsPage) addFleet(seen []cityState, now time.Time) {
	for i := range seen {
		p.city = seen[i].name
		p.gauge("city_up", "Whether the city is running and responds.",
			boolValue(seen[i].snap != nil))
		p.gauge("city_crashes", "Consecutive crashes of the city's controller.",
			float64(seen[i].info.Crashes))
	}
	for i := range seen {
		p.city = seen[i].name
		if seen[i].snap != nil {
			p.addSnapshot(seen[i].snap, now)
		}
		if seen[i].gauges != nil {
			p.addMetrics(*seen[i].gauges)
		}
	}
}

func boolValue(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func (p *metricsPage) addMetrics(g city.Metrics) {
	for _, c := range []struct {
		name, help string
		n          uint64
	}{
		{"agent_starts_total", "Agent starts.", g.Starts},
		{"agent_start_failures_total", "Failed agent starts.", g.StartsFailed},
		{"agent_crashes_total", "Agent exits that were not requested.", g.Crashes},
	} {
		p.writeHeader(c.name, "counter", c.help)
		p.addSample("", float64(c.n))
	}
	p.writeHeader("automation_runs_total", "counter", "Automation runs by outcome.")
	for _, end := range []string{"fired", "completed", "failed", "skipped"} {
		p.addSample("", float64(g.Runs[end]), "outcome", end)
	}
	p.writeHeader("patrol_duration_seconds", "histogram", "Duration of patrols, which check "+
		"all agents.")
	p.addHistogram(g.Patrol)
	p.writeHeader("loop_turn_duration_seconds", "histogram", "Duration of loop passes.")
	p.addHistogram(g.Iteration)
	p.writeHeader("store_duration_seconds", "histogram", "Duration of calls to bead stores.")
	for _, op := range []string{"read", "write"} {
		by := g.Reads
		if op == "write" {
			by = g.Writes
		}
		for _, rig := range slices.Sorted(maps.Keys(by)) {
			p.addHistogram(by[rig], "rig", rig, "op", op)
		}
	}
}

func (p *metricsPage) addHistogram(t city.Timing, labels ...string) {
	for i, bound := range city.TimingBounds {
		p.addSample("_bucket", float64(t.Under[i]),
			append(labels, "le", strconv.FormatFloat(bound.Seconds(), 'g', -1, 64))...)
	}
	p.addSample("_bucket", float64(t.Count), append(labels, "le", "+Inf")...)
	p.addSample("_sum", t.Sum.Seconds(), labels...)
	p.addSample("_count", float64(t.Count), labels...)
}
