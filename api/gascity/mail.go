package gascity

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"

	"gcity/api/openapi"
	"gcity/city"
	"gcity/mail"
)

func mailOperations() []Operation {
	return []Operation{
		{openapi.Get("/v0/mail/count", "The number of messages, to an address or in total",
			"index wait to agent rig", city.MailCount{}), countMail},
		{openapi.List("/v0/mail/thread/{message}", "The messages in a thread, oldest first",
			"index wait rig", mail.Message{}), thread},
		{openapi.Post("/v0/mail/{message}/mark-unread", "Mark a message as unread", nil,
			mail.Message{}), markUnread},
	}
}

// Mail returns the messages to the address in the query parameter "to" or "agent", or to all addresses if both are
// missing. Unless all is true, it returns only unread messages.
func Mail(ctx context.Context, c city.Control, v url.Values, all bool) ([]mail.Message, error) {
	if to := cmp.Or(v.Get("to"), v.Get("agent")); to != "" || v.Has("to") {
		return city.Mail(ctx, c, to, all)
	}
	query := mail.UnreadQuery("")
	if all {
		query = mail.Query("")
	}
	found, err := c.Beads(ctx, query)
	if err != nil {
		return nil, city.WorkError(err)
	}
	out := []mail.Message{}
	for _, b := range found {
		if m, ok := mail.FromBead(b); ok {
			out = append(out, m)
		}
	}
	return out, nil
}

func countMail(ctx context.Context, r *Request) (any, error) {
	found, err := Mail(ctx, r.City, r.Query, true)
	if err != nil {
		return nil, err
	}
	n := city.MailCount{Total: len(found)}
	for i := range found {
		if !found[i].Read {
			n.Unread++
		}
	}
	return n, nil
}

// thread accepts the ID of any message in the thread.
func thread(ctx context.Context, r *Request) (any, error) {
	first, _, err := city.GetMail(ctx, r.City, r.Target)
	if err != nil {
		return nil, err
	}
	id := cmp.Or(first.Thread, first.ID)
	if id != first.ID {
		if m, _, err := city.GetMail(ctx, r.City, id); err == nil {
			first = m
		}
	}
	found, err := r.City.Beads(ctx, mail.ThreadQuery(id))
	if err != nil {
		return nil, city.WorkError(err)
	}
	out := []mail.Message{first}
	for _, b := range found {
		if m, ok := mail.FromBead(b); ok && m.ID != first.ID {
			out = append(out, m)
		}
	}
	slices.SortStableFunc(out, func(a, b mail.Message) int {
		return cmp.Or(a.Sent.Compare(b.Sent), strings.Compare(a.ID, b.ID))
	})
	return ListOf(out), nil
}

func markUnread(ctx context.Context, r *Request) (any, error) {
	if err := r.checkNoBody(); err != nil {
		return nil, err
	}
	m, _, err := city.GetMail(ctx, r.City, r.Target)
	if err != nil || !m.Read {
		return m, err
	}
	if _, err := r.Do(ctx, city.UpdateBead{ID: m.ID, Patch: mail.UnreadPatch()}); err != nil {
		return nil, err
	}
	m.Read = false
	return m, nil
}

// Sling is the body of a request to assign work.
type Sling struct {
	city.SlingRequest
	Rig string `json:"rig"`
}

// In returns the request with its target resolved in the rig. Without a target, the rig is the target. A target outside
// the rig is not found.
func (s Sling) In(snap *city.Snapshot) (city.SlingRequest, error) {
	req := s.SlingRequest
	if s.Rig == "" {
		return req, nil
	}
	if err := checkRig(snap, s.Rig); err != nil {
		return req, err
	}
	if req.Target == "" || req.Target == s.Rig {
		req.Target = s.Rig
		return req, nil
	}
	to, err := snap.Address(req.Target)
	if err != nil || !strings.HasPrefix(strings.TrimPrefix(to, mail.PoolPrefix), s.Rig+"/") {
		name, forced := strings.CutPrefix(req.Target, mail.PoolPrefix)
		if to = s.Rig + "/" + name; forced {
			to = mail.PoolPrefix + to
		}
	}
	req.Target = to
	return req, nil
}

// Sent is the response to a request to send a message: the receipt and the message's ID.
type Sent struct {
	city.Receipt
	ID string `json:"id"`
}

// SentOf returns the response to a request to send a message.
func SentOf(r city.Receipt) Sent {
	out := Sent{Receipt: r}
	if r.Bead != nil {
		out.ID = r.Bead.ID
	}
	return out
}
