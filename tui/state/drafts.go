package state

import (
	"slices"
	"strings"

	"gcity/tui/dialog"
	"gcity/tui/feed"
	"gcity/tui/palette"
	"gcity/tui/widget"
)

// DraftTo is an unsent message together with its recipients.
type DraftTo struct {
	To []string
	Unsent
	Subject string // only for mail
}

const maxDrafts = 20

// DraftOf returns the index of the draft for the given recipients, or -1.
func DraftOf(m *Room, to []string) int {
	return slices.IndexFunc(m.Drafts, func(d DraftTo) bool { return sameNames(d.To, to) })
}

// ForgetDraft removes the draft for the given recipients.
func ForgetDraft(m *Room, to []string) {
	m.Drafts = slices.DeleteFunc(slices.Clone(m.Drafts), func(d DraftTo) bool {
		return sameNames(d.To, to)
	})
}

// ReplaceDraft replaces the draft for the recipients of d. It does not keep an empty draft.
func ReplaceDraft(m *Room, d DraftTo) {
	ForgetDraft(m, d.To)
	if strings.TrimSpace(d.Text+d.Subject) != "" {
		KeepDraft(m, d)
	}
}

func sameNames(a, b []string) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(name string) bool {
		return !slices.Contains(b, name)
	})
}

// Limits of the stored messages.
const (
	MaxSent     = 50
	MaxSentText = palette.MaxText
	MaxSentAll  = palette.MaxTextAll
)

// RememberSent stores a message that was sent.
func RememberSent(m *Room, text string) { m.Sent = palette.Remember(m.Sent, text, MaxSent) }

func setSent(m *Room, texts []string) {
	m.Sent = nil
	for _, text := range texts {
		RememberSent(m, widget.DropUntypable(text))
	}
}

// SendingText is a message that an action is sending. The action has one command or task per recipient, in the same
// order.
type SendingText struct {
	ID    int // of the action
	Draft DraftTo
	First int // index of the command or task for the first recipient
}

// ExpectDelivery records a message that the latest action is sending.
func ExpectDelivery(m *Room, d DraftTo, first int) {
	m.Sending = append(m.Sending, SendingText{ID: m.Status.ID, Draft: d, First: first})
}

// KeepUndelivered keeps messages as drafts for the recipients that did not receive them. If there is a newer draft for
// them, the message becomes an entry of the history.
func KeepUndelivered(m *Room, r *feed.Result) {
	var others []SendingText
	for _, s := range m.Sending {
		if s.ID != r.ID {
			others = append(others, s)
			continue
		}
		d := s.Draft
		d.To = nil
		for n, name := range s.Draft.To {
			// a text that could not be withdrawn stays with the city
			if slices.Contains(r.FailedIndexes, s.First+n) &&
				!slices.Contains(r.RejectedUnsends, s.First+n) {
				d.To = append(d.To, name)
			}
		}
		switch {
		case len(d.To) == 0:
		case DraftOf(m, d.To) < 0:
			KeepDraft(m, d)
		default:
			RememberSent(m, dialog.NewComposer(&Composer{}, d.Unsent).Text())
		}
	}
	m.Sending = others
}

// AsDraft returns a text as an unsent message.
func AsDraft(text string) Unsent {
	c := dialog.NewComposer(&Composer{}, Unsent{})
	c.Paste(text)
	return c.Unsent()
}

// KeepDraft stores a draft.
func KeepDraft(m *Room, d DraftTo) {
	m.Drafts = append(m.Drafts, d)
	m.Drafts = m.Drafts[max(0, len(m.Drafts)-maxDrafts):]
}
