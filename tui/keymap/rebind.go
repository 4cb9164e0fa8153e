package keymap

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gcity/internal/toml"
)

// Add appends actions.
func (r *Registry[H, E]) Add(more []Action[H, E]) {
	r.Actions = append(r.Actions, more...)
	r.byZone = map[Zone][]*Action[H, E]{}
	for i := range r.Actions {
		a := &r.Actions[i]
		if a.In == nil {
			a.In = []Zone{Everywhere}
		}
		for _, c := range a.In {
			r.byZone[c] = append(r.byZone[c], a)
		}
	}
}

// complaint reports a problem with a binding.
type complaint = func(place, format string, args ...any)

type claim[H, E any] struct {
	a        *Action[H, E]
	keys     []string
	position string
}

func claimed[H, E any](claims []*claim[H, E], a *Action[H, E]) bool {
	return slices.ContainsFunc(claims, func(c *claim[H, E]) bool { return c.a == a })
}

// Rebind applies user-defined keys and returns the problems with them. A user's binding has priority over a default,
// and an earlier binding over a later one.
func (r *Registry[H, E]) Rebind(bindings []Binding) (problems []string) {
	var claims []*claim[H, E]
	complain := func(place, format string, args ...any) {
		problems = append(problems, place+": keys: "+fmt.Sprintf(format, args...))
	}
	for _, b := range bindings {
		a := r.ByID(b.Action)
		switch {
		case a == nil:
			complain(b.Position, "%s", r.unknown(b.Action))
		case claimed(claims, a):
			complain(b.Position, "%s already has a binding; only the first one is used", a.ID)
		default:
			keys, wrong := a.wanted(b.Keys)
			for _, w := range wrong {
				complain(b.Position, "%s: %s", a.ID, w)
			}
			if keys != nil {
				claims = append(claims, &claim[H, E]{a, keys, b.Position})
			}
		}
	}
	r.keepEssential(claims, complain)
	resolveConflicts(claims, complain)
	r.removeFromDefaults(claims, complain)
	for _, c := range claims {
		c.a.setKeys(c.keys)
	}
	return problems
}

// ByID returns the action with the given ID, or nil.
func (r *Registry[H, E]) ByID(id string) *Action[H, E] {
	for i := range r.Actions {
		if r.Actions[i].ID == id {
			return &r.Actions[i]
		}
	}
	return nil
}

func (r *Registry[H, E]) unknown(id string) string {
	ids := make([]string, len(r.Actions))
	for i := range r.Actions {
		ids[i] = r.Actions[i].ID
	}
	if near := toml.Meant(id, ids); near != "" {
		return fmt.Sprintf("unknown action %q; did you mean %q?", id, near)
	}
	return fmt.Sprintf(
		"unknown action %q; `gcity help keys` lists the IDs, and the palette finds actions by "+
			"description",
		id)
}

// wanted returns the keys in list that the action can have, and what is wrong with the others. If keys is nil, the
// action keeps its current keys.
func (a *Action[H, E]) wanted(list []string) (keys, wrong []string) {
	keys = []string{}
	for _, text := range list {
		k, why := ParseKey(text)
		if why == "" {
			why = a.whyUnfit(k)
		}
		switch {
		case why != "":
			wrong = append(wrong, why)
		case !slices.Contains(keys, k):
			keys = append(keys, k)
		}
	}
	usual := strings.Join(a.Key.Keys(), " ")
	switch {
	case len(keys) > 0 && !slices.ContainsFunc(keys,
		func(k string) bool { return !functionKey(k) }):
		return nil,
			append(wrong,
				fmt.Sprintf(
					"many keyboards and terminals use f1 to f24 themselves; assign another key "+
						"too. The action keeps %s", cmp.Or(usual, "none")))
	case len(keys) == 0 && len(wrong) > 0:
		return nil, append(wrong[:len(wrong)-1],
			wrong[len(wrong)-1]+fmt.Sprintf(". The action keeps %s", cmp.Or(usual, "none")))
	case len(keys) == 0 && a.Essential():
		return nil,
			[]string{fmt.Sprintf(
				"the action needs a key, because users need it to quit or to get help; the "+
					"action keeps %s", usual)}
	}
	return keys, wrong
}

func (a *Action[H, E]) whyUnfit(k string) string {
	switch {
	case k == "ctrl+s" && !slices.Contains(a.In, InPeek):
		return "ctrl+s stops the output of many terminals; only the pane can use it"
	case typesCharacter(k) && slices.ContainsFunc(a.In, Zone.acceptsText):
		return fmt.Sprintf(
			"%s types a character in a text field; use a key with ctrl or alt, or a named key", k)
	}
	return ""
}

func typesCharacter(k string) bool { return k == "space" || len([]rune(k)) == 1 }

// Essential reports whether a user would be stuck without the action.
func (a *Action[H, E]) Essential() bool {
	return slices.Contains([]string{"quit", "view.help", "view.back", "view.palette"}, a.ID) ||
		!a.Reachable()
}

// Overlaps reports whether there is a zone in which both actions are active.
func (a *Action[H, E]) Overlaps(b *Action[H, E]) bool {
	if a.covers(b) || b.covers(a) {
		return true
	}
	return slices.ContainsFunc(a.In, func(c Zone) bool { return slices.Contains(b.In, c) })
}

func (a *Action[H, E]) covers(b *Action[H, E]) bool {
	return slices.Contains(a.In, Everywhere) && slices.ContainsFunc(b.In, func(c Zone) bool {
		return !c.Dialog() && !(c.ExcludesAgentVerbs() && a.IsAgentVerb())
	})
}

func (r *Registry[H, E]) keepEssential(claims []*claim[H, E], complain complaint) {
	for i := range r.Actions {
		a := &r.Actions[i]
		if !a.Essential() || claimed(claims, a) {
			continue
		}
		left := func(k string) bool {
			return !slices.ContainsFunc(claims,
				func(c *claim[H, E]) bool { return c.a.Overlaps(a) && slices.Contains(c.keys, k) })
		}
		if own := a.Key.Keys(); len(own) > 0 && !slices.ContainsFunc(own, left) {
			for _, c := range claims {
				if c.a.Overlaps(a) && slices.Contains(c.keys, own[0]) {
					complain(c.position, "%s cannot have %s, which is the last key of %s (%s)",
						c.a.ID, own[0], a.ID, a.Title())
					c.keys = withoutKey(c.keys, own[0])
				}
			}
		}
	}
}

func resolveConflicts[H, E any](claims []*claim[H, E], complain complaint) {
	for i, c := range claims {
		for _, before := range claims[:i] {
			if !before.a.Overlaps(c.a) {
				continue
			}
			for _, k := range before.keys {
				if slices.Contains(c.keys, k) {
					complain(c.position,
						"%s and %s both claim %s; %s keeps it, because its binding "+
							"comes first",
						before.a.ID, c.a.ID, k, before.a.ID)
					c.keys = withoutKey(c.keys, k)
				}
			}
		}
		c.restoreDefaults(claims[:i], complain)
	}
	for i, c := range claims { // a claim might have lost its last key to another claim
		c.restoreDefaults(slices.Concat(claims[:i], claims[i+1:]), complain)
	}
}

// restoreDefaults gives unused default keys to an essential action that has lost all claimed keys.
func (c *claim[H, E]) restoreDefaults(others []*claim[H, E], complain complaint) {
	own := c.a.Key.Keys()
	if len(c.keys) > 0 || !c.a.Essential() || len(own) == 0 {
		return
	}
	has := func(o *claim[H, E], k string) bool {
		return o.a.Overlaps(c.a) &&
			slices.Contains(o.keys, k)
	}
	for _, k := range own {
		if !slices.ContainsFunc(others, func(o *claim[H, E]) bool { return has(o, k) }) {
			c.keys = append(c.keys, k)
		}
	}
	if len(c.keys) > 0 {
		return
	}
	c.keys = own[:1]
	for _, o := range others {
		if has(o, own[0]) {
			complain(o.position, "%s cannot have %s, which is the last key of %s (%s)",
				o.a.ID, own[0], c.a.ID, c.a.Title())
			o.keys = withoutKey(o.keys, own[0])
		}
	}
}

func (r *Registry[H, E]) removeFromDefaults(claims []*claim[H, E], complain complaint) {
	for i := range r.Actions {
		a := &r.Actions[i]
		if claimed(claims, a) {
			continue
		}
		own := slices.Clone(a.Key.Keys())
		for _, c := range claims {
			for _, k := range c.keys {
				if !c.a.Overlaps(a) || !slices.Contains(own, k) {
					continue
				}
				own = withoutKey(own, k)
				left := "has no key now; assign a different one, or \"\" to hide this message"
				if len(own) > 0 {
					left = "keeps " + strings.Join(own, " ")
				}
				complain(c.position, "%s and %s both claim %s; it goes to %s, and %s %s",
					c.a.ID, a.ID, k, c.a.ID, a.ID, left)
			}
		}
		if len(own) < len(a.Key.Keys()) {
			a.setKeys(own)
		}
	}
}

func withoutKey(keys []string, k string) []string {
	return slices.DeleteFunc(slices.Clone(keys), func(have string) bool { return have == k })
}

func (a *Action[H, E]) setKeys(keys []string) {
	if len(keys) == 0 {
		keys = nil
	}
	a.Key = Bind(a.Title(), keys...)
}
