package verb

import "gcity/city"

func pools() []Verb {
	return []Verb{
		{Name: "scale", Noun: Pool, API: API{Summary: "Set a pool's size, or let its check " +
			"decide again", Body: city.Scale{}},
			decode: decodeScale},
		{Name: "restart-pool", Noun: Pool, API: API{Path: "restart", Body: city.RestartPool{},
			Summary: "Restart all members, all at once or one after another"},
			decode: bare(func(n string) city.RestartPool { return city.RestartPool{Pool: n} })},
		{Name: "check-pool", Noun: Pool, API: API{Path: "check", Summary: "Run a pool's check now"},
			decode: bare(func(n string) city.CheckPool { return city.CheckPool{Pool: n} })},
	}
}

func rigs() []Verb {
	return []Verb{
		{Name: "suspend-rig", Noun: Rig, API: API{Path: "suspend",
			Summary: "Suspend all agents of a rig"},
			decode: bare(func(n string) city.SuspendRig { return city.SuspendRig{Rig: n} })},
		{Name: "resume-rig", Noun: Rig, API: API{Path: "resume",
			Summary: "Resume all agents of a rig"},
			decode: bare(func(n string) city.ResumeRig { return city.ResumeRig{Rig: n} })},
	}
}

func automations() []Verb {
	return []Verb{
		{Name: "run", Noun: Automation, API: API{Summary: "Run an automation now",
			Body: city.Fire{}},
			decode: bare(func(n string) city.Fire { return city.Fire{Automation: n} })},
		{Name: "end-run", Noun: Automation, API: API{Path: "stop",
			Summary: "Stop an automation's current run",
			Body:    city.EndRun{}},
			decode: bare(func(n string) city.EndRun { return city.EndRun{Automation: n} })},
	}
}

func watchdogs() []Verb {
	return []Verb{
		{Name: "beat", Noun: Watchdog, API: API{Summary: "Run a watchdog's check now"},
			decode: bare(func(n string) city.Beat { return city.Beat{Watchdog: n} })},
		{Name: "decide", Noun: Watchdog,
			API: API{Summary: "Decide what the watchdog does after a check",
				Body: city.Decide{}, Required: "decision"},
			decode: checked(func(n string) city.Decide {
				return city.Decide{Watchdog: n}
			}, func(c city.Decide) error {
				switch c.Decision {
				case city.RemedyStart, city.RemedyWake, city.RemedyNudge, city.RemedyNothing:
					return nil
				}
				return invalid(`decide needs {"decision": "start", "wake", "nudge" or "nothing", ` +
					`"reason": "…"}`)
			})},
		{Name: "acknowledge", Noun: Watchdog,
			API:    API{Summary: "Acknowledge a watchdog's escalation", Body: city.Acknowledge{}},
			decode: bare(func(n string) city.Acknowledge { return city.Acknowledge{Watchdog: n} })},
	}
}

// work returns the verbs for work. The API has separate paths for them.
func work() []Verb {
	return []Verb{
		{Name: "create-bead",
			decode: bare(func(string) city.CreateBead { return city.CreateBead{} })},
		{Name: "update-bead", Noun: Bead,
			decode: bare(func(n string) city.UpdateBead { return city.UpdateBead{ID: n} })},
		{Name: "sling",
			decode: checked(func(string) city.SlingWork { return city.SlingWork{} },
				func(c city.SlingWork) error { return c.Check() })},
		{Name: "emit", decode: bare(func(string) city.Emit { return city.Emit{} })},
	}
}

func cities() []Verb {
	return []Verb{
		{Name: "reload", API: API{Summary: "Reload the configuration", Body: city.Reload{}},
			decode: bare(func(string) city.Reload { return city.Reload{} })},
		{Name: "suspend", API: API{Summary: "Suspend the city"},
			decode: bare(func(string) city.Suspend { return city.Suspend{} })},
		{Name: "resume", API: API{Summary: "Resume the city"},
			decode: bare(func(string) city.Resume { return city.Resume{} })},
		{Name: "shutdown", API: API{Path: "stop", Alias: "shutdown",
			Summary: "Stop the city; with `leave`, stop only its controller",
			Body:    city.Shutdown{}},
			decode: bare(func(string) city.Shutdown { return city.Shutdown{} })},
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
