package tui

import (
	"gcity/tui/feed"
	"gcity/tui/widget"
	"slices"
)

// draftTo is an unsent text for some agents.
type draftTo struct {
	to []string
	unsent
	subject string // only for mail
}

const maxDrafts = 20

// draftOf returns the index of the draft for these agents, or -1.
func draftOf(m *model, to []string) int {
	return slices.IndexFunc(m.drafts, func(d draftTo) bool { return sameNames(d.to, to) })
}

func forgetDraft(m *model, to []string) {
	m.drafts = slices.DeleteFunc(slices.Clone(m.drafts), func(d draftTo) bool {
		return sameNames(d.to, to)
	})
}

// sameNames compares two lists without duplicates, ignoring order.
func sameNames(a, b []string) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(name string) bool {
		return !slices.Contains(b, name)
	})
}

// Limits of the stored texts.
const (
	maxSent     = 50
	maxSentText = 4 << 10  // bytes of one text; a longer one is not stored
	maxSentAll  = 64 << 10 // bytes of all texts together
)

// rememberSent stores a text that was sent and removes an older copy of it.
func rememberSent(m *model, text string) {
	if len(text) > maxSentText || text == "" {
		return
	}
	m.sent = slices.DeleteFunc(slices.Clone(m.sent), func(old string) bool { return old == text })
	m.sent = append(m.sent, text)
	size, from := 0, len(m.sent)
	for from > max(0, len(m.sent)-maxSent) && size+len(m.sent[from-1]) <= maxSentAll {
		from--
		size += len(m.sent[from])
	}
	m.sent = m.sent[from:]
}

// setSent restores the texts of an earlier visit, oldest first.
func setSent(m *model, texts []string) {
	m.sent = nil
	for _, text := range texts {
		rememberSent(m, widget.Legible(text))
	}
}

// posting is mail that is being sent, and its draft.
type posting struct {
	id    int // ID of the awaited action
	draft draftTo
}

// undelivered keeps mail that could not be sent as a draft for the recipients that did not get it.
func undelivered(m *model, r *feed.Result) {
	i := slices.IndexFunc(m.posted, func(p posting) bool { return p.id == r.ID })
	if i < 0 {
		return
	}
	d := m.posted[i].draft
	m.posted = slices.Delete(slices.Clone(m.posted), i, i+1)
	var to []string
	for n, name := range d.to {
		if slices.Contains(r.Refused, n) {
			to = append(to, name)
		}
	}
	if d.to = to; len(to) > 0 && draftOf(m, to) < 0 {
		keepDraft(m, d)
	}
}

func keepDraft(m *model, d draftTo) {
	m.drafts = append(m.drafts, d)
	m.drafts = m.drafts[max(0, len(m.drafts)-maxDrafts):]
}
