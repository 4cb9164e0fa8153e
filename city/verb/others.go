package verb

import "gcity/city"

func pools() []Verb {
	return []Verb{
		{command: city.Scale{}, Noun: Pool,
			API:    API{Summary: "Set a pool's size, or let its check decide again"},
			decode: decodeScale},
		{command: city.RestartPool{}, Noun: Pool,
			API: API{Path: "restart",
				Summary: "Restart all members, all at once or one after another"}},
		{command: city.CheckPool{}, Noun: Pool,
			API: API{Path: "check", Summary: "Run a pool's check now"}},
	}
}

func rigs() []Verb {
	return []Verb{
		{command: city.SuspendRig{}, Noun: Rig,
			API: API{Path: "suspend", Summary: "Suspend all agents of a rig"}},
		{command: city.ResumeRig{}, Noun: Rig,
			API: API{Path: "resume", Summary: "Resume all agents of a rig"}},
	}
}

func automations() []Verb {
	return []Verb{
		{command: city.Fire{}, Noun: Automation,
			API: API{Summary: "Run an automation now"}},
		{command: city.EndRun{}, Noun: Automation,
			API: API{Path: "stop", Summary: "Stop an automation's current run"}},
	}
}

func watchdogs() []Verb {
	return []Verb{
		{command: city.Beat{}, Noun: Watchdog, API: API{Summary: "Run a watchdog's check now"}},
		{command: city.Decide{}, Noun: Watchdog,
			API: API{Summary: "Decide what the watchdog does after a check",
				Required: "decision"},
			check: func(c city.Command) error {
				switch c.(city.Decide).Decision {
				case city.RemedyStart, city.RemedyWake, city.RemedyNudge, city.RemedyNothing:
					return nil
				}
				return invalid(`decide needs {"decision": "start", "wake", "nudge" or "nothing", ` +
					`"reason": "…"}`)
			}},
		{command: city.Acknowledge{}, Noun: Watchdog,
			API: API{Summary: "Acknowledge a watchdog's call"}},
	}
}

// work returns the verbs for work. The API has separate paths for them.
func work() []Verb {
	return []Verb{
		{command: city.CreateBead{}},
		{command: city.UpdateBead{}, Noun: Bead},
		{command: city.SlingWork{},
			check: func(c city.Command) error { return c.(city.SlingWork).Check() }},
		{command: city.Emit{}},
	}
}

func cities() []Verb {
	return []Verb{
		{command: city.Reload{},
			API: API{Summary: "Reload the configuration"}},
		{command: city.Suspend{}, API: API{Summary: "Suspend the city"}},
		{command: city.Resume{}, API: API{Summary: "Resume the city"}},
		{command: city.Shutdown{},
			API: API{Path: "stop", Alias: "shutdown",
				Summary: "Stop the city; with `leave`, stop only its controller"}},
	}
}

// An empty body is invalid, because it would scale the pool to 0.
func decodeScale(target string, body []byte) (city.Command, error) {
	var in struct {
		Size *int `json:"size"`
		Auto bool `json:"auto"`
	}
	if err := city.DecodeBody(body, &in); err != nil {
		return nil, err
	}
	if !in.Auto && in.Size == nil {
		return nil, invalid(`scale needs {"size": N} or {"auto": true}`)
	}
	// a size of 0 with auto is valid, because Encode writes it
	if in.Auto && in.Size != nil && *in.Size != 0 {
		return nil, invalid("scale takes either a size or auto, not both: size is %d and "+
			"auto is true", *in.Size)
	}
	c := city.Scale{Pool: target, Auto: in.Auto}
	if !in.Auto {
		c.Size = *in.Size
	}
	return c, nil
}
