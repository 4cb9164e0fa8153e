package widget

import "slices"

// ShortTabs shortens the titles of panels that share one place to w columns. It removes, in this order: the notes;
// the names of hidden panels, those far from the visible one first; the keys of these panels; the end of the search.
// The titles next to the visible panel therefore stay longest. A name may be removed to show a number of hidden rows;
// nothing else may.
func ShortTabs(all []Tab, w int, more string) []Tab {
	all = slices.Clone(all)
	over := func() int { return TabsWidth(all) - w }
	far := farFirst(all)
	for _, i := range far {
		if TabsWidth(WithoutHidden(all)) > w {
			all[i].Note = ""
		}
	}
	if over() > 0 && slices.ContainsFunc(far, func(i int) bool { return all[i].Note != "" }) {
		all = WithoutHidden(all)
	}
	for _, i := range far {
		if over() > 0 {
			all[i].Name = ""
		}
	}
	if over() > 0 {
		all = WithoutHidden(all)
	}
	if over() > 0 { // cut the search of the visible panel
		for i := range all {
			all[i].Note = ""
		}
	}
	for over() > 0 && len(all) > 1 {
		i := farFirst(all)[0]
		all = slices.Delete(all, i, i+1)
	}
	const beginning = 6 // number of characters of the search that stay
	for i := range all {
		if text := all[i].Search; text != "" && over() > 0 {
			all[i].Search = Cut(text, max(beginning, Width(text)-over()),
				more)
		}
	}
	return all
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
