// Package details generates the text of detail views from the control room's lists and a snapshot of the city. It
// changes no state, except for the scroll position of a RunHistory.
package details
