package api

import (
	"fmt"
	"reflect"
	"slices"

	"gcity/api/gascity"
	"gcity/api/openapi"
	"gcity/api/wire"
	"gcity/beads"
	"gcity/city"
	"gcity/city/verb"
	"gcity/events"
	"gcity/mail"
)

const waitParams = "index wait"

func operations() []openapi.Operation {
	all := slices.Concat(reads(), verbs(), writes())
	for _, o := range gascity.Operations() {
		all = append(all, o.Operation)
	}
	return all
}

func reads() []openapi.Operation {
	return slices.Concat(cityReads(), listReads(), workReads())
}

func cityReads() []openapi.Operation {
	const get = "GET"
	return []openapi.Operation{
		{Method: get, Path: "/health", Summary: "Whether the controller responds, and the city's " +
			"problems", Response: healthAnswer{}, Machine: true},
		{Method: get, Path: "/v0/health", Summary: "The same as /health", Response: healthAnswer{},
			Machine: true},
		{Method: get, Path: "/metrics", Summary: "Metrics in the Prometheus text format",
			Text: "text/plain", Machine: true},
		{Method: get, Path: "/v0/openapi.json", Summary: "This document", Machine: true},
		{Method: get, Path: "/v0/cities", Summary: "The cities of this server",
			Query: "limit cursor", Response: wire.Cities{}, Machine: true},
		{Method: get, Path: "/v0/status", Summary: "The status of the city, with the number of " +
			"agents, pools and rigs", Query: waitParams,
			Response: Status{}},
		{Method: get, Path: "/v0/city", Summary: "The same as /v0/status", Query: waitParams,
			Response: Status{}},
		{Method: get, Path: "/v0/snapshot", Summary: "The whole state, as the control room uses it",
			Query: waitParams + " view", Response: city.Snapshot{}},
		{Method: get, Path: "/v0/snapshot/stream",
			Summary:  "The same as /v0/snapshot, sent again after each change",
			Response: city.Snapshot{}, Stream: true},
		{Method: get, Path: "/v0/config", Summary: "The active configuration, without secrets",
			Query: waitParams, Response: wire.ConfigText{}},
		{Method: get, Path: "/v0/config/explain/{agent}", Summary: "The effective values of an " +
			"agent, a pool or a rig, and their sources", Query: waitParams,
			Response: wire.ConfigText{}},
	}
}

func listReads() []openapi.Operation {
	const get, paged = "GET", waitParams + " limit cursor "
	return []openapi.Operation{
		{Method: get, Path: "/v0/agents", Summary: "The agents",
			Query: paged + "pool rig running state peek", Response: wire.Agent{}, List: true},
		{Method: get, Path: "/v0/quarantine", Summary: "The agents in quarantine",
			Query: paged + "peek", Response: wire.Agent{}, List: true},
		{Method: get, Path: "/v0/agent/{agent}", Summary: "One agent", Query: waitParams + " peek",
			Response: wire.Agent{}},
		{Method: get, Path: "/v0/agent/{agent}/inspect", Summary: "How the agent is started, its " +
			"environment without secrets, its crashes", Response: city.Inspection{}},
		{Method: get, Path: "/v0/agent/{agent}/output", Summary: "The agent's last lines",
			Query: "lines tail before", Response: gascity.Output{}},
		{Method: get, Path: "/v0/agent/{agent}/peek", Summary: "The agent's last lines as a " +
			"single string",
			Query: "lines", Response: gascity.Peek{}},
		{Method: get, Path: "/v0/agent/{agent}/output/stream",
			Summary: "The agent's last lines, sent again after each change",
			Query:   "lines", Response: gascity.Output{}, Stream: true},
		{Method: get, Path: "/v0/agent/{agent}/stream",
			Summary: "The output of the agent's terminal as a stream", Response: city.Frame{},
			Stream: true},
		{Method: get, Path: "/v0/pools", Summary: "The pools", Query: paged + "rig",
			Response: city.Pool{}, List: true},
		{Method: get, Path: "/v0/pool/{pool}", Summary: "One pool", Query: waitParams,
			Response: city.Pool{}},
		{Method: get, Path: "/v0/rigs", Summary: "The project folders", Query: paged + "git",
			Response: city.Rig{}, List: true},
		{Method: get, Path: "/v0/rig/{rig}", Summary: "A project folder",
			Query: waitParams + " git", Response: city.Rig{}},
		{Method: get, Path: "/v0/automations", Summary: "The automations",
			Query: paged + "rig state gate", Response: city.Automation{}, List: true},
		{Method: get, Path: "/v0/automation/{automation}", Summary: "One automation",
			Query: waitParams, Response: city.Automation{}},
		{Method: get, Path: "/v0/automation/{automation}/history",
			Summary: "The automation's runs, newest first", Query: paged, Response: city.Run{},
			List: true},
		{Method: get, Path: "/v0/automation/{automation}/run/{run}/stream",
			Summary: "The output of a run as a stream", Response: city.Piece{}, Stream: true},
		{Method: get, Path: "/v0/watchdogs", Summary: "The watchdogs, with the " +
			"health of the agents they watch and the latest decisions", Query: paged,
			Response: city.Watchdog{}, List: true},
		{Method: get, Path: "/v0/watchdog/{watchdog}", Summary: "A watchdog", Query: waitParams,
			Response: city.Watchdog{}},
	}
}

func workReads() []openapi.Operation {
	const get, paged = "GET", waitParams + " limit cursor "
	return []openapi.Operation{
		{Method: get, Path: "/v0/beads", Summary: "Work, newest first", Query: gascity.Filter,
			Response: beads.Bead{}, List: true},
		{Method: get, Path: "/v0/bead/{bead}", Summary: "One bead", Query: waitParams,
			Response: beads.Bead{}},
		{Method: get, Path: "/v0/mail", Summary: "Messages to one address, or to all addresses",
			Query: paged + "to agent all status rig", Response: mail.Message{}, List: true},
		{Method: get, Path: "/v0/mail/{message}", Summary: "One message", Query: waitParams,
			Response: mail.Message{}},
		{Method: get, Path: "/v0/events", Summary: "The newest events, or those after a cursor",
			Query:    paged + "type actor subject since after_seq before_seq forward order",
			Response: events.Event{}, List: true},
		{Method: get, Path: "/v0/events/stream", Summary: "Events as a stream; " +
			"Last-Event-ID resumes it", Query: "type actor subject since" + gascity.Resumes,
			Response: events.Event{}, Stream: true},
	}
}

func verbs() []openapi.Operation {
	out := []openapi.Operation{{Method: "POST", Path: "/v0/agent/{agent}/attach",
		Summary: "Upgrade the connection to the agent's terminal",
		Query:   "cols rows raw", Text: "application/octet-stream"}}
	for _, v := range verb.All() {
		summary := v.API.Summary
		for _, part := range v.Parts() {
			path := "/v0/" + part
			if n := v.Noun; n != verb.City {
				path = fmt.Sprintf("/v0/%s/{%[1]s}/%s", n, part)
			}
			out = append(out, openapi.Operation{Method: "POST", Path: path, Summary: summary,
				Body:     v.API.Body,
				Response: city.Receipt{}})
			summary = "The same as /" + part // for the next path, which ends with the alias
		}
	}
	return out
}

func writes() []openapi.Operation {
	const post = "POST"
	return []openapi.Operation{
		{Method: post, Path: "/v0/beads", Summary: "Create a bead", Query: "rig",
			Body: gascity.NewBead{}, Response: gascity.CreatedBead{}},
		{Method: "PATCH", Path: "/v0/bead/{bead}", Summary: "Change a bead",
			Query: "force", Body: change{}, Response: city.Receipt{}},
		{Method: post, Path: "/v0/bead/{bead}/update", Summary: "The same as PATCH /v0/bead/{bead}",
			Query: "force",
			Body:  change{}, Response: city.Receipt{}},
		{Method: post, Path: "/v0/bead/{bead}/close", Summary: "Close a bead", Query: "force",
			Response: city.Receipt{}},
		{Method: post, Path: "/v0/mail", Summary: "Send a message", Body: sendRequest{},
			Response: gascity.Sent{}},
		{Method: post, Path: "/v0/mail/{message}/read", Summary: "Mark a message as read",
			Body:     markRequest{},
			Response: mail.Message{}},
		{Method: post, Path: "/v0/mail/{message}/archive", Summary: "Archive a message",
			Body:     markRequest{},
			Response: city.Receipt{}},
		{Method: post, Path: "/v0/mail/{message}/reply", Summary: "Reply to a message",
			Body:     sendRequest{},
			Response: gascity.Sent{}},
		{Method: post, Path: "/v0/sling", Summary: "Assign work", Body: gascity.Sling{},
			Response: city.Receipt{}},
		{Method: post, Path: "/v0/events", Summary: "Write a user-defined event",
			Body: events.Event{}, Response: city.Receipt{}},
	}
}

func typeNames() openapi.Names {
	return openapi.Names{
		reflect.TypeFor[wire.Cities](): "CitiesAnswer",
		reflect.TypeFor[wire.Agent]():  "Agent", reflect.TypeFor[city.Agent](): "AgentInSnapshot",
		reflect.TypeFor[city.Error](): "Error",
		// clients might already use these names
		reflect.TypeFor[gascity.CreatedBead](): "Made", reflect.TypeFor[sendRequest](): "Draft",
		reflect.TypeFor[markRequest]():       "Marking",
		reflect.TypeFor[wire.Registration](): "Enrolment",
	}
}
