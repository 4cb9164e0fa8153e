package api

import (
	"gcity/api/gascity"
	"gcity/api/openapi"
	"gcity/api/wire"
	"gcity/city"
)

func fleetOperations() []openapi.Operation {
	get, stream, post := openapi.Get, openapi.Stream, openapi.Post
	return append(operations(),
		machine(post("/v0/cities", "Register the city in a folder, with the name in its city.toml",
			wire.Registration{}, city.Info{}).Requires("path")),
		machine(stream("/v0/cities/stream", "cities", "The cities, sent again after each change",
			"", wire.Cities{})),
		machine(post("/v0/city/{city}/register", "Register the city in a folder; fails if the "+
			"city's name is not the one in the path", wire.Registration{}, city.Info{}).
			Requires("path")),
		machine(post("/v0/city/{city}/unregister", "Stop a city and its agents, and unregister it",
			nil, city.Receipt{})),
		machine(get("/v0/agents", "The agents of all cities",
			waitParams+" limit cursor city pool rig running state peek", agentsAnswer{})),
		machine(get("/v0/events", "The newest events of all cities, or those after a cursor",
			waitParams+" limit cursor city type actor subject since before order", eventsAnswer{})),
		machine(stream("/v0/events/stream", "", "Events of all cities as a stream; Last-Event-ID "+
			"resumes it", "city type actor subject since"+gascity.Resumes, city.Tagged{})),
	)
}
