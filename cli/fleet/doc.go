// Package fleet implements the commands that act on many cities: the registry, the supervisor and the list of all
// cities.
package fleet
