package verb

import "gcity/city"

const flagHelp = `The suspended flag is written into the configuration, and nothing else of it
changes. A pool's name means the whole pool: one of its members has no flag.`

// lives are the verbs that begin and end sessions.
func lives() []Verb {
	return []Verb{
		{Name: "interrupt", Noun: Agent, API: API{Summary: "What Ctrl-C does"},
			Shell:  Shell{Short: "Do what Ctrl-C in its terminal does"},
			decode: to(func(n string) city.Interrupt { return city.Interrupt{Agent: n} })},
		{Name: "restart", Noun: Agent, API: API{Summary: "End its session and begin a new one"},
			Shell:  Shell{Short: "Stop its session and start it anew"},
			Line:   Line{"restart", "AGENT…", "restart agents"},
			decode: to(func(n string) city.Restart { return city.Restart{Agent: n} })},
		{Name: "stop", Noun: Agent, API: API{Summary: "End its session and keep it ended"},
			Shell: Shell{Short: "Stop it or a pool and keep it stopped: suspended until resumed",
				Long: flagHelp, Pools: true},
			decode: to(func(n string) city.Stop { return city.Stop{Agent: n} })},
		{Name: "kill", Noun: Agent, API: API{Summary: "End its session at once; it is restarted"},
			Shell:  Shell{Short: "End its session at once and let it be restarted"},
			Line:   Line{"kill", "AGENT…", "end agents at once; they start again"},
			decode: to(func(n string) city.Kill { return city.Kill{Agent: n} })},
		{Name: "suspend", Noun: Agent, API: API{Summary: "Write that it is suspended"},
			Shell: Shell{Short: "Write suspended = true into the configuration, for a pool too",
				Long: flagHelp, Pools: true},
			Line:   Line{"suspend", "AGENT|POOL", "keep an agent or a pool ended"},
			decode: to(func(n string) city.Suspend { return city.Suspend{Agent: n} })},
		{Name: "resume", Noun: Agent, API: API{Summary: "Take that back"},
			Shell: Shell{Short: "Take suspended = true out of the configuration again, " +
				"for a pool too",
				Long: flagHelp, Pools: true},
			Line:   Line{"resume", "AGENT|POOL", "let an agent or a pool run again"},
			decode: to(func(n string) city.Resume { return city.Resume{Agent: n} })},
	}
}

// drains are the verbs of an orderly end, and of what follows an end.
func drains() []Verb {
	return []Verb{
		{Name: "drain", Noun: Agent, API: API{Summary: "Tell it to finish", Body: city.Drain{}},
			Shell: Shell{Short: "Tell it to finish: it ends when it has, or at its deadline, and " +
				"starts anew",
				Long: `drain tells an agent to finish what it is doing. It hears of it by asking
"gc agent drain-check", and says that it has finished with "gc agent drain-ack";
then, or at its deadline, its session ends, and a new one begins if the agent is
wanted still. The deadline is the pool's drain_timeout, else 5 minutes.`},
			Line:   Line{"drain", "AGENT…", "tell agents to finish"},
			decode: to(func(n string) city.Drain { return city.Drain{Agent: n} })},
		{Name: "undrain", Noun: Agent, API: API{Summary: "Take that back"},
			Shell: Shell{Short: "Take a drain back: the same session goes on",
				Long: `undrain takes a drain back: the same session goes on. A member that its pool
does not want any more is not kept that way: scale the pool.`},
			Line:   Line{"undrain", "AGENT…", "take a drain back"},
			decode: to(func(n string) city.Undrain { return city.Undrain{Agent: n} })},
		{Name: "release", Noun: Agent, API: API{Summary: "Let it out of quarantine or backoff"},
			Shell:  Shell{Short: "Let it out of quarantine or backoff now"},
			Line:   Line{"release", "AGENT…", "release from quarantine or backoff"},
			decode: to(func(n string) city.Release { return city.Release{Agent: n} })},
		{Name: "clear", Noun: Agent, API: API{Summary: "Forget its kept output"},
			Shell:  Shell{Short: "Forget its kept output"},
			decode: to(func(n string) city.Clear { return city.Clear{Agent: n} })},
		{Name: "drain-ack", Noun: Agent, API: API{Summary: "Its own word that it has finished"},
			Shell: Shell{Short: "From inside a session: say that it has finished",
				Long: "drain-ack is for an agent that was told to finish: it has, and may " +
					"be ended."},
			decode: to(func(n string) city.DrainAck { return city.DrainAck{Agent: n} })},
		{Name: "request-restart", Noun: Agent, API: API{Summary: "Its own wish to be restarted"},
			Shell: Shell{Short: "From inside a session: ask to be restarted"},
			decode: to(func(n string) city.RequestRestart {
				return city.RequestRestart{Agent: n}
			})},
	}
}

// texts are the verbs that type into a terminal.
func texts() []Verb {
	return []Verb{
		{Name: "nudge", Noun: Agent, API: API{Summary: "Type a text and submit it",
			Body: city.Nudge{}},
			Line: Line{"nudge", "AGENT TEXT…", "send a text to an agent"},
			decode: checked(func(n string) city.Nudge {
				return city.Nudge{Agent: n}
			}, func(c city.Nudge) error {
				if c.Text == "" {
					return invalid(`nudge needs {"text": "…"}`)
				}
				return nil
			})},
		{Name: "unsend", Noun: Agent, API: API{Summary: "Take back texts that wait",
			Body: city.Unsend{}},
			Line:   Line{"unsend", "AGENT…", "take back the texts that wait for agents"},
			decode: to(func(n string) city.Unsend { return city.Unsend{Agent: n} })},
		{Name: "send-keys", Noun: Agent, API: API{Summary: "Press keys", Body: city.SendKeys{}},
			decode: checked(func(n string) city.SendKeys {
				return city.SendKeys{Agent: n}
			}, func(c city.SendKeys) error {
				if len(c.Keys) == 0 {
					return invalid(`send-keys needs {"keys": ["…"]}`)
				}
				return nil
			})},
	}
}
