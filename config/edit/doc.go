// Package edit changes files of a city for commands: the suspended settings, the rigs in city.toml, and the sizes
// of pools that operators set by hand. An edit keeps every comment and every other byte.
//
// All functions may be called concurrently, also by several processes: edits of one city wait for each other.
package edit
