package state

import "fmt"

func firstHint(keyOf func(id string) string, detach string, hosts bool) []string {
	quit := "quits; everything keeps running"
	if hosts {
		quit = "quits and asks what to keep running"
	}
	return []string{
		fmt.Sprintf("Welcome. %s shows the agent's terminal, %s attaches to it, %s detaches.",
			keyOf("agent.zoom"), keyOf("agent.attach"), detach),
		fmt.Sprintf("%s restarts it, %s drains it. %s finds an action, %s lists what works here.",
			keyOf("agent.restart"), keyOf("agent.drain"), keyOf("view.palette"),
			keyOf("view.help")),
		fmt.Sprintf("%s %s. Any key removes this hint.", keyOf("quit"), quit),
	}
}
