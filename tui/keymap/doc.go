// Package keymap holds the actions of the control room: their keys, the zones in which keys are heard, the registry
// that finds an action by a key or an id, and the rules for keys that a user chooses.
//
// It does not know the control room. An action takes its host and its effects as type parameters.
package keymap
