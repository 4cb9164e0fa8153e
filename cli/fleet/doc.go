// Package fleet contains the commands about many cities: the registry, the supervisor and the list of all cities.
package fleet
