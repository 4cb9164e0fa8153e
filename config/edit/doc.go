// Package edit changes files of a city for commands: the suspended settings, the rigs in city.toml, and the sizes of
// pools that operators set by hand. An edit keeps all comments and all other bytes.
//
// All functions may be called concurrently, even by several processes, because edits of one city wait for each other.
package edit
