// Package mail defines messages between agents and users. A message is a bead of type Type. It is stored and
// queried like work, but does not count as work. This package defines how a message is stored in a bead. Package
// city decides which addresses are valid.
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

// Type is the type of a message's bead. The bead's title is the subject, its description the text, and its assignee the
// address. The bead is open until the message is archived.
const Type = "message"

// PoolPrefix precedes the qualified name of a pool in its address.
const PoolPrefix = "pool:"

// Person is the address of the city's user. It is also the sender of messages for which no sender is given.
const Person = "human"

// MaxText is the maximum size of a message's text, in bytes.
const MaxText = 64 << 10

// Labels and metadata keys of a message's bead.
const (
	labelRead   = "read"
	labelTo     = "to:" // followed by a pool's address, until a member has taken the message
	labelThread = "thread:"

	keyFrom  = "from"
	keyReply = "reply_to"
	keyDepth = "depth"
)

// Message is one message. Its JSON form is the form in the API.
type Message struct {
	ID      string    `json:"id"`
	From    string    `json:"from"`
	To      string    `json:"to"` // an agent's qualified name, "pool:NAME", or the name of a user
	Subject string    `json:"subject"`
	Text    string    `json:"body"`
	Sent    time.Time `json:"created_at"`

	Read     bool `json:"read"`
	Archived bool `json:"archived,omitempty"`

	// ID of the first message of the thread; "" = this message is the first one, or is not in a thread
	Thread  string `json:"thread_id,omitempty"`
	ReplyTo string `json:"reply_to,omitempty"` // the ID of the message that this message replies to

	// number of automation runs in the chain that led to the message; an event of each run triggered the next run
	Depth int `json:"-"`
}

// FromBead returns the message in a bead. ok is false if the bead is not a message.
func FromBead(b beads.Bead) (m Message, ok bool) {
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

// ToBead returns the bead for a message to send. It makes the subject and the text safe to print (L12), and ignores ID,
// Sent, Read and Archived. Call Check first, because ToBead does not validate the message.
func ToBead(m Message) beads.Bead {
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

// Check returns an error if a message cannot be sent.
func Check(m Message) error {
	switch {
	case strings.TrimSpace(m.Subject) == "" && strings.TrimSpace(m.Text) == "":
		return fmt.Errorf("the message is empty: it needs a subject or text")
	case len(m.Text) > MaxText:
		return fmt.Errorf("the text has %d bytes, but at most %d are allowed: save it to a "+
			"file and send the file's name", len(m.Text), MaxText)
	case m.To != strings.TrimSpace(m.To) || m.To == "" || line(m.To) != m.To:
		return fmt.Errorf("invalid address %.60q: use the name of an agent, a pool or a user",
			m.To)
	}
	_, err := beads.Prepare(ToBead(m), time.Unix(0, 0))
	return err
}

// Reply returns a reply to a message. The reply goes to the sender of the message, or to its recipient if the sender
// itself replies.
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

// Query returns the query for read and unread messages to an address, without archived ones. The address "" means all
// addresses.
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

// ThreadQuery returns the query for the replies in a thread, including archived ones. The query does not find the first
// message of the thread; its ID is the ID of the thread.
func ThreadQuery(id string) beads.Query {
	return beads.Query{Type: Type, Labels: []string{labelThread + id}, Limit: -1}
}

// ReadPatch marks a message as read.
func ReadPatch() beads.Patch { return beads.Patch{AddLabels: []string{labelRead}} }

// UnreadPatch marks a message as unread.
func UnreadPatch() beads.Patch { return beads.Patch{RemoveLabels: []string{labelRead}} }

// ArchivePatch archives a message. It closes the bead and does not delete it.
func ArchivePatch() beads.Patch { return beads.Closing() }

// TakePatch assigns a message that was sent to a pool to one of the pool's members. The change fails with ErrConflict
// if another member has already taken the message.
func TakePatch(b beads.Bead, member string) beads.Patch {
	p := beads.Patch{Assignee: &member, IfRev: &b.Rev}
	for _, l := range b.Labels {
		if strings.HasPrefix(l, labelTo) {
			p.RemoveLabels = append(p.RemoveLabels, l)
		}
	}
	return p
}

// subject returns the given subject, or the beginning of the text if no subject is given.
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

// clean returns the text in a form that is safe to print and store. It cleans each line separately, and splits long
// lines, because screen.Plain would shorten them.
func clean(text string) string {
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, l := range lines {
		var b strings.Builder
		for len(l) > maxPiece {
			n := boundary(l, maxPiece)
			b.WriteString(screen.Plain(l[:n]))
			l = l[n:]
		}
		b.WriteString(screen.Plain(l))
		lines[i] = b.String()
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n ")
}

// maxPiece is the maximum length of a piece in bytes. Escaped tabs and invisible characters lengthen a piece, but the
// result must stay below the limit of a line.
const maxPiece = 400

// cut shortens a string to a number of bytes, at a character boundary.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return s[:boundary(s, most-len("…"))] + "…"
}

// boundary returns the end of the last complete character within the first most bytes. If no character ends there, it
// returns most.
func boundary(s string, most int) int {
	for n := most; n > most-utf8.UTFMax; n-- {
		if utf8.RuneStart(s[n]) {
			return n
		}
	}
	return most
}
