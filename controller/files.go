package controller

import (
	"fmt"

	"gcity/agent"
)

const (
	filesBase     = 64 // logs, sockets, stores, watches, requests
	filesPerAgent = 4  // the connection to the holder, the holder's process, a viewer, and a spare

	// Without this many files, plus one for each agent, the controller cannot accept requests or start agents.
	filesMinimum = 40
	filesUsual   = 1024

	builtIn = "pty" // each session of this provider uses a file
)

// FilesNeeded returns the number of open files that a controller with this many agents needs.
func FilesNeeded(agents int) uint64 { return uint64(filesBase + filesPerAgent*agents) }

// FewFiles returns a warning if the limit on open files is too low for this many agents, and "" otherwise. A limit of
// 0 means that it is unknown.
func FewFiles(limit uint64, agents int) string {
	need := FilesNeeded(agents)
	if limit == 0 || limit >= need {
		return ""
	}
	return fmt.Sprintf("the controller can open at most %d files, but %s about %d; %s", limit,
		AgentsNeed(agents), need, MoreFiles(agents))
}

// AgentsNeed returns "1 agent needs", "3 agents need", and so on.
func AgentsNeed(agents int) string {
	if agents == 1 {
		return "1 agent needs"
	}
	return fmt.Sprintf("%d agents need", agents)
}

// TooFewFiles returns an error if the limit on open files is too low for the controller to work. For a pool, it counts
// the minimum number of members. A limit of 0 means that the limit is unknown.
func TooFewFiles(limit uint64, wants []agent.Want, pools []agent.Pool) error {
	least := map[string]int{}
	for i := range pools {
		least[pools[i].Name] = pools[i].Min
	}
	agents := 0
	for i := range wants {
		w := &wants[i]
		if w.Spec.Provider == builtIn && !w.Suspended.On() &&
			(w.Pool == "" || w.Index <= least[w.Pool]) {
			agents++
		}
	}
	need := uint64(filesMinimum + agents)
	if limit == 0 || limit >= need {
		return nil
	}
	return fmt.Errorf("the limit of %d open files is too low, because gcity needs at least %d; %s",
		limit, need, MoreFiles(len(wants)))
}

// MoreFiles returns advice on how to raise the limit on open files.
func MoreFiles(agents int) string {
	return fmt.Sprintf("start the controller after `ulimit -n %[1]d`, or set LimitNOFILE=%[1]d "+
		"in its service",
		max(filesUsual, 2*FilesNeeded(agents)))
}
