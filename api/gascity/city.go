package gascity

import (
	"context"
	"slices"
	"strings"

	"gcity/api/openapi"
	"gcity/city"
)

func cityOperations() []Operation {
	return []Operation{
		{suspension("/v0/city", "Suspend or resume the city"), patchCity},
		{openapi.Post("/v0/rig/{rig}/restart", "Restart a rig's agents, except suspended and "+
			"draining ones", nil, rigRestart{}), restartRig},
		{openapi.Get("/v0/orders", "The automations in the format of Gas City's orders", "index "+
			"wait limit cursor", orderList{}), orders},
	}
}

func suspension(path, summary string) openapi.Operation {
	return openapi.Operation{Method: "PATCH", Path: path, Summary: summary, Body: cityChange{},
		Required: "suspended", Response: city.Receipt{}}
}

type cityChange struct {
	Suspended *bool `json:"suspended"`
}

func patchCity(ctx context.Context, r *Request) (any, error) {
	return r.change(ctx, city.Suspend{}, city.Resume{})
}

// change executes one of the two commands, depending on the field suspended in the body.
func (r *Request) change(ctx context.Context, suspend, resume city.Command) (any, error) {
	var in cityChange
	err := r.decode(&in)
	switch {
	case err != nil:
		return nil, err
	case in.Suspended == nil:
		return nil, city.Errorf(city.Invalid,
			`nothing to change: send {"suspended": true} or {"suspended": false}`)
	case *in.Suspended:
		return r.Do(ctx, suspend)
	}
	return r.Do(ctx, resume)
}

type rigRestart struct {
	Rig string `json:"rig"`
	// "ok", or "failed" if any agent could not be restarted
	Status    string   `json:"status"`
	Restarted []string `json:"restarted"`
	// agents that were not restarted because they are suspended or draining
	Left   []string          `json:"left"`
	Failed map[string]string `json:"failed,omitempty"`
}

func restartRig(ctx context.Context, r *Request) (any, error) {
	if err := r.checkNoBody(); err != nil {
		return nil, err
	}
	if err := checkRig(r.Snapshot, r.Target); err != nil {
		return nil, err
	}
	a := rigRestart{Rig: r.Target, Status: "ok", Restarted: []string{}, Left: []string{},
		Failed: map[string]string{}}
	for _, g := range dependencyOrder(r.Snapshot, r.Target) {
		if g.Suspended || g.State == city.Suspended || g.State == city.Draining {
			a.Left = append(a.Left, g.Name)
			continue
		}
		if _, err := r.Do(ctx, city.Restart{Agent: g.Name}); err != nil {
			a.Failed[g.Name], a.Status = err.Error(), "failed"
			continue
		}
		a.Restarted = append(a.Restarted, g.Name)
	}
	return a, nil
}

func dependencyOrder(snap *city.Snapshot, rig string) (out []*city.Agent) {
	placed := map[string]bool{}
	var place func(g *city.Agent)
	place = func(g *city.Agent) {
		if placed[g.Name] || g.Rig != rig {
			return
		}
		placed[g.Name] = true
		for i := range snap.Agents {
			other := &snap.Agents[i]
			ofPool := other.Pool != "" && slices.Contains(g.DependsOn, other.Pool)
			if ofPool || slices.Contains(g.DependsOn, other.Name) {
				place(other)
			}
		}
		out = append(out, g)
	}
	for i := range snap.Agents {
		place(&snap.Agents[i])
	}
	return out
}

// order is an automation in the format of Gas City's orders.
type order struct {
	Name        string `json:"name"`
	Scoped      string `json:"scoped_name"`
	Description string `json:"description,omitempty"`
	Type        string `json:"type"` // "exec", "formula"
	Trigger     string `json:"trigger,omitempty"`
	Gate        string `json:"gate,omitempty"` // same as Trigger
	Interval    string `json:"interval,omitempty"`
	Schedule    string `json:"schedule,omitempty"`
	Check       string `json:"check,omitempty"`
	On          string `json:"on,omitempty"`
	Formula     string `json:"formula,omitempty"`
	Exec        string `json:"exec,omitempty"`
	Pool        string `json:"pool,omitempty"`
	Timeout     string `json:"timeout,omitempty"`
	TimeoutMS   int64  `json:"timeout_ms"`
	Enabled     bool   `json:"enabled"`
	Rig         string `json:"rig,omitempty"`
	State       string `json:"state"`
	Reason      string `json:"reason"`
}

// orderList contains the list twice, because clients expect it under either of two names.
type orderList struct {
	List[order]
	Orders []order `json:"orders"`
}

func orders(_ context.Context, r *Request) (any, error) {
	var all []order
	for i := range r.Snapshot.Automations {
		all = append(all, orderOf(&r.Snapshot.Automations[i]))
	}
	page, err := paged(r, all, func(o *order) string { return o.Scoped })
	return orderList{List: page, Orders: page.Items}, err
}

func orderOf(a *city.Automation) order {
	name, _, _ := strings.Cut(a.Name, ":")
	o := order{
		Name: name, Scoped: a.Name, Description: a.Description, Type: "formula", Trigger: a.Gate,
		Gate:    a.Gate,
		Formula: a.Formula, Exec: a.Exec, Pool: a.Pool, TimeoutMS: a.Timeout.Milliseconds(),
		Rig:     a.Rig,
		Enabled: a.State != city.AutomationOff && a.State != city.AutomationBroken,
		State:   a.Word(), Reason: a.Reason,
	}
	if a.Exec != "" {
		o.Type = "exec"
	}
	if a.Timeout > 0 {
		o.Timeout = a.Timeout.String()
	}
	switch a.Gate {
	case "cooldown":
		o.Interval = a.When
	case "cron":
		o.Schedule = a.When
	case "condition":
		o.Check = a.When
	case "event":
		o.On = a.When
	}
	return o
}
