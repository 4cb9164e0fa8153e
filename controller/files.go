package controller

import "fmt"

const (
	filesBase     = 64 // logs, sockets, stores, watches, requests
	filesPerAgent = 4  // the connection to the holder, the holder's process, a viewer, and a spare
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
	return fmt.Sprintf("the controller can open at most %d files, but %s about %d: %s", limit,
		AgentsNeed(agents), need, MoreFiles(agents))
}

// AgentsNeed returns the beginning of a sentence: "1 agent needs" or "3 agents need".
func AgentsNeed(agents int) string {
	if agents == 1 {
		return "1 agent needs"
	}
	return fmt.Sprintf("%d agents need", agents)
}

// MoreFiles returns advice on how to raise the limit on open files.
func MoreFiles(agents int) string {
	return fmt.Sprintf("start the controller after `ulimit -n %[1]d`, or set LimitNOFILE=%[1]d "+
		"in its service",
		2*FilesNeeded(agents))
}
