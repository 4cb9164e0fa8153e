package api

import (
	"gcity/beads"
	"gcity/city"
	"gcity/events"
	"gcity/mail"
)

// operation is something that may be asked of a city over HTTP.
type operation struct {
	method, path string
	summary      string
	query        string // names of parameters
	body         any    // of the type of a request's body; nil = it has none
	answer       any    // of the type of the answer, or of each item of it; nil = any JSON
	list, stream bool   // items in an envelope, or one after the other
	text         string // the answer is no JSON but this
	machine      bool   // it is about all cities, and at this path alone
}

const news = "index wait"

// operations are all that there are.
func operations() []operation {
	return append(append(reads(), agentVerbs()...), writes()...)
}

func reads() []operation {
	const get, paged = "GET", news + " limit cursor "
	return []operation{
		{method: get, path: "/health", summary: "Whether the loop lives, and what is wrong with the city", answer: healthAnswer{}, machine: true},
		{method: get, path: "/v0/health", summary: "The same as /health", answer: healthAnswer{}, machine: true},
		{method: get, path: "/metrics", summary: "Figures in the text format of Prometheus", text: "text/plain", machine: true},
		{method: get, path: "/v0/openapi.json", summary: "This document", machine: true},
		{method: get, path: "/v0/cities", summary: "The cities that are served here", query: "limit cursor", answer: citiesAnswer{}, machine: true},
		{method: get, path: "/v0/status", summary: "The city in numbers", query: news, answer: Status{}},
		{method: get, path: "/v0/snapshot", summary: "Everything at once, as the control room sees it", query: news + " view", answer: city.Snapshot{}},
		{method: get, path: "/v0/snapshot/stream", summary: "The same, whenever something changed", answer: city.Snapshot{}, stream: true},
		{method: get, path: "/v0/config", summary: "The configuration in force, without secrets", query: news, answer: configText{}},
		{method: get, path: "/v0/config/explain/{agent}", summary: "What an agent, a pool or a rig comes to, and where each value is from", query: news, answer: configText{}},
		{method: get, path: "/v0/agents", summary: "The agents", query: paged + "pool rig running state peek", answer: Agent{}, list: true},
		{method: get, path: "/v0/quarantine", summary: "The agents in quarantine", query: paged + "peek", answer: Agent{}, list: true},
		{method: get, path: "/v0/agent/{agent}", summary: "One agent", query: news + " peek", answer: Agent{}},
		{method: get, path: "/v0/agent/{agent}/inspect", summary: "How it is started, its environment without secrets, how it crashed", answer: city.Inspection{}},
		{method: get, path: "/v0/agent/{agent}/output", summary: "Its last lines", query: "lines", answer: outputAnswer{}},
		{method: get, path: "/v0/agent/{agent}/stream", summary: "Its terminal's output, as it comes", answer: city.Frame{}, stream: true},
		{method: get, path: "/v0/pools", summary: "The pools", query: paged + "rig", answer: city.Pool{}, list: true},
		{method: get, path: "/v0/pool/{pool}", summary: "One pool", query: news, answer: city.Pool{}},
		{method: get, path: "/v0/rigs", summary: "The project folders", query: paged, answer: city.Rig{}, list: true},
		{method: get, path: "/v0/rig/{rig}", summary: "One of them", query: news, answer: city.Rig{}},
		{method: get, path: "/v0/automations", summary: "The automations", query: paged + "rig state gate", answer: city.Automation{}, list: true},
		{method: get, path: "/v0/automation/{automation}", summary: "One automation", query: news, answer: city.Automation{}},
		{method: get, path: "/v0/automation/{automation}/history", summary: "Its runs, the newest first", query: paged, answer: city.Run{}, list: true},
		{method: get, path: "/v0/automation/{automation}/run/{run}/stream", summary: "What a run prints, as it comes", answer: city.Piece{}, stream: true},
		{method: get, path: "/v0/watchdogs", summary: "The watchdogs: whom they watch, how that is, what was decided last", query: paged, answer: city.Watchdog{}, list: true},
		{method: get, path: "/v0/watchdog/{watchdog}", summary: "One of them", query: news, answer: city.Watchdog{}},
		{method: get, path: "/v0/beads", summary: "Work, the newest first", query: paged + "status label type not_type assignee parent ref ready assigned", answer: beads.Bead{}, list: true},
		{method: get, path: "/v0/bead/{bead}", summary: "One piece of work", query: news, answer: beads.Bead{}},
		{method: get, path: "/v0/mail", summary: "Messages to somebody", query: paged + "to agent all status", answer: mail.Message{}, list: true},
		{method: get, path: "/v0/mail/{message}", summary: "One message", query: news, answer: mail.Message{}},
		{method: get, path: "/v0/events", summary: "The newest events, or those after a cursor", query: paged + "type actor subject since after_seq before_seq forward", answer: events.Event{}, list: true},
		{method: get, path: "/v0/events/stream", summary: "Events as they come; resumed by Last-Event-ID", query: "type actor subject since after_seq", answer: events.Event{}, stream: true},
	}
}

func agentVerbs() []operation {
	var out []operation
	for _, v := range []struct {
		verb, summary string
		body          any
	}{
		{"restart", "End its session and begin a new one", nil}, {"stop", "End its session and keep it ended", nil}, {"kill", "End its session at once; it is restarted", nil},
		{"suspend", "Write that it is suspended", nil}, {"resume", "Take that back", nil}, {"release", "Let it out of quarantine or backoff", nil},
		{"interrupt", "What Ctrl-C does", nil}, {"clear", "Forget its kept output", nil}, {"request-restart", "Its own wish to be restarted", nil},
		{"drain", "Tell it to finish", city.Drain{}}, {"undrain", "Take that back", nil}, {"drain-ack", "Its own word that it has finished", nil},
		{"nudge", "Type a text and submit it", city.Nudge{}}, {"unsend", "Take back texts that wait", city.Unsend{}}, {"send-keys", "Press keys", city.SendKeys{}},
	} {
		out = append(out, operation{method: "POST", path: "/v0/agent/{agent}/" + v.verb, summary: v.summary, body: v.body, answer: city.Receipt{}})
	}
	return append(out, operation{method: "POST", path: "/v0/agent/{agent}/attach", summary: "An upgrade to its terminal", query: "cols rows raw", text: "application/octet-stream"})
}

func writes() []operation {
	const post = "POST"
	return []operation{
		{method: post, path: "/v0/pool/{pool}/scale", summary: "Set a pool's size, or give it back to its check", body: city.Scale{}, answer: city.Receipt{}},
		{method: post, path: "/v0/rig/{rig}/suspend", summary: "Suspend all agents of a rig", answer: city.Receipt{}},
		{method: post, path: "/v0/rig/{rig}/resume", summary: "Take that back", answer: city.Receipt{}},
		{method: post, path: "/v0/automation/{automation}/run", summary: "Run it now", body: city.Fire{}, answer: city.Receipt{}},
		{method: post, path: "/v0/automation/{automation}/stop", summary: "End its run that goes", body: city.EndRun{}, answer: city.Receipt{}},
		{method: post, path: "/v0/watchdog/{watchdog}/beat", summary: "Have it look now", answer: city.Receipt{}},
		{method: post, path: "/v0/watchdog/{watchdog}/decide", summary: "What its beat is to do, in the words of whoever judged", body: city.Decide{}, answer: city.Receipt{}},
		{method: post, path: "/v0/watchdog/{watchdog}/acknowledge", summary: "Say that a person has seen its call", body: city.Acknowledge{}, answer: city.Receipt{}},
		{method: post, path: "/v0/beads", summary: "Make a piece of work", query: "rig", body: beads.Bead{}, answer: city.Receipt{}},
		{method: "PATCH", path: "/v0/bead/{bead}", summary: "Change a piece of work", query: "force", body: change{}, answer: city.Receipt{}},
		{method: post, path: "/v0/bead/{bead}/close", summary: "Close it", query: "force", answer: city.Receipt{}},
		{method: post, path: "/v0/mail", summary: "Send a message", body: draft{}, answer: city.Receipt{}},
		{method: post, path: "/v0/mail/{message}/read", summary: "Mark it as read", body: marking{}, answer: mail.Message{}},
		{method: post, path: "/v0/mail/{message}/archive", summary: "Archive it", body: marking{}, answer: city.Receipt{}},
		{method: post, path: "/v0/mail/{message}/reply", summary: "Answer it", body: draft{}, answer: city.Receipt{}},
		{method: post, path: "/v0/sling", summary: "Hand work out", body: city.SlingRequest{}, answer: city.Receipt{}},
		{method: post, path: "/v0/events", summary: "Write an event of your own", body: events.Event{}, answer: city.Receipt{}},
		{method: post, path: "/v0/reload", summary: "Read the configuration now", body: city.Reload{}, answer: city.Receipt{}},
		{method: post, path: "/v0/suspend", summary: "Suspend the city", answer: city.Receipt{}},
		{method: post, path: "/v0/resume", summary: "Take that back", answer: city.Receipt{}},
		{method: post, path: "/v0/stop", summary: "End the city, or with leave its controller alone", body: city.Shutdown{}, answer: city.Receipt{}},
		{method: post, path: "/v0/shutdown", summary: "The same as /stop", body: city.Shutdown{}, answer: city.Receipt{}},
	}
}
