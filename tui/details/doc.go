// Package details has the texts of detail views. They are made from the lists of the control room and a snapshot of the
// city; nothing here changes state.
package details
