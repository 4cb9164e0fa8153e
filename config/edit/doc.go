// Package edit edits a city's files for commands. It changes `suspended` keys, the rigs in city.toml, and manual pool
// sizes. An edit leaves comments and all other bytes unchanged.
//
// All functions may be called concurrently, even by several processes.
package edit
