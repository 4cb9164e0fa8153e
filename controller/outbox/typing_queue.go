package outbox

import (
	"slices"

	"gcity/city"
	"gcity/controller/effect"
)

const maxTyping = 32

type entry struct {
	id      uint64 // ID of the command; 0 = the reply was already sent
	cmd     city.Command
	message *Delivery
}

// Typing returns the number of entries that wait to be typed or are being typed.
func (b *Outbox) Typing() int { return len(b.queue) }

// Type queues a command that sends keys, interrupts the agent or clears its output.
func (tx *Messages) Type(id uint64, b *Outbox, cmd city.Command) {
	if len(b.queue) >= maxTyping {
		tx.out.Reject(id, city.Unavailable,
			"agent %s already has %d entries waiting to be typed; try again later",
			b.Agent, len(b.queue))
		return
	}
	tx.enqueue(b, entry{id: id, cmd: cmd})
}

func (tx *Messages) enqueue(b *Outbox, t entry) {
	b.queue = append(b.queue, t)
	if len(b.queue) == 1 {
		tx.beginTyping(b)
	}
}

func (tx *Messages) beginTyping(b *Outbox) {
	t, at := b.queue[0], tx.city.Terminal(b.Agent)
	if t.message == nil {
		tx.out.Do(effect.Type{Agent: b.Agent, Session: at.Session, Cmd: t.cmd})
		return
	}
	tx.out.Do(effect.Send{
		Agent: b.Agent, Session: at.Session, Life: at.Life, Provider: at.Provider,
		ID: t.message.ID, Text: t.message.Text, Polite: !t.message.Now, Prefix: at.Prefix,
		Dialogs: at.Dialogs,
	})
}

func (tx *Messages) typedNext(b *Outbox) (t entry, ok bool) {
	if b == nil || len(b.queue) == 0 {
		return t, false
	}
	t = b.queue[0]
	b.queue = slices.Delete(b.queue, 0, 1)
	if len(b.queue) > 0 {
		tx.beginTyping(b)
	}
	return t, true
}

// Typed handles the result of typing an entry that is not a nudge. b is nil if the agent was removed.
func (tx *Messages) Typed(b *Outbox, in effect.Typed) {
	t, ok := tx.typedNext(b)
	if !ok || t.id == 0 {
		return
	}
	if in.Err != nil {
		tx.out.Reject(t.id, codeOfInput(in.Err),
			"agent %s did not accept the input: %v", b.Agent, in.Err)
		return
	}
	switch t.cmd.(type) {
	case city.SendKeys:
		tx.out.Reply(t.id, "agent %s accepted the keys", b.Agent)
	case city.Clear:
		tx.out.Reply(t.id, "the saved output of agent %s was cleared", b.Agent)
	default:
		tx.out.Reply(t.id, "agent %s was interrupted", b.Agent)
	}
}

// Reject rejects the commands of all entries. The first entry stays in the queue, because it is in flight (L1).
func (tx *Messages) Reject(b *Outbox, code city.Code, msg string) {
	for i := range b.queue {
		if t := &b.queue[i]; t.id != 0 {
			tx.out.Reject(t.id, code, "%s", msg)
			t.id = 0
		}
	}
	b.queue = b.queue[:min(1, len(b.queue))]
}
