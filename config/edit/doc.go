// Package edit edits a city's files on behalf of commands. It changes the suspended settings, the rigs in city.toml,
// and the pool sizes that operators set by hand. An edit keeps all comments and all other bytes.
//
// All functions may be called concurrently, even by several processes, because edits to the same city wait for each
// other.
package edit
