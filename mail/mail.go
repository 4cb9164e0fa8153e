// Package mail defines messages between agents and users. A message is a bead of type Type, which does not count as
// work. Package city decides which addresses are valid.
package mail

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"gcity/beads"
	"gcity/internal/screen"
)

// Type is the type of a bead that is a message. Its title is the subject, its description the text, and its assignee
// the recipient. If the recipient is a pool, a label contains the address instead. The bead stays open until the
// message is archived.
const Type = "message"

// PoolPrefix is the beginning of a pool's address. The pool's qualified name follows.
const PoolPrefix = "pool:"

// Person is the address of the city's user, and the default sender.
const Person = "human"

// MaxText is the maximum size of a message's text in bytes.
const MaxText = 64 << 10

// Labels and metadata keys of a bead that is a message.
const (
	labelRead   = "read"
	labelTo     = "to:" // followed by a pool's address
	labelThread = "thread:"

	keyFrom  = "from"
	keyReply = "reply_to"
	keyDepth = "depth"
	keyPool  = "taken_from" // the pool's address, if a member has taken the message
)

// Message is one message. The API uses its JSON form.
type Message struct {
	ID      string    `json:"id"`
	From    string    `json:"from"`
	To      string    `json:"to"` // an agent's qualified name, "pool:NAME", or a user's name
	Subject string    `json:"subject"`
	Text    string    `json:"body"`
	Sent    time.Time `json:"created_at"`

	Read     bool `json:"read"`
	Archived bool `json:"archived,omitempty"`

	// ID of the thread's first message; "" = this is the first message, or the message is not part of a thread
	Thread  string `json:"thread_id,omitempty"`
	ReplyTo string `json:"reply_to,omitempty"` // ID of the message that this one replies to

	// address of the pool that the message was sent to, if a member has taken it; "" = it was not
	TakenFrom string `json:"-"`

	// number of automation runs in the chain that led to this message
	Depth int `json:"-"`
}

// OfPool reports whether the message was sent to a pool, even if a member has taken it.
func (m Message) OfPool() bool { return m.TakenFrom != "" || strings.HasPrefix(m.To, PoolPrefix) }

// FromBead returns the message that a bead represents. ok is false if the bead is not a message.
func FromBead(b beads.Bead) (m Message, ok bool) {
	if b.Type != Type {
		return Message{}, false
	}
	m = Message{
		ID: b.ID, From: cmp.Or(b.Metadata[keyFrom], Person), To: b.Assignee, Subject: b.Title,
		Text: b.Description, Sent: b.CreatedAt,
		Archived: b.Status == beads.StatusClosed, ReplyTo: b.Metadata[keyReply],
		TakenFrom: b.Metadata[keyPool],
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

// ToBead returns the bead for a message to send. It makes the subject and the text safe to print (L12). If the title
// cannot contain the complete subject, the text begins with it. ToBead ignores ID, Sent, Read and Archived. Call Check
// first.
func ToBead(m Message) beads.Bead {
	text := clean(m.Text)
	b := beads.Bead{
		Type: Type, Title: subject(m.Subject, text), Description: withSubject(m.Subject, text),
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

// WithSender returns a message's bead with a different sender.
func WithSender(b beads.Bead, from string) beads.Bead {
	metadata := map[string]string{}
	maps.Copy(metadata, b.Metadata)
	metadata[keyFrom] = from
	b.Metadata = metadata
	return b
}

// Check returns an error if a message cannot be sent.
func Check(m Message) error {
	switch {
	case strings.TrimSpace(m.Subject) == "" && strings.TrimSpace(m.Text) == "":
		return fmt.Errorf("the message is empty: add a subject or a body")
	case len(m.Text) > MaxText:
		return fmt.Errorf("the text is too long (%d bytes; the maximum is %d): save it to a "+
			"file and send the file's name", len(m.Text), MaxText)
	case m.To != strings.TrimSpace(m.To) || m.To == "" || line(m.To) != m.To:
		return fmt.Errorf("invalid address %.60q: use the name of an agent, a pool or a user",
			m.To)
	}
	_, err := beads.Prepare(ToBead(m), time.Unix(0, 0))
	return err
}

// Reply returns a reply to a message's sender. If the sender is replying, the reply goes to the message's recipient.
func Reply(to Message, from, text string) Message {
	whom := to.From
	if whom == cmp.Or(line(from), Person) {
		whom = to.To
	}
	s := to.Subject
	if !strings.HasPrefix(strings.ToLower(s), "re:") {
		s = cut("Re: "+s, beads.MaxTitle)
	}
	return Message{From: from, To: whom, Subject: s, Text: text, Thread: cmp.Or(to.Thread, to.ID),
		ReplyTo: to.ID}
}

// Query returns the query for the unarchived messages to an address. The address "" means all addresses.
func Query(to string) beads.Query {
	q := beads.Query{Type: Type, Status: beads.Unclosed(),
		Limit: -1}
	if strings.HasPrefix(to, PoolPrefix) {
		q.Labels = []string{labelTo + to}
	} else {
		q.Assignee = to
	}
	return q
}

// UnreadQuery is like Query, but for the unread messages.
func UnreadQuery(to string) beads.Query {
	q := Query(to)
	q.NotLabel = labelRead
	return q
}

// ThreadQuery returns the query for the replies in a thread, including archived ones. It does not match the first
// message.
func ThreadQuery(id string) beads.Query {
	return beads.Query{Type: Type, Labels: []string{labelThread + id}, Limit: -1}
}

// Answered reports whether a thread contains a reply to the message from anyone but its sender. The reply can name
// another sender than the agent that took the message.
func (m Message) Answered(thread []beads.Bead) bool {
	return slices.ContainsFunc(thread, func(b beads.Bead) bool {
		r, ok := FromBead(b)
		return ok && r.ReplyTo == m.ID && r.From != m.From
	})
}

// ReadPatch marks a message as read.
func ReadPatch() beads.Patch { return beads.Patch{AddLabels: []string{labelRead}} }

// UnreadPatch marks a message as unread.
func UnreadPatch() beads.Patch { return beads.Patch{RemoveLabels: []string{labelRead}} }

// ArchivePatch archives a message by closing its bead.
func ArchivePatch() beads.Patch { return beads.Closing() }

// TakePatch assigns a pool's message to a member. Applying it fails with ErrConflict if the message has changed since b
// was read, for example because another member has taken it.
func TakePatch(b beads.Bead, member string) beads.Patch {
	p := beads.Patch{Assignee: &member, IfRev: &b.Rev}
	for _, l := range b.Labels {
		if to, is := strings.CutPrefix(l, labelTo); is {
			p.RemoveLabels = append(p.RemoveLabels, l)
			p.SetMetadata = map[string]string{keyPool: to}
		}
	}
	return p
}

// PoolPatch readdresses an agent's message to the agent's pool, as an unread message.
func PoolPatch(pool string) beads.Patch {
	return beads.Patch{Assignee: new(""), AddLabels: []string{labelTo + PoolPrefix + pool},
		RemoveLabels: []string{labelRead}, SetMetadata: map[string]string{keyPool: ""}}
}

func subject(given, text string) string {
	s := line(given)
	if s == "" {
		first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
		s = line(first)
	}
	return cut(s, beads.MaxTitle)
}

func withSubject(given, text string) string {
	full := clean(strings.TrimSpace(given))
	if len(line(full)) <= beads.MaxTitle {
		return text
	}
	return strings.TrimRight(full+"\n\n"+text, "\n")
}

func line(s string) string {
	return strings.TrimSpace(screen.Plain(strings.Join(strings.Fields(s), " ")))
}

// clean makes a text safe to print. It passes long lines to screen.Plain in pieces, because screen.Plain would shorten
// them.
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

// maxPiece is the maximum size of a piece in bytes.
const maxPiece = 400

func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	return s[:boundary(s, limit-len("…"))] + "…"
}

func boundary(s string, limit int) int {
	for n := limit; n > limit-utf8.UTFMax; n-- {
		if utf8.RuneStart(s[n]) {
			return n
		}
	}
	return limit
}
