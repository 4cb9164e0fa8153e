package api

import (
	"gcity/api/gascity"
	"gcity/api/openapi"
	"gcity/api/wire"
	"gcity/city"
)

// fleetOperations are all that a supervisor offers. What it says of all cities stands where a city that is alone
// says it of itself.
func fleetOperations() []openapi.Operation {
	const get, post = "GET", "POST"
	return append(operations(),
		openapi.Operation{Method: post, Path: "/v0/cities", Summary: "Register the city in a " +
			"folder, under the name that it has", Body: wire.Enrolment{}, Answer: city.Info{},
			Machine: true},
		openapi.Operation{Method: get, Path: "/v0/cities/stream",
			Summary: "The cities, whenever something about them changed", Answer: wire.Cities{},
			Stream: true, Machine: true},
		openapi.Operation{Method: post, Path: "/v0/city/{city}/register",
			Summary: "Register the city in a folder, which has to be called so",
			Body:    wire.Enrolment{},
			Answer:  city.Info{}, Machine: true},
		openapi.Operation{Method: post, Path: "/v0/city/{city}/unregister",
			Summary: "Stop a city with its agents, and forget it", Answer: city.Receipt{},
			Machine: true},
		openapi.Operation{Method: get, Path: "/v0/agents", Summary: "The agents of all cities",
			Query: news + " limit cursor city pool rig running state peek", Answer: agentsAnswer{},
			Machine: true},
		openapi.Operation{Method: get, Path: "/v0/events", Summary: "The newest events of all " +
			"cities, or those after a cursor", Query: news + " limit cursor city type actor " +
			"subject since before order", Answer: eventsAnswer{}, Machine: true},
		openapi.Operation{Method: get, Path: "/v0/events/stream",
			Summary: "Events of all cities as they come; resumed by Last-Event-ID",
			Query:   "city type actor subject since" + gascity.Resumes, Answer: city.Tagged{},
			Stream: true, Machine: true},
	)
}
