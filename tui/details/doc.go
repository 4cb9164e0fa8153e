// Package details has the texts of detail views. It makes them from the lists of the control room and a snapshot of
// the city, and changes no state.
package details
