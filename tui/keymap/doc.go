// Package keymap defines the actions of the control room, their keys and zones, the registry that finds an action by
// key or ID, and the rules for user-defined keys.
//
// It does not depend on the control room: the host and the effects of actions are type parameters.
package keymap
