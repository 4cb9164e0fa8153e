package api

import "gcity/city"

// fleetOperations are all that a supervisor offers. What it says of all cities stands where a city that is alone says it of itself.
func fleetOperations() []operation {
	const get, post = "GET", "POST"
	return append(operations(),
		operation{method: post, path: "/v0/cities", summary: "Register the city in a folder, under the name that it has", body: enrolment{}, answer: city.Info{}, machine: true},
		operation{method: get, path: "/v0/cities/stream", summary: "The cities, whenever something about them changed", answer: citiesAnswer{}, stream: true, machine: true},
		operation{method: post, path: "/v0/city/{city}/register", summary: "Register the city in a folder, which has to be called so", body: enrolment{}, answer: city.Info{}, machine: true},
		operation{method: post, path: "/v0/city/{city}/unregister", summary: "Stop a city with its agents, and forget it", answer: city.Receipt{}, machine: true},
		operation{method: get, path: "/v0/agents", summary: "The agents of all cities", query: news + " limit cursor city pool rig running state peek", answer: agentsAnswer{}, machine: true},
		operation{method: get, path: "/v0/events", summary: "The newest events of all cities, or those after a cursor", query: news + " limit cursor city type actor subject since before", answer: eventsAnswer{}, machine: true},
		operation{method: get, path: "/v0/events/stream", summary: "Events of all cities as they come; resumed by Last-Event-ID", query: "city type actor subject since after", answer: city.Tagged{}, stream: true, machine: true},
	)
}
