// Package keymap holds the actions of the control room: their keys, the zones of keys, the registry that finds an
// action by key or ID, and the rules for user-defined keys.
//
// It does not know the control room. The host and the effects of actions are type parameters.
package keymap
