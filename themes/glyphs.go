package themes

// Glyphs contains the symbols that the control room draws. Each is one column wide, except OK in ASCII.
type Glyphs struct {
	Running, Suspended, Exited string
	Failed, Starting, Waiting  string
	Backoff, Leaving           string
	SharedStates
	Cursor, Mark, Alert, Done, More, Dot string
	Mail                                 string
	// Here marks the control room's city in the list of cities. OK is for good news.
	Here, OK string
	// before the number of hidden rows above or below
	Above, Below string

	// Thin and Heavy are horizontal lines; Heavy is for the focused panel. Bar is a vertical line.
	Thin, Heavy, Bar string
	// Join contains the symbols for a vertical bar between a left and a right line, by their weights: 0 none, 1 thin, 2
	// heavy. Top is for the top of a bar.
	Join, Top [3][3]string
	Foot      [3]string // bottom of a bar: on no line, on a thin line, on a heavy line
	// HeavyBar and Corner draw the frames of dialogs. The order of Corner is top left, top right, bottom left, bottom
	// right.
	HeavyBar string
	Corner   [4]string
	// Spark contains the symbols for two adjacent bars of a small chart, by their heights: 0 nothing, 1 the base line,
	// up to 4.
	Spark [5][5]string
	// Blocks contains the bars of a chart, by height.
	Blocks [8]string
}

// SharedStates contains the symbols of states that have their own symbol in ASCII but share one with another state in
// Unicode.
type SharedStates struct {
	Quarantined, Stopping, Stopped, Unknown, Shrinking, Manual string // agents, pools, automations
	Refused, Silent, Stalled                                   string // cities
}

// Unicode returns the default set. It contains only narrow symbols.
func Unicode() Glyphs {
	return Glyphs{
		Running: "●", Suspended: "○", Exited: "○",
		Failed: "✗", Starting: "◐", Waiting: "◌",
		Backoff: "↻", Leaving: "↓",
		SharedStates: SharedStates{
			Quarantined: "✗", Stopping: "↓", Stopped: "○", Unknown: "!", Shrinking: "↓",
			Manual: "○", Refused: "✗", Silent: "!", Stalled: "!",
		},
		Cursor: ">", Mark: "+", Alert: "!", Done: "✓", More: "…", Dot: "·", Mail: "▤", Above: "↑",
		Below: "↓", Here: "◆", OK: "✓",
		Thin: "─", Heavy: "━", Bar: "│",
		Join: [3][3]string{{"│", "├", "┝"}, {"┤", "┼", "┾"}, {"┥", "┽", "┿"}},
		Top:  [3][3]string{{"│", "┌", "┍"}, {"┐", "┬", "┮"}, {"┑", "┭", "┯"}},
		Foot: [3]string{"│", "┴", "┷"}, HeavyBar: "┃", Corner: [4]string{"┏", "┓", "┗", "┛"},
		Spark: [5][5]string{
			{" ", "⢀", "⢠", "⢰", "⢸"},
			{"⡀", "⣀", "⣠", "⣰", "⣸"},
			{"⡄", "⣄", "⣤", "⣴", "⣼"},
			{"⡆", "⣆", "⣦", "⣶", "⣾"},
			{"⡇", "⣇", "⣧", "⣷", "⣿"},
		},
		Blocks: [8]string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
	}
}

// ASCII returns the set for terminals and locales without Unicode.
func ASCII() Glyphs {
	return Glyphs{
		Running: "*", Suspended: "-", Exited: ".",
		Failed: "X", Starting: "o", Waiting: "w",
		Backoff: "b", Leaving: "d",
		SharedStates: SharedStates{
			Quarantined: "Q", Stopping: "s", Stopped: "S", Unknown: "U", Shrinking: "<",
			Manual: "m", Refused: "R", Silent: "z", Stalled: "L",
		},
		Cursor: ">", Mark: "+", Alert: "!", Done: "c", More: "~", Dot: "-", Mail: "%", Above: "^",
		Below: "v", Here: "h", OK: "ok",
		Thin: "-", Heavy: "=", Bar: "|",
		Join: [3][3]string{{"|", "+", "+"}, {"+", "+", "+"}, {"+", "+", "+"}},
		Top:  [3][3]string{{"|", "+", "+"}, {"+", "+", "+"}, {"+", "+", "+"}},
		Foot: [3]string{"|", "+", "+"}, HeavyBar: "|", Corner: [4]string{"+", "+", "+", "+"},
		Spark: [5][5]string{
			{" ", "_", ".", ":", "#"},
			{"_", "_", ".", ":", "#"},
			{".", ".", ".", ":", "#"},
			{":", ":", ":", ":", "#"},
			{"#", "#", "#", "#", "#"},
		},
		Blocks: [8]string{"_", ".", ":", "-", "=", "+", "*", "#"},
	}
}
