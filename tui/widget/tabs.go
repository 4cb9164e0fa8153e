package widget

import (
	"slices"
)

// ShortTabs shortens the titles of panels that share a place, so that they fit into w columns. The visible panel keeps
// its name, search and counts.
func ShortTabs(all []Tab, w int, more string) []Tab {
	if TabsWidth(all) <= w {
		return all
	}
	all = slices.Clone(all)
	for i := range all {
		all[i].Compact = true
	}
	if TabsWidth(all) <= w {
		return all
	}
	for far := farFirst(all); len(far) > 0 && TabsWidth(shortest(all)) > w; far = farFirst(all) {
		all = slices.Delete(all, far[0], far[0]+1)
	}
	return withHidden(extended(all, w, more), all, w, more)
}

const beginning = 6 // minimum width of a shortened name or search

func shortest(all []Tab) []Tab {
	all = slices.Clone(all)
	for i := range all {
		t := &all[i]
		t.Hidden, t.CountNote = "", ""
		if !t.Active {
			t.Name, t.Count, t.Search = "", "", ""
		}
	}
	return all
}

func extended(all []Tab, w int, more string) []Tab {
	short, near := shortest(all), farFirst(all)
	slices.Reverse(near)
	try := func(i int, change func(t, full *Tab)) {
		old := short[i]
		if change(&short[i], &all[i]); TabsWidth(short) > w {
			short[i] = old
		}
	}
	for i := range all {
		if !all[i].Active {
			continue
		}
		if over := TabsWidth(short) - w; over > 0 && all[i].Search != "" {
			short[i].Search = Cut(all[i].Search, max(beginning, Width(all[i].Search)-over), more)
		}
		try(i, func(t, full *Tab) { t.CountNote = full.CountNote })
	}
	for _, change := range []func(t, full *Tab){
		func(t, full *Tab) { t.Name = Cut(full.Name, min(beginning, Width(full.Name)), more) },
		func(t, full *Tab) {
			if full.Alert && full.Count != "0" {
				t.Count = full.Count
			}
		},
		func(t, full *Tab) { t.Name = full.Name },
		func(t, full *Tab) {
			if full.Alert && full.Count != "0" {
				t.CountNote = full.CountNote
			}
		},
		func(t, full *Tab) { t.Count = full.Count },
		func(t, full *Tab) { t.CountNote = full.CountNote },
	} {
		for _, i := range near {
			try(i, change)
		}
	}
	return short
}

func withHidden(short, all []Tab, w int, more string) []Tab {
	with := slices.Clone(short)
	for i := range with {
		with[i].Hidden = all[i].Hidden
	}
	far := farFirst(with)
	for _, most := range []int{beginning, 0} {
		for _, i := range far {
			if t := &with[i]; TabsWidth(with) > w && t.CountNote == "" &&
				(!t.Alert || t.Count == "") {
				t.Name, t.Count = Cut(t.Name, min(most, Width(t.Name)), more), ""
			}
		}
	}
	if TabsWidth(with) > w {
		return short
	}
	return with
}

func farFirst(all []Tab) []int {
	at := slices.IndexFunc(all, func(t Tab) bool { return t.Active })
	var order []int
	for i := len(all) - 1; i >= 0; i-- {
		if i != at {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return max(b-at, at-b) - max(a-at, at-a) })
	return order
}

// TabAt returns the ID of the tab at column x of the row of tabs, or "".
func TabAt(all []Tab, x int) string {
	at, gap := 1, tabGap(all)
	for _, t := range all {
		n := t.Width()
		if x >= at && x < at+n {
			return t.ID
		}
		at += n + gap
	}
	return ""
}

func tabGap(all []Tab) int {
	if len(all) > 0 && all[0].Compact {
		return 1
	}
	return 2
}

// TabsWidth returns the minimum width of a line with these titles.
func TabsWidth(all []Tab) int {
	n := 1 + tabGap(all)*(len(all)-1)
	for i := range all {
		n += all[i].Width()
	}
	return n
}
