package verb

import "gcity/city"

const flagHelp = ` in the configuration, and changes nothing else there.
The name of a pool stands for the whole pool, because its members have no setting of
their own.`

func sessions() []Verb {
	return []Verb{
		{command: city.Interrupt{}, Noun: Agent,
			API:   API{Summary: "Press Ctrl-C in an agent's terminal"},
			Shell: Shell{Short: "Press Ctrl-C in an agent's terminal"}},
		{command: city.Restart{}, Noun: Agent,
			API: API{Summary: "Stop an agent's session and start a new one"},
			Shell: Shell{Short: "Stop an agent's session and start a new one",
				ForPool: "`gcity pool restart %s` restarts all members"}},
		{command: city.Stop{}, Noun: Agent,
			API: API{Summary: "Stop an agent's session and suspend the agent"},
			Shell: Shell{Short: "Stop an agent or a pool and suspend it until it is resumed",
				Long: "stop does the same as suspend: it stops the session and sets\n" +
					"suspended = true" + flagHelp +
					"\nTo stop the session and let a new one start, use restart.",
				Pools: true}},
		{command: city.Kill{}, Noun: Agent,
			API:   API{Summary: "Kill an agent's session immediately; the agent restarts"},
			Shell: Shell{Short: "Kill an agent's session immediately; the agent restarts"}},
		{command: city.Suspend{}, Noun: Agent,
			API: API{Summary: "Set an agent's suspended flag"},
			Shell: Shell{Short: "Set suspended = true in the configuration, for an agent or a pool",
				Long: "suspend stops the session, and no new one starts until the agent is\n" +
					"resumed. It sets suspended = true" + flagHelp,
				Pools: true}},
		{command: city.Resume{}, Noun: Agent,
			API: API{Summary: "Remove an agent's suspended flag"},
			Shell: Shell{Short: "Resume an agent or a pool",
				Long: "resume ends a suspension: the session starts again. It removes\n" +
					"suspended = true, or sets it to false," + flagHelp,
				Pools: true}},
	}
}

func drains() []Verb {
	return []Verb{
		{command: city.Drain{}, Noun: Agent,
			API: API{Summary: "Ask an agent to finish"},
			Shell: Shell{Short: "Ask an agent to finish its work; then, or at a deadline, it " +
				"stops and restarts",
				Long: `drain asks an agent to finish its work. The agent sees the request
with "gc agent drain-check" and reports with "gc agent drain-ack" that it has finished.
Then, or at the deadline, its session stops. A new session starts if the agent should
still run. The deadline is the pool's drain_timeout, or 5 minutes for an agent outside pools.`,
				ForPool: "`gcity pool scale %s N` drains surplus members"}},
		{command: city.Undrain{}, Noun: Agent, API: API{Summary: "Cancel a drain"},
			Shell: Shell{Short: "Cancel a drain: the session keeps running",
				Long: `undrain cancels a drain: the session keeps running. undrain does not
keep a pool member that the pool no longer needs; to keep it, scale the pool.`}},
		{command: city.Release{}, Noun: Agent,
			API:   API{Summary: "End an agent's quarantine or backoff"},
			Shell: Shell{Short: "End an agent's quarantine or backoff now"}},
		{command: city.Clear{}, Noun: Agent,
			API:   API{Summary: "Discard an agent's stored output"},
			Shell: Shell{Short: "Discard an agent's stored output"}},
		{command: city.DrainAck{}, Noun: Agent,
			API: API{Summary: "Report that an agent has finished"},
			Shell: Shell{Short: "In a session: report that the agent has finished",
				Long: "drain-ack confirms that the agent has finished its work and that its " +
					"session can\nbe stopped. An agent can confirm this only for itself."}},
		{command: city.RequestRestart{}, Noun: Agent,
			API:   API{Summary: "Request an agent's restart"},
			Shell: Shell{Short: "In a session: request a restart of the agent"}},
	}
}

func typing() []Verb {
	return []Verb{
		{command: city.Nudge{}, Noun: Agent,
			API: API{Summary: "Type text into an agent's terminal and submit it",
				Body: nudge{}},
			rewrite: renameMessage,
			check: func(c city.Command) error {
				if c.(city.Nudge).Text == "" {
					return invalid(`nudge needs {"text": "…"}`)
				}
				return nil
			}},
		{command: city.Unsend{}, Noun: Agent,
			API: API{Summary: "Cancel queued nudges"}},
		{command: city.SendKeys{}, Noun: Agent,
			API: API{Summary: "Press keys in an agent's terminal",
				Required: "keys"},
			check: func(c city.Command) error {
				if len(c.(city.SendKeys).Keys) == 0 {
					return invalid(`send-keys needs {"keys": ["…"]}`)
				}
				return nil
			}},
	}
}
