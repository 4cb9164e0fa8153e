package automation

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"gcity/events"
)

// drill runs automations without a city. The test advances the clock and ends the runs.
type drill struct {
	t         *testing.T
	r         *Runs
	defs      []Definition
	now       time.Time
	seq       uint64
	suspended string
	shut      string // see World.Closed
	log       []events.Event
}

func newDrill(t *testing.T, most int, defs ...Definition) *drill {
	d := &drill{t: t, r: NewRuns(most), defs: defs, now: noon(), seq: 1041}
	// loaded a minute ago, so that schedules can fire in the current minute
	d.r.Load(Catalog{Automations: defs}, d.seq, d.now.Add(-time.Minute))
	return d
}

// turn advances the clock, calls Advance, and opens the runs that are due. It lists the actions: "a" was opened, "?a"
// needs its check, "!a: why" was skipped.
func (d *drill) turn(wait time.Duration) string {
	out, opened := d.look(wait)
	for _, run := range opened {
		d.r.Opened(run.Definition.Scoped(), d.now)
	}
	return out
}

func (d *drill) look(wait time.Duration) (string, []Run) {
	d.now = d.now.Add(wait)
	actions := d.r.Advance(d.now, World{Suspended: func(string) string {
		return d.suspended
	}, Closed: d.shut, Patrol: 30 * time.Second})
	var out []string
	for _, p := range actions.Skipped {
		out = append(out, "!"+p.Scoped+": "+p.Reason)
	}
	for _, c := range actions.Check {
		out = append(out, "?"+c.Scoped())
	}
	for _, run := range actions.Open {
		name := run.Definition.Scoped()
		if run.Retry > 0 {
			name += fmt.Sprintf("#%d", run.Retry)
		}
		if run.Count > 0 {
			name += fmt.Sprintf("(%d in %d-%d)", run.Count, run.After, run.Until)
		}
		out = append(out, name)
	}
	return strings.Join(out, " "), actions.Open
}

func (d *drill) happen(kind string, depth int) {
	d.seq++
	e := events.Event{Seq: d.seq, Type: kind}
	if depth > 0 {
		e.Payload = json.RawMessage(fmt.Sprintf(`{"depth":%d}`, depth))
	}
	d.log = append(d.log, e)
	d.r.See(e)
}

func (d *drill) restart() (interrupted []string) {
	d.t.Helper()
	return d.restartWith(Catalog{Automations: d.defs})
}

func (d *drill) restartWith(c Catalog) (interrupted []string) {
	d.t.Helper()
	data, err := json.Marshal(d.r.Memory())
	if err != nil {
		d.t.Fatal(err)
	}
	var all map[string]Memory
	if err := json.Unmarshal(data, &all); err != nil {
		d.t.Fatal(err)
	}
	d.r = NewRuns(d.r.most)
	d.r.Recall(all)
	interrupted = d.r.Load(c, d.seq, d.now)
	d.readLog()
	return interrupted
}

func (d *drill) readLog() {
	from, _ := d.r.From()
	for _, e := range d.log {
		if e.Seq > from {
			d.r.See(e)
		}
	}
}

func (d *drill) is(got, want string) {
	d.t.Helper()
	if got != want {
		d.t.Errorf("at %s: got %q, want %q", d.now.Format("15:04:05"), got, want)
	}
}

func (d *drill) state(name string) string {
	d.t.Helper()
	for _, s := range d.r.Status() {
		if s.Definition.Scoped() == name {
			return string(s.State) + ": " + s.Reason
		}
	}
	return "none"
}

func (d *drill) load() { d.r.Load(Catalog{Automations: d.defs}, d.seq, d.now) }
