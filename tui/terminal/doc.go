// Package terminal holds the pane of the control room: an agent's terminal or what a run prints, as it is now or as it
// was when scrolling began. It has the bookmarks in it, the search, and the compact form of a full-screen program.
//
// The package is pure. Package tui feeds it with News.
package terminal
