// Package terminal implements the pane of the control room, which shows an agent's terminal or a run's output, live, or
// frozen when scrolling began. It includes the bookmarks, the search, and the compact form of full-screen programs.
//
// The package performs no I/O. Package tui/feed supplies the News.
package terminal
