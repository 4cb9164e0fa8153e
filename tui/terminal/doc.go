// Package terminal has the pane of the control room: an agent's terminal or a run's output, live or frozen when
// scrolling began. It has the bookmarks, the search, and the compact form of full-screen programs.
//
// The package is pure. Package tui/feed fills it with News.
package terminal
