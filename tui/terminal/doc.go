// Package terminal implements the pane of the control room. The pane shows an agent's terminal or a run's output: live,
// or frozen at the moment when the user began to scroll. The package includes the bookmarks, the search, and the
// compact form of full-screen programs.
//
// The package performs no I/O. Package tui/feed supplies the News.
package terminal
