// Package panel implements the lists of the control room: agents, pools, quarantine, automations, events, watchdogs,
// rigs, work and mail. All are based on one generic table. A panel defines the rows, columns, filter, sort orders and
// details of its table, and its own actions.
//
// A panel performs no I/O and does not depend on the control room. It receives an Env, and its actions return requests.
package panel
