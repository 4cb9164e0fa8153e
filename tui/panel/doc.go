// Package panel has the lists of the control room: agents, pools, quarantine, automations, events, watchdogs,
// rigs, work and mail. All are based on one generic table. A panel is a definition of that table: its rows, columns,
// filter, orders, details and the actions that only it has.
//
// A panel does no I/O and does not know the control room. It gets an Env, and its actions return requests.
package panel
