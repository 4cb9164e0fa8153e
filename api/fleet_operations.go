package api

import (
	"gcity/api/gascity"
	"gcity/api/openapi"
	"gcity/api/wire"
	"gcity/city"
)

func fleetOperations() []openapi.Operation {
	const get, post = "GET", "POST"
	return append(operations(),
		openapi.Operation{Method: post, Path: "/v0/cities", Summary: "Register the city in a " +
			"folder, with the name in its city.toml", Body: wire.Registration{},
			Response: city.Info{}, Machine: true},
		openapi.Operation{Method: get, Path: "/v0/cities/stream",
			Summary: "The cities, sent again after each change", Response: wire.Cities{},
			Stream: true, Machine: true},
		openapi.Operation{Method: post, Path: "/v0/city/{city}/register",
			Summary:  "Register the city in a folder; fails if the city has a different name",
			Body:     wire.Registration{},
			Response: city.Info{}, Machine: true},
		openapi.Operation{Method: post, Path: "/v0/city/{city}/unregister",
			Summary: "Stop a city and its agents, and unregister it", Response: city.Receipt{},
			Machine: true},
		openapi.Operation{Method: get, Path: "/v0/agents", Summary: "The agents of all cities",
			Query:    waitParams + " limit cursor city pool rig running state peek",
			Response: agentsAnswer{}, Machine: true},
		openapi.Operation{Method: get, Path: "/v0/events", Summary: "The newest events of all " +
			"cities, or those after a cursor", Query: waitParams + " limit cursor city type " +
			"actor subject since before order", Response: eventsAnswer{}, Machine: true},
		openapi.Operation{Method: get, Path: "/v0/events/stream",
			Summary: "Events of all cities as a stream; Last-Event-ID resumes it",
			Query:   "city type actor subject since" + gascity.Resumes, Response: city.Tagged{},
			Stream: true, Machine: true},
	)
}
