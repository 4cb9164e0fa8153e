// Package edit changes a city's files for commands: the suspended flag of an agent, a rig or the city, the rigs of
// city.toml, and the sizes of pools that operators set by hand. An edit keeps every comment and every other byte.
//
// All functions may be called concurrently, also by several processes: edits of one city wait for each other.
package edit
