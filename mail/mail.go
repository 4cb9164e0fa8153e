// Package mail is what agents and people write to each other. A message is a bead of the type Type: kept where work
// is kept, found by the same queries, and no work. This package holds the form that it has there; who may be
// written to is said by package city.
package mail

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"gcity/beads"
	"gcity/internal/screen"
)

// Type is the type of a message's bead. Its title is the subject, its description the text, its assignee the
// address; it is open until it is archived.
const Type = "message"

// PoolPrefix begins the address of a pool, whose qualified name follows.
const PoolPrefix = "pool:"

// Person is the address of whoever runs the city, and the sender of what nobody else has sent.
const Person = "human"

// MaxText bounds the text of a message, in bytes.
const MaxText = 64 << 10

// What a message's bead has besides.
const (
	labelRead   = "read"
	labelTo     = "to:" // + a pool's address, while no member has taken the message
	labelThread = "thread:"

	keyFrom  = "from"
	keyReply = "reply_to"
	keyDepth = "depth"
)

// Message is one letter. JSON shape: the API's.
type Message struct {
	ID      string    `json:"id"`
	From    string    `json:"from"`
	To      string    `json:"to"` // an agent's qualified name, "pool:NAME", or the name of a person
	Subject string    `json:"subject"`
	Text    string    `json:"body"`
	Sent    time.Time `json:"created_at"`

	Read     bool `json:"read"`
	Archived bool `json:"archived,omitempty"`

	// the id of the message that began it; "" = this one began one, or none
	Thread  string `json:"thread_id,omitempty"`
	ReplyTo string `json:"reply_to,omitempty"` // the id of the message that it answers

	// how many runs of automations have led to it, by the events that they caused
	Depth int `json:"-"`
}

// Of reads a message from its bead; not ok for a bead that is none.
func Of(b beads.Bead) (m Message, ok bool) {
	if b.Type != Type {
		return Message{}, false
	}
	m = Message{
		ID: b.ID, From: cmp.Or(b.Metadata[keyFrom], Person), To: b.Assignee, Subject: b.Title,
		Text: b.Description, Sent: b.CreatedAt,
		Archived: b.Status == beads.StatusClosed, ReplyTo: b.Metadata[keyReply],
	}
	if n, err := strconv.Atoi(b.Metadata[keyDepth]); err == nil {
		m.Depth = n
	}
	for _, l := range b.Labels {
		if l == labelRead {
			m.Read = true
		}
		if to, is := strings.CutPrefix(l, labelTo); is && m.To == "" {
			m.To = to
		}
		if id, is := strings.CutPrefix(l, labelThread); is {
			m.Thread = id
		}
	}
	m.To = cmp.Or(m.To, Person)
	return m, true
}

// New is the bead of a message that is to be sent. Its texts are such that they show as they are (L12); ID, Sent,
// Read and Archived are left out. Check says whether it can be sent.
func New(m Message) beads.Bead {
	text := clean(m.Text)
	b := beads.Bead{
		Type: Type, Title: subject(m.Subject, text), Description: text,
		Metadata: map[string]string{keyFrom: cmp.Or(line(m.From), Person)},
	}
	if strings.HasPrefix(m.To, PoolPrefix) {
		b.Labels = append(b.Labels, labelTo+m.To)
	} else {
		b.Assignee = m.To
	}
	if m.Thread != "" {
		b.Labels = append(b.Labels, labelThread+m.Thread)
	}
	if m.ReplyTo != "" {
		b.Metadata[keyReply] = m.ReplyTo
	}
	if m.Depth > 0 {
		b.Metadata[keyDepth] = strconv.Itoa(m.Depth)
	}
	return b
}

// Check refuses what cannot be sent, in words for the sender.
func Check(m Message) error {
	switch {
	case strings.TrimSpace(m.Subject) == "" && strings.TrimSpace(m.Text) == "":
		return fmt.Errorf("the message is empty: it needs a subject or a text")
	case len(m.Text) > MaxText:
		return fmt.Errorf("the text has %d bytes, and %d is the most: put it in a file, and send "+
			"the file's name", len(m.Text), MaxText)
	case m.To != strings.TrimSpace(m.To) || m.To == "" || line(m.To) != m.To:
		return fmt.Errorf("%.60q is no address: it is the name of an agent, a pool or a person",
			m.To)
	}
	_, err := beads.Prepare(New(m), time.Unix(0, 0))
	return err
}

// Reply is the answer to a message: to whoever sent it, and to whom it went if that is the one who answers.
func Reply(to Message, from, text string) Message {
	whom := to.From
	if whom == cmp.Or(line(from), Person) {
		whom = to.To
	}
	s := to.Subject
	if !strings.HasPrefix(strings.ToLower(s), "re:") {
		s = "Re: " + s
	}
	return Message{From: from, To: whom, Subject: s, Text: text, Thread: cmp.Or(to.Thread, to.ID),
		ReplyTo: to.ID}
}

// Query is what waits at an address and is not archived, read or not, all of it; "" = at any.
func Query(to string) beads.Query {
	q := beads.Query{Type: Type, Status: []beads.Status{beads.StatusOpen, beads.StatusInProgress},
		Limit: -1}
	if strings.HasPrefix(to, PoolPrefix) {
		q.Labels = []string{labelTo + to}
	} else {
		q.Assignee = to
	}
	return q
}

// ThreadQuery is what was answered in a thread, archived or not; the message that began it is got by the id itself.
func ThreadQuery(id string) beads.Query {
	return beads.Query{Type: Type, Labels: []string{labelThread + id}, Limit: -1}
}

// ReadPatch marks a message as read.
func ReadPatch() beads.Patch { return beads.Patch{AddLabels: []string{labelRead}} }

// UnreadPatch takes the mark away.
func UnreadPatch() beads.Patch { return beads.Patch{RemoveLabels: []string{labelRead}} }

// ArchivePatch puts a message away. It is kept as closed work is.
func ArchivePatch() beads.Patch { return beads.Closing() }

// TakePatch makes a message to a pool that of one member, unless another was faster (ErrConflict).
func TakePatch(b beads.Bead, member string) beads.Patch {
	p := beads.Patch{Assignee: &member, IfRev: &b.Rev}
	for _, l := range b.Labels {
		if strings.HasPrefix(l, labelTo) {
			p.RemoveLabels = append(p.RemoveLabels, l)
		}
	}
	return p
}

// subject is a line for lists: the one given, else how the text begins.
func subject(given, text string) string {
	s := line(given)
	if s == "" {
		first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
		s = line(first)
	}
	return cut(s, beads.MaxTitle)
}

func line(s string) string {
	return strings.TrimSpace(screen.Plain(strings.Join(strings.Fields(s), " ")))
}

// clean is a text as it can be shown and kept, line by line. A line may be long: it is cleaned in pieces, since
// what shows lines would shorten it.
func clean(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, l := range lines {
		var b strings.Builder
		for len(l) > pieceMost {
			n := boundary(l, pieceMost)
			b.WriteString(screen.Plain(l[:n]))
			l = l[n:]
		}
		b.WriteString(screen.Plain(l))
		lines[i] = b.String()
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n ")
}

// pieceMost bounds what is cleaned at a time, in bytes: tabs and what does not show make it longer, and it has to
// stay a line.
const pieceMost = 400

// cut shortens a text to at most so many bytes, whole characters.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return s[:boundary(s, most-len("…"))] + "…"
}

// boundary is the end of the last whole character within so many bytes; where there is none, just so many.
func boundary(s string, most int) int {
	for n := most; n > most-utf8.UTFMax; n-- {
		if utf8.RuneStart(s[n]) {
			return n
		}
	}
	return most
}
