package agent

import (
	"cmp"
	"path"

	"gcity/config"
)

// Level is the configuration level at which an agent is suspended.
type Level string

const (
	AgentLevel Level = "agent" // the agent itself, or its pool
	RigLevel   Level = "rig"
	CityLevel  Level = "city"
)

// Suspension is the most specific setting that suspends an agent or a pool. The zero value means that nothing suspends
// it.
type Suspension struct {
	Level Level
	// text that follows the word "suspended": "in city.toml", "with rig demo", "with the city"
	Where string
}

// On reports whether a setting suspends the agent.
func (s Suspension) On() bool { return s != Suspension{} }

// String returns a description such as "suspended in city.toml", or "" for the zero value.
func (s Suspension) String() string {
	if !s.On() {
		return ""
	}
	return "suspended " + s.Where
}

// ResumeCommand returns the command that removes the suspension. name is the qualified name of the suspended agent or
// pool.
func (s Suspension) ResumeCommand(name string) string {
	switch s.Level {
	case CityLevel:
		return "gcity resume"
	case RigLevel:
		return "gcity rig resume " + path.Dir(name)
	}
	return "gcity agent resume " + name
}

func suspended(c *config.City, a *config.Agent) Suspension {
	r := c.Rig(a.Rig)
	switch {
	case a.Suspended:
		file := cmp.Or(a.Origins["suspended"].File, config.FileName)
		return Suspension{Level: AgentLevel, Where: "in " + file}
	case r != nil && r.Suspended:
		return Suspension{Level: RigLevel, Where: "with rig " + r.Name}
	case c.Workspace.Suspended:
		return Suspension{Level: CityLevel, Where: "with the city"}
	}
	return Suspension{}
}
