// Package details generates the text of detail views from the control room's lists and a snapshot of the city. It does
// not change any state except the scroll position of a RunHistory.
package details
