package cli

import (
	"slices"
	"strings"

	"gcity/agent"
	"gcity/city"
	"gcity/cli/folder"
)

// order changes a start to a wait if the agent depends on one that will not be running.
func (v planInput) order(all []change, sizes map[string]int) {
	up, needs, ofPool := map[string]bool{}, map[string][]string{}, map[string][]string{}
	becomes := map[string]string{}
	for _, c := range all {
		becomes[c.Agent] = c.Change
	}
	for _, w := range v.wants {
		up[w.Name] = v.willBeUp(w, becomes[w.Name])
		needs[w.Name] = w.DependsOn
		if w.Pool != "" {
			ofPool[w.Pool] = append(ofPool[w.Pool], w.Name)
		}
	}
	isUp := func(name string) bool {
		if size, pooled := sizes[name]; pooled {
			return size == 0 || slices.ContainsFunc(ofPool[name],
				func(member string) bool { return up[member] })
		}
		return up[name]
	}
	for again := true; again; {
		again = false
		for i := range all {
			c := &all[i]
			if c.Change != "start" && c.Change != "restart" || !up[c.Agent] {
				continue
			}
			missing := slices.DeleteFunc(slices.Clone(needs[c.Agent]), isUp)
			if len(missing) == 0 {
				continue
			}
			why := "waits for " + strings.Join(missing, ", ")
			if c.Change == "restart" {
				c.Reason += "; then it " + why
			} else {
				c.Change, c.Reason = "wait", why
			}
			up[c.Agent], again = false, true
		}
	}
}

// willBeUp reports whether the agents that depend on w can run after the change: w is running, or it has exited as
// configured.
func (v planInput) willBeUp(w agent.Want, change string) bool {
	if change == "start" || change == "restart" {
		return true
	}
	if change == "none" && !w.Suspended.On() {
		return true
	}
	if v.running == nil {
		return false
	}
	g, ok := v.running.Agent(w.Name)
	return ok && g.State == city.Exited && g.Exit != nil && g.Exit.Code == 0 &&
		g.Exit.Signal == "" && g.Declared == folder.Short(w.Spec.Fingerprint.Sum)
}
