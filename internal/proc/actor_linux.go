package proc

import (
	"bytes"
	"cmp"
)

const maxAncestors = 64

// Actor returns the agent of the session that a process runs in. agentOf returns the agent of the session with an ID,
// or "". The oldest ancestor in a session decides which agent this is. For a process outside all sessions, Actor
// returns the agent or automation that its environment names, or "operator". If its environment cannot be read, Actor
// returns "".
func Actor(pid int, agentOf func(session string) string) (name string, isAgent bool) {
	agent, own := "", ""
	for at, n := pid, 0; at > 1 && n < maxAncestors; n++ {
		environ := Environ(at)
		if at == pid {
			if environ == nil {
				return "", false
			}
			own = cmp.Or(variable(environ, "GC_AGENT"), variable(environ, "GC_AUTOMATION"),
				"operator")
		}
		if id := variable(environ, "GC_SESSION_ID"); id != "" {
			agent = cmp.Or(agentOf(id), agent)
		}
		stat, err := ReadStat(at)
		if err != nil {
			break
		}
		at = stat.PPID
	}
	return cmp.Or(agent, own), agent != ""
}

func variable(environ []byte, name string) string {
	for kv := range bytes.SplitSeq(environ, []byte{0}) {
		if value, ok := bytes.CutPrefix(kv, []byte(name+"=")); ok {
			return string(value)
		}
	}
	return ""
}
