// Package edit edits a city's files on behalf of commands. It changes the keys `suspended`, the rigs in city.toml, and
// the pool sizes that operators set by hand. An edit leaves comments and all other bytes unchanged.
//
// All functions may be called concurrently, even by several processes. A lock allows only one edit of a city at a
// time.
package edit
