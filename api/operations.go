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

func machine(o openapi.Operation) openapi.Operation {
	o.Machine = true
	return o
}

func cityReads() []openapi.Operation {
	get, stream := openapi.Get, openapi.Stream
	return []openapi.Operation{
		machine(get("/health", "Whether the controller responds, and the city's problems", "",
			healthAnswer{})),
		machine(get("/v0/health", "The same as /health", "", healthAnswer{})),
		{Method: "GET", Path: "/metrics", Summary: "Metrics in the Prometheus text format",
			Text: "text/plain", Machine: true},
		machine(get("/v0/openapi.json", "This document", "", nil)),
		machine(get("/v0/cities", "The cities of this server", "limit cursor", wire.Cities{})),
		get("/v0/status", "The status of the city, with the number of agents, pools and rigs",
			waitParams, Status{}),
		get("/v0/city", "The same as /v0/status", waitParams, Status{}),
		get("/v0/snapshot", "The whole state, as the control room uses it", waitParams+" view",
			city.Snapshot{}),
		stream("/v0/snapshot/stream", "snapshot", "The same as /v0/snapshot, sent again after "+
			"each change", "", city.Snapshot{}),
		get("/v0/config", "The active configuration, without secrets", waitParams,
			wire.ConfigText{}),
		get("/v0/config/explain/{agent}", "The effective values of an agent, a pool or a rig, "+
			"and their sources", waitParams, wire.ConfigText{}),
	}
}

func listReads() []openapi.Operation {
	const paged = waitParams + " limit cursor "
	get, list, stream := openapi.Get, openapi.List, openapi.Stream
	return []openapi.Operation{
		list("/v0/agents", "The agents", paged+"pool rig running state peek", wire.Agent{}),
		list("/v0/quarantine", "The agents in quarantine", paged+"peek", wire.Agent{}),
		get("/v0/agent/{agent}", "One agent", waitParams+" peek", wire.Agent{}),
		get("/v0/agent/{agent}/inspect", "How the agent is started, its environment without "+
			"secrets, its crashes", "", city.Inspection{}),
		get("/v0/agent/{agent}/output", "The agent's last lines", "lines tail before",
			gascity.Output{}),
		get("/v0/agent/{agent}/peek", "The agent's last lines as a single string", "lines",
			gascity.Peek{}),
		stream("/v0/agent/{agent}/output/stream", "turn", "The agent's last lines, sent again "+
			"after each change", "lines", gascity.Output{}),
		stream("/v0/agent/{agent}/stream", "frame", "The output of the agent's terminal as a "+
			"stream", "", city.Frame{}),
		list("/v0/pools", "The pools", paged+"rig", city.Pool{}),
		get("/v0/pool/{pool}", "One pool", waitParams, city.Pool{}),
		list("/v0/rigs", "The project folders", paged+"git", city.Rig{}),
		get("/v0/rig/{rig}", "A project folder", waitParams+" git", city.Rig{}),
		list("/v0/automations", "The automations", paged+"rig state gate", city.Automation{}),
		get("/v0/automation/{automation}", "One automation", waitParams, city.Automation{}),
		list("/v0/automation/{automation}/history", "The automation's runs, newest first", paged,
			city.Run{}),
		stream("/v0/automation/{automation}/run/{run}/stream", "piece", "The output of a run as "+
			"a stream", "", city.Piece{}),
		list("/v0/watchdogs", "The watchdogs, with the health of the agents they watch and the "+
			"latest decisions", paged, city.Watchdog{}),
		get("/v0/watchdog/{watchdog}", "A watchdog", waitParams, city.Watchdog{}),
	}
}

func workReads() []openapi.Operation {
	const paged = waitParams + " limit cursor "
	get, list, stream := openapi.Get, openapi.List, openapi.Stream
	return []openapi.Operation{
		list("/v0/beads", "Beads of the city and its rigs, newest first, including messages and "+
			"runs", gascity.Filter, beads.Bead{}),
		get("/v0/bead/{bead}", "One bead", waitParams, city.Located{}),
		list("/v0/mail", "Messages to one address, or to all addresses",
			paged+"to agent all status rig", mail.Message{}),
		get("/v0/mail/{message}", "One message", waitParams, mail.Message{}),
		list("/v0/events", "The newest events, or those after a cursor",
			paged+"type actor subject since after_seq before_seq forward order", events.Event{}),
		stream("/v0/events/stream", "", "Events as a stream; Last-Event-ID resumes it",
			"type actor subject since"+gascity.Resumes, events.Event{}),
	}
}

func verbs() []openapi.Operation {
	out := []openapi.Operation{{Method: "POST", Path: "/v0/agent/{agent}/attach",
		Summary: "Upgrade the connection to the agent's terminal",
		Query:   "cols rows raw", Upgrade: wire.Protocol}}
	for _, v := range verb.All() {
		summary := v.API.Summary
		for _, part := range v.Parts() {
			path := "/v0/" + part
			if n := v.Noun; n != verb.City {
				path = fmt.Sprintf("/v0/%s/{%[1]s}/%s", n, part)
			}
			out = append(out, openapi.Post(path, summary, v.API.Body, city.Receipt{}).
				Requires(v.API.Required))
			summary = "The same as /" + part // for the next path, which ends with the alias
		}
	}
	return out
}

func writes() []openapi.Operation {
	post := openapi.Post
	return []openapi.Operation{
		{Method: "POST", Path: "/v0/beads", Summary: "Create a bead", Query: "rig",
			Body: gascity.NewBead{}, Required: "title", Response: gascity.CreatedBead{}},
		{Method: "PATCH", Path: "/v0/bead/{bead}", Summary: "Change a bead",
			Query: "force", Body: change{}, Response: city.Receipt{}},
		{Method: "POST", Path: "/v0/bead/{bead}/update",
			Summary: "The same as PATCH /v0/bead/{bead}",
			Query:   "force",
			Body:    change{}, Response: city.Receipt{}},
		{Method: "POST", Path: "/v0/bead/{bead}/close", Summary: "Close a bead", Query: "force",
			Response: city.Receipt{}},
		post("/v0/mail", "Send a message", sendRequest{}, gascity.Sent{}),
		post("/v0/mail/{message}/read", "Mark a message as read", markRequest{}, mail.Message{}),
		post("/v0/mail/{message}/archive", "Archive a message", markRequest{}, city.Receipt{}),
		post("/v0/mail/{message}/reply", "Reply to a message", sendRequest{}, gascity.Sent{}),
		post("/v0/sling", "Assign work", gascity.Sling{}, city.Receipt{}),
		post("/v0/events", "Write a user-defined event", events.Event{}, city.Receipt{}).
			Requires("type"),
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
