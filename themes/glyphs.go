package themes

// Glyphs are the signs of the control room, each one column wide.
type Glyphs struct {
	Running, Suspended, Exited           string
	Failed, Starting, Waiting            string
	Backoff, Leaving                     string
	Cursor, Mark, Alert, Done, More, Dot string
	Mail                                 string
	// signs before the number of further rows above or below
	Above, Below string

	// Thin and Heavy are horizontal lines; Heavy is for the focused panel. Bar is a vertical line.
	Thin, Heavy, Bar string
	// Join has the signs where the vertical bar meets the lines at its left and right: 0 none, 1 thin, 2 heavy. Top has
	// the signs for a bar that begins there.
	Join, Top [3][3]string
	Foot      [3]string // sign where the bar ends on a line: no line, a thin or a heavy one
	// HeavyBar and Corner frame dialogs: top left, top right, bottom left, bottom right.
	HeavyBar string
	Corner   [4]string
	// Spark has the signs for two neighbouring bars of a small chart, by their heights: 0 nothing, 1 the base line, up
	// to 4.
	Spark [5][5]string
	// Blocks are the bars of a chart, by their heights.
	Blocks [8]string
}

// Unicode returns the default set, with narrow signs only.
func Unicode() Glyphs {
	return Glyphs{
		Running: "●", Suspended: "○", Exited: "○",
		Failed: "✗", Starting: "◐", Waiting: "◌",
		Backoff: "↻", Leaving: "↓",
		Cursor: ">", Mark: "+", Alert: "!", Done: "✓", More: "…", Dot: "·", Mail: "▤", Above: "↑",
		Below: "↓",
		Thin:  "─", Heavy: "━", Bar: "│",
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
		Failed: "X", Starting: "o", Waiting: "?",
		Backoff: "@", Leaving: "v",
		Cursor: ">", Mark: "+", Alert: "!", Done: "*", More: "~", Dot: "-", Mail: "%", Above: "^",
		Below: "v",
		Thin:  "-", Heavy: "=", Bar: "|",
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
