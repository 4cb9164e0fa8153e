package themes

// Glyphs are the signs of the control room, each one column wide.
type Glyphs struct {
	Running, Suspended, Exited           string
	Failed, Starting, Waiting            string
	Backoff, Leaving                     string
	Cursor, Mark, Alert, Done, More, Dot string
	Mail                                 string
	Above, Below                         string // that many more rows

	// Rules: thin, and heavy for the focused panel.
	Thin, Heavy, Bar string
	// Join gives the sign where the bar meets rules on its left and right: 0 none, 1 thin, 2 heavy. Top is the same
	// under a rule that has nothing above it.
	Join, Top [3][3]string
	Foot      [3]string // the bar meets a rule below it, thin or heavy
	// HeavyBar and Corner frame dialogs: top left, top right, bottom left, bottom right.
	HeavyBar string
	Corner   [4]string
	// Spark is two neighbouring bars of a small chart, by their heights: 0 nothing, 1 the ground, up to 4.
	Spark [5][5]string
}

// Unicode is the usual set: narrow signs only.
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
	}
}

// ASCII is for terminals and locales that show nothing else.
func ASCII() Glyphs {
	return Glyphs{
		Running: "*", Suspended: "-", Exited: ".",
		Failed: "X", Starting: "~", Waiting: "?",
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
	}
}
