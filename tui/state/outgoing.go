package state

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gcity/city"
	"gcity/themes"
	"gcity/tui/details"
	"gcity/tui/feed"
	"gcity/tui/widget"
)

type followedText struct {
	feed.SentText
	action    int
	life      time.Time // start time of the controller that queued it
	seen      bool
	missing   bool
	unsending unsending
}

// unsending is the command with which the user withdraws a message. The zero value means that there is none.
type unsending struct{ action, index int }

// sendShown is how long a snapshot lists a message after it has left the queue.
const sendShown = time.Minute

// maxFollowed is the maximum total size of the followed messages, in bytes.
const maxFollowed = 4 << 20

// FollowTexts starts to follow messages that were just sent.
func FollowTexts(m *Room, r feed.Result) {
	if m.Snap == nil {
		return
	}
	for _, l := range r.Sent {
		m.Following = append(m.Following, &followedText{SentText: l, action: r.ID,
			life: m.Snap.Started})
	}
	size, from := 0, len(m.Following)
	for from > 0 && size+len(m.Following[from-1].Text) <= maxFollowed {
		from--
		size += len(m.Following[from].Text)
	}
	m.Following = m.Following[min(from, len(m.Following)-len(r.Sent)):]
	m.followed = r.ID
	showFollowed(m)
	updateFollowed(m)
}

// FullText returns the full text of a queued message, or false if only its beginning is known.
func FullText(m *Room, agent string, s *city.Send) (string, bool) {
	if s.Lines <= 1 && s.Bytes == len(s.Text) {
		return s.Text, true
	}
	for _, l := range m.Following {
		if l.Agent == agent && l.Send.ID == s.ID {
			return l.Text, true
		}
	}
	return "", false
}

// ExpectUnsent marks messages that the latest action withdraws, so that their removal is not reported as a failure.
func ExpectUnsent(m *Room, commands []city.Command) {
	for index, c := range commands {
		for _, l := range m.Following {
			if u, ok := c.(city.Unsend); ok && u.Agent == l.Agent && u.ID == l.Send.ID &&
				l.unsending == (unsending{}) {
				l.unsending = unsending{m.Status.ID, index}
			}
		}
	}
}

// ReceiveUnsent unmarks the messages that could not be withdrawn.
func ReceiveUnsent(m *Room, r *feed.Result) {
	for _, l := range m.Following {
		if l.unsending.action == r.ID && slices.Contains(r.RejectedUnsends, l.unsending.index) {
			l.unsending = unsending{}
			reportLoss(m, l)
		}
	}
}

// reportLoss reports that a message was not delivered, unless the user is withdrawing it. It keeps a text that is too
// long for the history of sent messages.
func reportLoss(m *Room, l *followedText) {
	if !l.isLost() {
		return
	}
	if l.Send.Stage == city.GivenUp {
		ShowFailure(m, widget.Plain(l.Agent)+": "+l.stateText())
	}
	if to := []string{l.Agent}; len(l.Text) > MaxSentText && DraftOf(m, to) < 0 {
		KeepDraft(m, DraftTo{To: to, Unsent: AsDraft(l.Text)})
	}
}

// isLost reports whether the message was not or might not have been delivered. A message that the user is withdrawing
// is not lost.
func (l *followedText) isLost() bool {
	return l.unsending == (unsending{}) && (l.Send.Stage == city.GivenUp || l.isUnknown())
}

// isUnknown reports whether the message left the snapshots before the room has seen how it ended.
func (l *followedText) isUnknown() bool { return l.missing && !l.Send.Stage.Over() }

func updateFollowed(m *Room) {
	if len(m.Following) == 0 || m.Snap == nil {
		return
	}
	changed := false
	for _, l := range m.Following {
		if !l.update(m.Snap) {
			continue
		}
		changed = changed || l.action == m.followed && l.unsending == (unsending{})
		reportLoss(m, l)
	}
	if changed {
		showFollowed(m)
	}
	m.Following = slices.DeleteFunc(m.Following, func(l *followedText) bool { return l.missing })
}

// update applies a snapshot. It reports whether the message's state has changed.
func (l *followedText) update(s *city.Snapshot) bool {
	a, ok := s.Agent(l.Agent)
	if ok = ok && s.Started.Equal(l.life); ok { // IDs from a different controller are unrelated
		for _, now := range a.Sends {
			if now.ID != l.Send.ID || now.Since.Before(l.Send.Since) {
				continue
			}
			changed := now.Stage != l.Send.Stage || now.Why != l.Send.Why
			l.Send, l.seen = now, true
			return changed
		}
	}
	// the message might have left the snapshots before the room has seen it
	l.missing = l.seen || !ok || s.At.Sub(l.Send.Since) > sendShown
	return l.isUnknown()
}

func (l *followedText) stateText() string {
	agent := widget.Plain(l.Agent)
	text := agent + ": " + widget.Plain(l.Send.Stage.Text())
	switch {
	case l.isUnknown() && l.unsending == (unsending{}):
		return agent + ": it is unknown whether the nudge was typed; see the events"
	case l.isUnknown():
		return agent + ": the nudge is no longer queued"
	case l.Send.Stage == city.Submitted:
		text = "sent to " + agent
	case l.Send.Stage == city.Acknowledged:
		text = "sent to " + agent + "; it has printed output since"
	}
	if l.Send.Why != "" {
		text += ": " + widget.Plain(l.Send.Why)
	}
	return text
}

func countedStage(s city.Stage) string {
	switch s {
	case city.Submitted:
		return "sent"
	case city.Acknowledged:
		return "sent and followed by output"
	}
	return s.Text()
}

func showFollowed(m *Room) {
	var all []*followedText
	var each []string
	token := themes.Good
	waits := false
	for _, l := range m.Following {
		if l.action != m.followed {
			continue
		}
		all = append(all, l)
		each = append(each, widget.FirstItem(l.stateText()))
		switch {
		case l.isLost() && token == themes.Good:
			token = themes.Warn
		case !l.Send.Stage.Over() && !l.missing:
			token = themes.Busy
			waits = waits || l.Send.Stage == city.Queued
		}
	}
	text := stagesText(all)
	if k := m.Keys.MainKey(UnsendID); waits && k != "" {
		text += " (" + k + " cancels it)"
	}
	if text = widget.FirstItem(text); len(all) < 2 {
		each = nil
	}
	Record(m, details.Message{ID: m.followed, Text: text, Token: token, Each: each})
	if s := &m.Status; s.ID == m.followed || !s.Failed && !s.Pending &&
		m.Now.Sub(s.Since) > StatusDuration {
		m.Status = Status{ID: m.followed, Text: text, Token: token, Since: m.Now}
	}
}

func stagesText(all []*followedText) string {
	if len(all) == 1 {
		return all[0].stateText()
	}
	var parts []string
	for _, stage := range []city.Stage{city.Acknowledged, city.Submitted, city.Typing, city.Queued,
		city.GivenUp} {
		n, why := 0, ""
		for _, l := range all {
			if l.Send.Stage != stage || l.isUnknown() {
				continue
			}
			if n++; why == "" {
				why = widget.Plain(l.Send.Why)
			}
		}
		if n == 0 {
			continue
		}
		part := fmt.Sprintf("%d %s", n, countedStage(stage))
		if why != "" {
			part += ": " + why
		}
		parts = append(parts, part)
	}
	unknown := 0
	for _, l := range all {
		if l.isUnknown() {
			unknown++
		}
	}
	if unknown > 0 {
		parts = append(parts, fmt.Sprintf("%d unknown: see the events", unknown))
	}
	return strings.Join(parts, ", ")
}
