package widget

import (
	"slices"
)

// ShortTabs shortens the titles of panels that share one place to w columns. The visible panel keeps its name, its
// search and its count, and every other panel its key as long as there is room. The rest is shown as far as it
// fits: names, cut if necessary, then the number of hidden rows, counts and notes, those near the visible panel
// first. So the titles scroll with the visible panel.
func ShortTabs(all []Tab, w int, more string) []Tab {
	if TabsWidth(all) <= w {
		return all
	}
	all = slices.Clone(all)
	for i := range all {
		all[i].Tight = true
	}
	if TabsWidth(all) <= w {
		return all
	}
	for len(all) > 1 && TabsWidth(shortest(all)) > w && all[farFirst(all)[0]].Key != "" {
		i := farFirst(all)[0]
		all = slices.Delete(all, i, i+1)
	}
	short := shortest(all)
	near := farFirst(all)
	slices.Reverse(near)
	add := func(change func(t, full *Tab)) {
		for _, i := range near {
			old := short[i]
			if change(&short[i], &all[i]); TabsWidth(short) > w {
				short[i] = old
			}
		}
	}
	const beginning = 6 // of a name and of a search
	name := func(empty bool, most int) {
		add(func(t, full *Tab) {
			if full.Empty == empty {
				t.Name = Cut(full.Name, min(most, Width(full.Name)), more)
			}
		})
	}
	name(false, beginning)
	add(func(t, full *Tab) {
		if full.Alert && full.Extra != "0" {
			t.Extra = full.Extra
		}
	})
	name(false, w)
	name(true, beginning)
	name(true, w)
	for i := range short {
		if over := TabsWidth(short) - w; all[i].Active && over > 0 {
			short[i].Search = Cut(all[i].Search, max(beginning, Width(all[i].Search)-over), more)
		}
	}
	near = append(near, activeTab(all)...)
	add(func(t, full *Tab) { t.Hidden = full.Hidden })
	add(func(t, full *Tab) { t.Extra = full.Extra })
	add(func(t, full *Tab) { t.Note = full.Note })
	return short
}

// shortest returns the titles with nothing but their keys, and the name, search and count of the visible panel.
func shortest(all []Tab) []Tab {
	all = slices.Clone(all)
	for i := range all {
		t := &all[i]
		t.Hidden, t.Note = "", ""
		if !t.Active {
			t.Name, t.Extra, t.Search = "", "", ""
		}
	}
	return all
}

// activeTab returns the index of the visible panel, if there is one.
func activeTab(all []Tab) []int {
	if i := slices.IndexFunc(all, func(t Tab) bool { return t.Active }); i >= 0 {
		return []int{i}
	}
	return nil
}

// farFirst returns the indices of the titles except the active one, the farthest from it first. Of two equally far
// ones the right one comes first.
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

// TabAt returns the ID of the title at column x of a line, or "".
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

// tabGap returns the number of columns between two titles.
func tabGap(all []Tab) int {
	if len(all) > 0 && all[0].Tight {
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
