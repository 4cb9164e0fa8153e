package effect

import (
	"slices"

	"gcity/agent"
	"gcity/city"
)

// Group returns the kind and the name of the rig or pool that the edit suspends or resumes.
func (f Edit) Group() string {
	if f.Rig != "" {
		return "rig " + f.Rig
	}
	return "pool " + f.Agent
}

// FlaggedBy returns the sender of the newest edit that set a suspended flag to on. It returns the zero value, which
// stands for the operator, if a user edited the file.
func FlaggedBy(edits []Edit, agent, rig string, on bool) city.Peer {
	for _, f := range slices.Backward(edits) {
		if f.Agent == agent && f.Rig == rig && f.On == on {
			return f.By
		}
	}
	return city.Peer{}
}

// SuspendedBy is like FlaggedBy, for the flag of an agent's level.
func SuspendedBy(edits []Edit, w *agent.Want, level agent.Level, on bool) city.Peer {
	switch level {
	case agent.CityLevel:
		return FlaggedBy(edits, "", "", on)
	case agent.RigLevel:
		return FlaggedBy(edits, "", w.Rig, on)
	}
	return FlaggedBy(edits, w.Declared, "", on)
}
